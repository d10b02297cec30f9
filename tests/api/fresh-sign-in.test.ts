import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { MINUTE_MS } from '../../src/core/clock.ts';
import { hashPassword } from '../../src/core/password-hasher.ts';
import { issueAutoLoginToken } from '../../src/domain/identity/auto-login/auto-login.ts';
import { closeAllSessions } from '../../src/domain/identity/sessions/sessions.ts';
import { type ActorClient, adminClient, userClient } from '../support/actors.ts';
import { type ApiClient, clientOf, testServer } from '../support/api.ts';
import { initDataOf } from '../support/init-data.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { whilePasswordsWait } from '../support/waiting-passwords.ts';

const PATH = '/cabinet/auth/fresh-sign-in';
const PASSWORD = 'correct horse battery';
const REFUSED = { status: 403, body: { detail: { code: 'fresh_sign_in_required', methods: ['messenger'] } } };

let t: TestApp;
let server: FastifyInstance;
let admin: ActorClient;

beforeAll(async () => {
  t = await testApp({ environment: { FRESH_SIGN_IN_MINUTES: '10', TRUSTED_PROXIES: '127.0.0.1' } });
  server = await testServer(t.app);
});
afterAll(() => server.close());
beforeEach(async () => {
  admin = await adminClient(t.app, server, ['*:*'], 900);
});

let clients = 0;
/** With an address that no other test has attempts from. */
function withToken(token: string): ApiClient {
  clients += 1;
  return clientOf(server, { authorization: `Bearer ${token}`, 'x-forwarded-for': `203.0.113.${clients}` });
}

const later = (minutes: number) => t.clock.advance(minutes * MINUTE_MS);
const setPassword = async (userId: number, password = PASSWORD) =>
  t.app.db.sql('UPDATE users SET password_hash = $2 WHERE id = $1::int RETURNING id', [userId, await hashPassword(password)]);
const payMethods = (client: ApiClient) => client.put('/cabinet/admin/payment-methods/order', { method_ids: [] });
const ofToken = (token: string) =>
  JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as { auth_time?: number };

describe('what cannot be undone', () => {
  it('is accepted for as long as the setting says, then refused with the ways to prove it', async () => {
    later(9);
    expect((await payMethods(admin)).status).not.toBe(403);
    later(2);
    expect(await payMethods(admin)).toMatchObject(REFUSED);
    expect((await admin.get('/cabinet/admin/payment-methods')).status).toBe(200);
    expect((await admin.get(PATH)).body).toEqual({ is_required: true, fresh_until: null, methods: ['messenger'] });
  });

  it('is recorded as refused in the audit log', async () => {
    later(11);
    await payMethods(admin);
    // The row of a refusal is written in the background.
    const rows = () => t.app.db.sql('SELECT action, status FROM admin_audit_log WHERE user_id = $1::int', [admin.user.id]);
    await expect.poll(rows).toEqual([{ action: 'payment_methods:edit', status: 'denied' }]);
  });

  it('is accepted with launch data that was just signed, in the same session', async () => {
    later(11);
    const proof = await withToken(admin.accessToken).post(PATH, { init_data: initDataOf(t, admin.user) });
    expect(proof).toMatchObject({ status: 200, body: { expires_in: 900 } });
    const fresh = withToken(proof.body.access_token);
    expect((await payMethods(fresh)).status).not.toBe(403);
    expect((await fresh.get(PATH)).body.fresh_until).toBe(
      new Date(Math.floor(t.clock.now().getTime() / 1_000) * 1_000 + 10 * MINUTE_MS).toISOString(),
    );
    expect(await payMethods(admin)).toMatchObject(REFUSED);
  });

  it('stays accepted after a refresh, which is no proof itself', async () => {
    const signIn = await clientOf(server).post('/cabinet/auth/messenger', { init_data: initDataOf(t, admin.user) });
    later(8);
    const refresh = () => clientOf(server).post('/cabinet/auth/refresh', { refresh_token: signIn.body.refresh_token });
    expect((await payMethods(withToken((await refresh()).body.access_token))).status).not.toBe(403);
    later(3);
    const old = withToken((await refresh()).body.access_token);
    expect(await payMethods(old)).toMatchObject(REFUSED);
    await setPassword(admin.user.id);
    expect((await old.post(PATH, { password: PASSWORD })).status).toBe(200);
    expect((await payMethods(withToken((await refresh()).body.access_token))).status).not.toBe(403);
  });

  it('is refused to launch data of a page that has been open for long, and to those of somebody else', async () => {
    later(11);
    const signIn = await clientOf(server).post('/cabinet/auth/messenger', { init_data: initDataOf(t, admin.user, 3_600) });
    const old = withToken(signIn.body.access_token);
    expect(await payMethods(old)).toMatchObject(REFUSED);
    const other = await userClient(t.app, server);
    for (const initData of [initDataOf(t, admin.user, 660), initDataOf(t, other.user), 'hash=0'])
      expect(await old.post(PATH, { init_data: initData })).toMatchObject({
        status: 403,
        body: { detail: expect.stringContaining('Invalid') },
      });
    expect(await payMethods(old)).toMatchObject(REFUSED);
  });

  it('is refused to a session that a link of a mail began', async () => {
    const token = await issueAutoLoginToken(t.app, admin.user.id);
    const signIn = await clientOf(server).post('/cabinet/auth/login/auto', { token });
    expect(ofToken(signIn.body.access_token).auth_time).toBeUndefined();
    expect(await payMethods(withToken(signIn.body.access_token))).toMatchObject(REFUSED);
  });

  it('is not more than before while the setting is 0', async () => {
    const off = await testApp();
    const otherServer = await testServer(off.app);
    const client = await adminClient(off.app, otherServer, ['*:*'], 900);
    off.clock.advance(14 * MINUTE_MS);
    expect((await payMethods(client)).status).not.toBe(403);
    expect((await client.get(PATH)).body).toMatchObject({ is_required: false, fresh_until: null });
    await otherServer.close();
  });
});

describe('a proof', () => {
  it('by a wrong password is refused, and after ten of an account from any address also the right one', async () => {
    await setPassword(admin.user.id);
    later(11);
    for (let attempt = 0; attempt < 10; attempt += 1)
      expect((await withToken(admin.accessToken).post(PATH, { password: 'wrong' })).status).toBe(403);
    const late = await withToken(admin.accessToken).post(PATH, { password: PASSWORD });
    expect(late).toMatchObject({ status: 429, headers: { 'retry-after': expect.any(String) } });
    expect(await payMethods(admin)).toMatchObject({ status: 403 });
  });

  it('by a password is put off while more passwords wait than may wait', async () => {
    await setPassword(admin.user.id);
    const client = withToken(admin.accessToken);
    const reply = await whilePasswordsWait(() => client.post(PATH, { password: PASSWORD }));
    expect(reply.status).toBe(503);
  });

  it('needs exactly one of both forms', async () => {
    for (const body of [{}, { password: PASSWORD, init_data: initDataOf(t, admin.user) }])
      expect((await withToken(admin.accessToken).post(PATH, body)).status).toBe(422);
  });

  it('is refused once the session has ended', async () => {
    await closeAllSessions(t.app, admin.user.id);
    expect((await withToken(admin.accessToken).post(PATH, { init_data: initDataOf(t, admin.user) })).status).toBe(401);
  });
});

describe('ways to sign in', () => {
  const link = (client: ApiClient) =>
    client.post('/cabinet/auth/email/register', { email: `thief${clients}@example.com`, password: 'a long password' });

  it('cannot be added to an administrator by a session that began long ago', async () => {
    later(11);
    expect(await link(admin)).toMatchObject(REFUSED);
    expect(await admin.get('/cabinet/auth/account/link/google/init')).toMatchObject(REFUSED);
    expect(await admin.post('/cabinet/auth/email/change', { new_email: 'thief@example.com' })).toMatchObject(REFUSED);
  });

  it('can be added by a customer at any time', async () => {
    const customer = await userClient(t.app, server);
    later(11);
    expect((await link(withToken(customer.accessToken))).status).toBe(200);
  });
});
