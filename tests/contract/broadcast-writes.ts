/** Writes of administrators on broadcasts. */
import { type AdminWrite, type Fixture, made } from './admin-write-samples.ts';

const BROADCASTS = '/broadcasts';
const body = { target: 'all', message_text: 'Maintenance tonight' };
const madeBroadcast = (fixture: Fixture) => made(fixture, `/cabinet/admin${BROADCASTS}`, body);

/** A request on a broadcast that nobody sends yet. @param earlier what happened to it before */
const onBroadcast = (action: string, earlier?: string): AdminWrite => ({
  kind: 'change',
  request: async (fixture) => {
    const path = `${BROADCASTS}/${await madeBroadcast(fixture)}`;
    if (earlier) await fixture.boss.post(`/cabinet/admin${path}/${earlier}`);
    return { path: `${path}/${action}` };
  },
});

export const BROADCAST_WRITES: Record<string, AdminWrite> = {
  'POST /broadcasts': { kind: 'creation', request: async () => ({ path: BROADCASTS, body }) },
  'POST /broadcasts/send': {
    kind: 'creation',
    request: async () => ({ path: `${BROADCASTS}/send`, body: { channel: 'messenger', ...body } }),
  },
  'POST /broadcasts/{broadcast_id}/stop': onBroadcast('stop'),
  'POST /broadcasts/{broadcast_id}/pause': onBroadcast('pause'),
  'POST /broadcasts/{broadcast_id}/resume': onBroadcast('resume', 'pause'),
};
