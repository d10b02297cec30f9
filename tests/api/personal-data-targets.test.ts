import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { advanceErasure, eraseNow } from '../../src/domain/personal-data/erase-person.ts';
import { type ActorClient, adminClient } from '../support/actors.ts';
import { testServer } from '../support/api.ts';
import { aUser, unique } from '../support/builders.ts';
import { rowOf } from '../support/sale-samples.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

const BASE = '/cabinet/admin/personal-data';
const LISTED = 4_980_000_000 + (process.pid % 1_000);

let t: TestApp;
let server: FastifyInstance;
let admin: ActorClient;
let targets: Record<string, number>;

beforeAll(async () => {
  t = await testApp({ environment: { ADMIN_IDS: String(LISTED) } });
  server = await testServer(t.app);
  admin = await adminClient(t.app, server, ['personal_data:*'], 50);
  const peer = await adminClient(t.app, server, ['tickets:read'], 50);
  const { id: listed } = await aUser(t.app);
  await t.app.db.sql('UPDATE users SET messenger_id = $2::bigint WHERE id = $1::int', [listed, LISTED]);
  const { id: erased } = await aUser(t.app);
  const { id } = await eraseNow(t.app, { kind: 'system', name: 'test' }, erased, {
    forfeitsBalance: false,
    endsSubscription: false,
  });
  await advanceErasure(t.app, id);
  targets = {
    'of the administrator': admin.user.id,
    'of a peer': peer.user.id,
    'of a listed administrator': listed,
    'of an erased user': erased,
  };
});
afterAll(() => server.close());

/** An archive of this user, whoever may have it. */
async function anArchiveOf(userId: number): Promise<number> {
  const { id } = await rowOf<{ id: number }>(
    t.app,
    // Raw SQL: an archive without its parts, also of an account that nobody may export.
    `INSERT INTO data_requests (user_id, kind, state, requested_by, fingerprint, run, size_bytes, created_at, finished_at, expires_at)
     VALUES ($1::int, 'export', 'ready', $2, repeat('0', 64), 1, 10, now(), now(), now() + interval '3 days') RETURNING id`,
    [userId, `user:${unique()}`],
  );
  return id;
}

const REFUSED: Record<string, { status: number; body: object }> = {
  'of the administrator': { status: 403, body: { detail: expect.stringContaining('your own account') } },
  'of a peer': { status: 403, body: { detail: 'Cannot act on a user at or above your own level' } },
  'of a listed administrator': { status: 403, body: { detail: 'Cannot act on a configured administrator' } },
  'of an erased user': { status: 404, body: { detail: 'User not found' } },
};

it.each(Object.keys(REFUSED))('an archive, its link and the erasure are refused: that %s', async (whose) => {
  const userId = targets[whose]!;
  expect(await admin.post(`${BASE}/users/${userId}/export`)).toMatchObject(REFUSED[whose]!);
  expect(await admin.post(`${BASE}/users/${userId}/erase`, { confirmation: 'ERASE' })).toMatchObject(REFUSED[whose]!);
  expect(await admin.post(`${BASE}/requests/${await anArchiveOf(userId)}/link`)).toMatchObject(REFUSED[whose]!);
});
