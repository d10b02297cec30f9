/** Writes of administrators on required channels. */
import { unique } from '../support/builders.ts';
import { ADMIN, type AdminWrite, type Fixture, made } from './admin-write-samples.ts';

const PATH = '/channel-subscriptions';
const aBody = () => ({ channel_id: String(unique()).padStart(10, '3') });
const aChannel = (fixture: Fixture) => made(fixture, `${ADMIN}${PATH}`, aBody());

export const CHANNEL_WRITES: Record<string, AdminWrite> = {
  [`POST ${PATH}`]: { kind: 'creation', request: async () => ({ path: PATH, body: aBody() }) },
  [`PATCH ${PATH}/{channel_db_id}`]: {
    kind: 'change',
    request: async (fixture) => ({ path: `${PATH}/${await aChannel(fixture)}`, body: { title: 'News' } }),
  },
  [`DELETE ${PATH}/{channel_db_id}`]: {
    kind: 'deletion',
    request: async (fixture) => ({ path: `${PATH}/${await aChannel(fixture)}` }),
  },
  [`POST ${PATH}/{channel_db_id}/toggle`]: {
    kind: 'change',
    request: async (fixture) => ({ path: `${PATH}/${await aChannel(fixture)}/toggle` }),
  },
};
