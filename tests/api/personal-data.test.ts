import { gunzipSync } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { DAY_MS, MINUTE_MS } from '../../src/core/clock.ts';
import { sweepRequests } from '../../src/domain/personal-data/jobs.ts';
import { writeArchive } from '../../src/domain/personal-data/write-archive.ts';
import { type ActorClient, adminClient, userClient } from '../support/actors.ts';
import { clientOf, testServer } from '../support/api.ts';
import { unique } from '../support/builders.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

const BASE = '/cabinet/personal-data';

let t: TestApp;
let server: FastifyInstance;
let person: ActorClient;

beforeAll(async () => {
  t = await testApp({ environment: { PERSONAL_DATA_SELF_SERVICE: 'export' } });
  server = await testServer(t.app);
});
afterAll(() => server.close());
beforeEach(async () => {
  person = await userClient(t.app, server, { email: `person${unique()}@example.com` });
});

const write = (requestId: number) => writeArchive(t.app, requestId, false, new AbortController().signal);

async function aReadyArchive(owner = person): Promise<number> {
  const asked = await owner.post(`${BASE}/exports`);
  expect(asked).toMatchObject({
    status: 200,
    body: { kind: 'export', state: 'requested', user_id: owner.user.id, size_bytes: null },
  });
  await write(asked.body.id);
  return asked.body.id;
}

async function pathOfArchive(requestId: number): Promise<string> {
  const link = await person.post(`${BASE}/exports/${requestId}/link`);
  expect(link.status).toBe(200);
  return new URL(link.body.url).pathname;
}

describe('an archive of the own data', () => {
  it('is written by a job and loaded by a link that needs no credential', async () => {
    const id = await aReadyArchive();
    const state = await person.get(BASE);
    expect(state.body).toMatchObject({ self_service: 'export', export: { id, state: 'ready' }, erasure: null, obligations: [] });
    const loaded = await clientOf(server).get(await pathOfArchive(id));
    expect(loaded.status).toBe(200);
    expect(loaded.headers).toMatchObject({
      'content-type': 'application/gzip',
      'content-length': String(state.body.export.size_bytes),
      'cache-control': 'private, no-store',
    });
    const text = gunzipSync(loaded.bytes).toString();
    expect(text).toContain(`"messenger_id":${person.user.messengerId}`);
    expect(text).toContain('contents.json');
    expect(text).not.toContain('password_hash');
    const jobs = await t.app.db.sql(
      "SELECT 1 AS job FROM jobs.job WHERE name = 'messenger.send' AND data ->> 'messengerId' = $1",
      [String(person.user.messengerId)],
    );
    expect(jobs).toHaveLength(1);
  });

  it('is requested once a day, and a repeat while it is written answers the same', async () => {
    const first = await person.post(`${BASE}/exports`);
    expect((await person.post(`${BASE}/exports`)).body.id).toBe(first.body.id);
    await write(first.body.id);
    expect((await person.post(`${BASE}/exports`)).status).toBe(429);
  });

  it('has no link before it is ready, and none after it was deleted', async () => {
    const asked = await person.post(`${BASE}/exports`);
    const link = () => person.post(`${BASE}/exports/${asked.body.id}/link`);
    expect(await link()).toMatchObject({ status: 409, body: { detail: 'The archive is not ready, or has been deleted' } });
    await write(asked.body.id);
    const path = await pathOfArchive(asked.body.id);
    t.clock.advance(3 * DAY_MS);
    await sweepRequests(t.app);
    expect((await clientOf(server).get(path)).status).toBe(404);
    expect(await t.app.db.sql('SELECT part FROM data_archive_parts WHERE request_id = $1::int', [asked.body.id])).toEqual([]);
    const fresh = await userClient(t.app, server);
    expect((await fresh.post(`${BASE}/exports/${asked.body.id}/link`)).status).toBe(404);
  });

  it('is loaded for 15 minutes, and by an unchanged link only', async () => {
    const id = await aReadyArchive();
    const path = await pathOfArchive(id);
    const [, end, signature] = path.split('/').at(-1)!.split('.') as [string, string, string];
    const other = await userClient(t.app, server);
    const foreign = await aReadyArchive(other);
    const later = (Number.parseInt(end, 36) + DAY_MS).toString(36);
    const changed = [
      `${foreign}.${end}.${signature}`,
      `${id}.${later}.${signature}`,
      `${id}.${end}.${'A'.repeat(43)}`,
      '2147483648.1.x',
      `2147483648.${end}.${signature}`,
      `9999999999.${end}.${signature}`,
      'x',
    ];
    for (const link of changed) expect((await clientOf(server).get(`${BASE}/archive/${link}`)).status, link).toBe(404);
    expect((await clientOf(server).get(path)).status).toBe(200);
    t.clock.advance(15 * MINUTE_MS);
    expect(await clientOf(server).get(path)).toMatchObject({
      status: 404,
      body: { detail: 'Archive not found, or its link has expired' },
    });
  });

  it('is gone with the account, also by a link of before', async () => {
    const id = await aReadyArchive();
    const path = await pathOfArchive(id);
    const boss = await adminClient(t.app, server, ['personal_data:*'], 900);
    const erased = await boss.post(`/cabinet/admin/personal-data/users/${person.user.id}/erase`, { confirmation: 'ERASE' });
    expect([erased.status, erased.text]).toEqual([200, expect.any(String)]);
    for (const method of ['GET', 'HEAD'] as const)
      expect((await server.inject({ method, url: path })).statusCode, method).toBe(404);
  });

  it('is sent whole whatever range is asked for, and its length alone to HEAD', async () => {
    const path = await pathOfArchive(await aReadyArchive());
    const whole = await server.inject({ method: 'GET', url: path });
    const part = await server.inject({ method: 'GET', url: path, headers: { range: 'bytes=0-9' } });
    expect([part.statusCode, part.rawPayload.length]).toEqual([200, whole.rawPayload.length]);
    const head = await server.inject({ method: 'HEAD', url: path });
    expect([head.statusCode, head.rawPayload.length]).toEqual([200, 0]);
  });

  it('is refused to a session that cannot prove who it is, and to everybody else', async () => {
    const id = await aReadyArchive();
    const thief = await userClient(t.app, server);
    expect(await thief.post(`${BASE}/exports/${id}/link`)).toMatchObject({ status: 404, body: { detail: 'Request not found' } });
    t.clock.advance(11 * MINUTE_MS);
    const refused = { status: 403, body: { detail: { code: 'fresh_sign_in_required', methods: ['messenger'] } } };
    expect(await person.post(`${BASE}/exports/${id}/link`)).toMatchObject(refused);
    expect(await person.post(`${BASE}/exports`)).toMatchObject(refused);
  });

  it('is refused while the operator does not allow it', async () => {
    const off = await testApp();
    const closed = await testServer(off.app);
    const user = await userClient(off.app, closed);
    const refused = { status: 403, body: { detail: 'The operator does not let users do this themselves' } };
    expect(await user.post(`${BASE}/exports`)).toMatchObject(refused);
    expect(await user.post(`${BASE}/erasure`, { confirmation: 'ERASE' })).toMatchObject(refused);
    expect(await person.post(`${BASE}/erasure`, { confirmation: 'ERASE' })).toMatchObject(refused);
    await closed.close();
  });
});

describe('an archive for an administrator', () => {
  const ADMIN = '/cabinet/admin/personal-data';

  it('is requested, listed, read and loaded', async () => {
    const admin = await adminClient(t.app, server, ['personal_data:*'], 900);
    const asked = await admin.post(`${ADMIN}/users/${person.user.id}/export`);
    const facts = { kind: 'export', state: 'requested', user_id: person.user.id, requested_by: `admin:${admin.user.id}` };
    expect(asked).toMatchObject({ status: 200, body: facts });
    expect((await admin.post(`${ADMIN}/users/${person.user.id}/export`)).body.id).toBe(asked.body.id);
    expect((await admin.post(`${ADMIN}/requests/${asked.body.id}/link`)).status).toBe(409);
    await write(asked.body.id);
    const list = await admin.get(`${ADMIN}/requests?user_id=${person.user.id}`);
    expect(list.body).toMatchObject({ total: 1, items: [{ id: asked.body.id, state: 'ready' }] });
    expect((await admin.get(`${ADMIN}/requests/${asked.body.id}`)).body).toMatchObject({ state: 'ready' });
    const link = await admin.post(`${ADMIN}/requests/${asked.body.id}/link`);
    expect((await clientOf(server).get(new URL(link.body.url).pathname)).status).toBe(200);
    for (const id of [0, 2_147_483_647, 2_147_483_648]) {
      expect((await admin.get(`${ADMIN}/requests/${id}`)).status).toBe(404);
      expect((await admin.post(`${ADMIN}/requests/${id}/link`)).status).toBe(404);
    }
    expect((await admin.post(`${ADMIN}/users/2147483647/export`)).status).toBe(404);
    expect((await admin.get(`${ADMIN}/requests?user_id=2147483648`)).body).toEqual({ items: [], total: 0 });
  });

  it('needs the permission, and another rank than that of the person', async () => {
    const reader = await adminClient(t.app, server, ['personal_data:read'], 900);
    expect((await reader.get(`${ADMIN}/requests`)).status).toBe(200);
    expect((await reader.post(`${ADMIN}/users/${person.user.id}/export`)).status).toBe(403);
    const low = await adminClient(t.app, server, ['personal_data:*'], 20);
    const boss = await adminClient(t.app, server, ['*:*'], 900);
    expect(await low.post(`${ADMIN}/users/${boss.user.id}/export`)).toMatchObject({
      status: 403,
      body: { detail: expect.stringContaining('level') },
    });
    const asked = await boss.post(`${ADMIN}/users/${low.user.id}/export`);
    await write(asked.body.id);
    expect((await low.post(`${ADMIN}/requests/${asked.body.id}/link`)).status).toBe(403);
  });
});
