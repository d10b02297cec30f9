/** Writes of administrators on the data of a person. */
import { aUser } from '../support/builders.ts';
import { rowOf } from '../support/sale-samples.ts';
import type { AdminWrite } from './admin-write-samples.ts';

const BASE = '/personal-data';

export const PERSONAL_DATA_WRITES: Record<string, AdminWrite> = {
  [`POST ${BASE}/users/{user_id}/export`]: {
    kind: 'creation',
    request: async ({ app }) => ({ path: `${BASE}/users/${(await aUser(app)).id}/export` }),
  },
  [`POST ${BASE}/users/{user_id}/erase`]: {
    kind: 'deletion',
    request: async ({ app }) => ({ path: `${BASE}/users/${(await aUser(app)).id}/erase`, body: { confirmation: 'ERASE' } }),
  },
  [`POST ${BASE}/requests/{request_id}/link`]: {
    kind: 'summary',
    request: async ({ app }) => {
      const { id } = await rowOf<{ id: number }>(
        app,
        // Raw SQL: an archive without its parts, which only a download reads.
        `INSERT INTO data_requests (user_id, kind, state, requested_by, fingerprint, run, size_bytes, created_at, finished_at, expires_at)
         VALUES ($1::int, 'export', 'ready', 'admin:1', repeat('0', 64), 1, 10, now(), now(), now() + interval '3 days') RETURNING id`,
        [(await aUser(app)).id],
      );
      return { path: `${BASE}/requests/${id}/link` };
    },
  },
};
