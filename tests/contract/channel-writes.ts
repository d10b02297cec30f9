/** Writes of administrators on required channels. */
import { unique } from '../support/builders.ts';
import { ADMIN, type AdminWrite, made, type Stage } from './admin-write-samples.ts';

const PATH = '/channel-subscriptions';
const aBody = () => ({ channel_id: String(unique()).padStart(10, '3') });
const aChannel = (stage: Stage) => made(stage, `${ADMIN}${PATH}`, aBody());

export const CHANNEL_WRITES: Record<string, AdminWrite> = {
  [`POST ${PATH}`]: { kind: 'creation', request: async () => ({ path: PATH, body: aBody() }) },
  [`PATCH ${PATH}/{channel_db_id}`]: {
    kind: 'change',
    request: async (stage) => ({ path: `${PATH}/${await aChannel(stage)}`, body: { title: 'News' } }),
  },
  [`DELETE ${PATH}/{channel_db_id}`]: {
    kind: 'deletion',
    request: async (stage) => ({ path: `${PATH}/${await aChannel(stage)}` }),
  },
  [`POST ${PATH}/{channel_db_id}/toggle`]: {
    kind: 'change',
    request: async (stage) => ({ path: `${PATH}/${await aChannel(stage)}/toggle` }),
  },
};
