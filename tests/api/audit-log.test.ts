import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHttpServer } from '../../src/composition/http-server.ts';
import { createMetrics } from '../../src/core/metrics.ts';
import { type ActorClient, adminClient } from '../support/actors.ts';
import { clientOf, testServer } from '../support/api.ts';
import { unique } from '../support/builders.ts';
import { observeRefusal } from '../support/refusal-recorder.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

const RBAC = '/cabinet/admin/rbac';
const LOG = `${RBAC}/audit-log`;
let t: TestApp;
let server: FastifyInstance;
let admin: ActorClient;
let reader: ActorClient;

beforeAll(async () => {
  t = await testApp();
  server = await testServer(t.app);
  admin = await adminClient(t.app, server, ['*:*'], 900);
  reader = await adminClient(t.app, server, ['audit_log:*'], 1);
});
afterAll(() => server.close());

// biome-ignore lint/suspicious/noExplicitAny: a test reads any field of an answer
async function rowsOf(actor: ActorClient, query: object = {}): Promise<any[]> {
  await t.app.ports.audit.flush();
  const { body } = await reader.get(LOG, { query: { user_id: actor.user.id, limit: 500, ...query } });
  return body.items;
}
const roleBody = (fields: object = {}) => ({ name: `Role ${unique()}`, level: 10, permissions: ['users:read'], ...fields });

describe('what is recorded', () => {
  it('a change, with before and after, under the id of what was changed, before the answer', async () => {
    const actor = await adminClient(t.app, server, ['*:*'], 900);
    const made = await actor.post(`${RBAC}/roles`, roleBody(), {
      headers: { 'user-agent': 'browser', 'x-forwarded-for': '203.0.113.9' },
    });
    const [now] = await t.app.db.sql<{ rows: number }>(
      'SELECT count(*)::int AS rows FROM admin_audit_log WHERE user_id = $1::int',
      [actor.user.id],
    );
    expect(now!.rows).toBe(1);
    await actor.put(`${RBAC}/roles/${made.body.id}?x=1`, { level: 20 });
    await actor.delete(`${RBAC}/roles/${made.body.id}`);
    const [deleted, changed, created] = await rowsOf(actor);
    expect(created).toEqual({
      id: expect.any(Number),
      user_id: actor.user.id,
      action: 'roles:create',
      resource_type: 'roles',
      resource_id: String(made.body.id),
      details: {
        method: 'POST',
        path: `${RBAC}/roles`,
        request_body: { name: made.body.name, level: 10, permissions: ['users:read'] },
        before: null,
        after: expect.objectContaining({ id: made.body.id, level: 10 }),
      },
      ip_address: expect.any(String),
      user_agent: 'browser',
      status: 'success',
      request_method: 'POST',
      request_path: `${RBAC}/roles`,
      created_at: t.clock.now().toISOString(),
      user_first_name: expect.any(String),
      user_email: null,
    });
    expect(changed).toMatchObject({
      request_method: 'PUT',
      request_path: `${RBAC}/roles/${made.body.id}`,
      resource_id: String(made.body.id),
      details: { request_body: { level: 20 }, before: { level: 10 }, after: { level: 20 } },
    });
    expect(changed.details.request_body).toEqual({ level: 20 });
    expect(deleted).toMatchObject({ action: 'roles:delete', details: { before: { level: 20 }, after: null } });
    expect(deleted.details).not.toHaveProperty('request_body');
  });

  it('a read, beside the request', async () => {
    const actor = await adminClient(t.app, server, ['roles:read']);
    await actor.get(`${RBAC}/roles`, { query: { include_inactive: true } });
    expect(await rowsOf(actor)).toEqual([
      expect.objectContaining({
        action: 'roles:read',
        status: 'success',
        details: { method: 'GET', path: `${RBAC}/roles`, query_params: { include_inactive: true } },
      }),
    ]);
  });

  it('a refusal for missing permission, without the body', async () => {
    const actor = await adminClient(t.app, server, ['users:read']);
    await actor.post(`${RBAC}/roles`, roleBody());
    expect(await rowsOf(actor)).toEqual([
      expect.objectContaining({
        action: 'roles:create',
        status: 'denied',
        details: { method: 'POST', path: `${RBAC}/roles`, status_code: 403, reason: 'Permission not granted by any role' },
      }),
    ]);
  });

  it('what a rule refuses, and what fails', async () => {
    const actor = await adminClient(t.app, server, ['roles:*'], 50);
    await actor.post(`${RBAC}/roles`, roleBody({ permissions: ['users:delete'] }));
    await actor.put(`${RBAC}/roles/2147000000`, { level: 1 });
    await actor.post(`${RBAC}/roles`, { name: '' });
    const [invalid, missing, beyond] = await rowsOf(actor);
    expect(beyond).toMatchObject({
      status: 'denied',
      details: { status_code: 403, reason: expect.stringContaining('users:delete') },
    });
    expect(missing).toMatchObject({
      status: 'error',
      resource_id: '2147000000',
      details: { status_code: 404, reason: 'Role not found' },
    });
    expect(invalid).toMatchObject({ status: 'error', details: { status_code: 422, reason: 'Validation failed' } });
    expect(beyond.details).not.toHaveProperty('after');
  });

  it('a call over tRPC like one over REST', async () => {
    const { fastify } = await createHttpServer({
      observeRefusal,
      app: t.app,
      metrics: createMetrics(),
      callbackRoute: () => null,
    });
    await fastify.ready();
    const actor = await adminClient(t.app, fastify, ['roles:*', 'users:*'], 900);
    const made = await actor.post(`${RBAC}/roles`, roleBody());
    const reply = await actor.post('/trpc/admin.rbac.updateRole', { role_id: made.body.id, level: 30 });
    expect(reply.status, reply.text).toBe(200);
    const [changed] = await rowsOf(actor);
    expect(changed).toMatchObject({
      action: 'roles:edit',
      request_method: 'PUT',
      request_path: `${RBAC}/roles/${made.body.id}`,
      resource_id: String(made.body.id),
      details: { request_body: { level: 30 }, before: { level: 10 }, after: { level: 30 } },
    });
    await fastify.close();
  });

  it('a path with characters that the log cannot store', async () => {
    const actor = await adminClient(t.app, server, ['settings:*'], 900);
    await actor.put('/cabinet/admin/settings/a%00b', { value: 1 });
    await actor.put(`/cabinet/admin/settings/${encodeURIComponent(`${'x'.repeat(99)}\u{1f600}\u{1f600}`)}`, { value: 1 });
    await actor.post('/trpc/admin.settings.update', { key: '\ud800', value: 1 });
    const rows = await rowsOf(actor);
    // The column holds 100 characters; one outside the basic plane counts once and is never cut in half.
    expect(rows.map((row) => row.resource_id)).toEqual(['\ufffd', `${'x'.repeat(99)}\u{1f600}`, 'ab']);
  });

  it('no secrets', async () => {
    const actor = await adminClient(t.app, server, ['roles:*', 'users:*'], 900);
    await actor.post(`${RBAC}/roles`, roleBody({ description: 'key sst_abcdefghijklmnop and Bearer abc.def.ghi' }));
    const [row] = await rowsOf(actor);
    expect(JSON.stringify(row)).not.toMatch(/sst_abc|abc\.def/);
  });

  it('a change while the database is unavailable is 503, and recorded in the audit log when it is available again', async () => {
    const actor = await adminClient(t.app, server, ['settings:*'], 900);
    let isAway = false;
    const gone = () => Promise.reject(Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }));
    const { db } = t.app;
    const sql: typeof db.sql = (text, values) => (isAway ? gone() : db.sql(text, values));
    const begin: typeof db.begin = (work) => (isAway ? gone() : db.begin!(work));
    const frail = await testServer({ ...t.app, db: { ...db, sql, begin } });
    const client = clientOf(frail, { authorization: `Bearer ${actor.accessToken}` });
    // From here on the session is known without the database.
    expect((await client.get('/cabinet/admin/settings/categories')).status).toBe(200);
    isAway = true;
    const reply = await client.put('/cabinet/admin/settings/SMTP_FROM_NAME', { value: 'x' });
    isAway = false;
    await frail.close();
    expect(reply).toMatchObject({
      status: 503,
      body: { detail: 'Service temporarily unavailable. Please try again later.' },
    });
    expect(await rowsOf(actor, { action: 'settings:edit' })).toMatchObject([
      { status: 'error', request_method: 'PUT', details: { status_code: 503 } },
    ]);
  });

  it('nothing for requests without a user', async () => {
    const count = async () =>
      (await t.app.db.sql<{ rows: number }>('SELECT count(*)::int AS rows FROM admin_audit_log'))[0]!.rows;
    await t.app.ports.audit.flush();
    const before = await count();
    expect((await clientOf(server).get(`${RBAC}/roles`)).status).toBe(401);
    await t.app.ports.audit.flush();
    expect(await count()).toBe(before);
  });
});

describe('reading the log', () => {
  it('filters and pages', async () => {
    const actor = await adminClient(t.app, server, ['roles:*', 'users:*'], 900);
    for (let n = 0; n < 3; n++) await actor.post(`${RBAC}/roles`, roleBody());
    await actor.get('/cabinet/admin/tariffs');
    expect(await rowsOf(actor, { action: 'CREATE' })).toHaveLength(3);
    expect(await rowsOf(actor, { status: 'denied' })).toMatchObject([{ action: 'tariffs:read' }]);
    expect(await rowsOf(actor, { resource_type: 'tariffs' })).toHaveLength(1);
    const now = t.clock.now().toISOString();
    expect(await rowsOf(actor, { date_from: now, date_to: now })).toHaveLength(4);
    expect(await rowsOf(actor, { date_to: new Date(t.clock.now().getTime() - 1).toISOString() })).toHaveLength(0);
    const { body } = await reader.get(LOG, { query: { user_id: actor.user.id, limit: 2, offset: 2 } });
    expect([body.items.length, body.total, body.limit, body.offset]).toEqual([2, 4, 2, 2]);
    expect((await reader.get(LOG, { query: { user_id: actor.user.id, offset: 100 } })).body).toMatchObject({
      items: [],
      total: 4,
    });
    const beyond: Record<string, number>[] = [
      { user_id: 2 ** 31 },
      { user_id: -(2 ** 31) - 1 },
      { offset: Number.MAX_SAFE_INTEGER },
    ];
    for (const query of beyond) {
      expect(await reader.get(LOG, { query }), JSON.stringify(query)).toMatchObject({ status: 200, body: { items: [] } });
    }
    expect((await reader.get(LOG, { query: { limit: 501 } })).status).toBe(422);
  });

  it('is exported as a file', async () => {
    await admin.get(`${RBAC}/roles`);
    await t.app.ports.audit.flush();
    const reply = await reader.get(`${LOG}/export`, { query: { user_id: admin.user.id, limit: 1 } });
    expect(reply.headers['content-type']).toBe('text/csv; charset=utf-8');
    expect(reply.headers['content-disposition']).toMatch(/^attachment; filename="audit_log_\d{8}_\d{6}\.csv"$/);
    expect(reply.text.split('\r\n')).toHaveLength(3);
    expect((await admin.get(`${LOG}/export`, { query: { limit: 50_001 } })).status).toBe(422);
    // Found out before the file begins, so that the caller gets an answer and not half a file.
    expect((await reader.get(`${LOG}/export?status=a%00b`)).status).toBe(422);
    expect((await reader.get(`${LOG}/export`, { query: { user_id: 2 ** 53 - 1 } })).text.split('\r\n')).toHaveLength(2);
    const onlyRead = await adminClient(t.app, server, ['audit_log:read']);
    expect((await onlyRead.get(`${LOG}/export`)).status).toBe(403);
  });
});
