import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { issueAutoLoginToken } from '../../src/domain/identity/auto-login/auto-login.ts';
import { confirmSignIn, requestDeepLink } from '../../src/domain/identity/deeplink-sign-in.ts';
import { readCabinetAccess, recheckCabinetAccess } from '../../src/realtime/cabinet-access.ts';
import { aVerifiedAccount, PASSWORD } from '../domain/identity/accounts.ts';
import { signedWidget } from '../domain/identity/linking-proofs.ts';
import { type ActorClient, adminClient } from '../support/actors.ts';
import { type ApiClient, clientOf, testServer } from '../support/api.ts';
import { initDataOf } from '../support/init-data.ts';
import { TestPasskey } from '../support/passkey.ts';
import { servedRoutes } from '../support/served-routes.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

const BASE = '/cabinet/auth/second-factor';
const REQUIRED = { status: 403, body: { detail: { code: 'second_factor_required', methods: ['passkey', 'recovery_code'] } } };
const DEMANDED = { status: 403, body: { detail: { code: 'role_needs_second_factor' } } };

let t: TestApp;
let server: FastifyInstance;
beforeAll(async () => {
  t = await testApp({ environment: { SECOND_FACTOR_FOR: 'everyone', TRUSTED_PROXIES: '127.0.0.1' } });
  server = await testServer(t.app);
});
afterAll(() => server.close());

let clients = 0;
function from(token?: string): ApiClient {
  clients += 1;
  const address = { 'x-forwarded-for': `192.0.2.${clients}` };
  return clientOf(server, token === undefined ? address : { ...address, authorization: `Bearer ${token}` });
}

/** Adds a passkey in this session. @returns its access token in which the passkey counts as shown */
async function withPasskey(token: string): Promise<{ passkey: TestPasskey; token: string }> {
  const passkey = new TestPasskey();
  const options = await from(token).post(`${BASE}/passkeys/options`);
  const added = await from(token).post(`${BASE}/passkeys`, { name: 'Key', response: passkey.create(options.body) });
  expect(added.status).toBe(200);
  return { passkey, token: added.body.access_token };
}

async function aMessengerUser() {
  const messengerId = 5_000_000_000 + clients;
  const user = { messengerId };
  const signIn = await from().post('/cabinet/auth/messenger', { init_data: initDataOf(t, user) });
  await withPasskey(signIn.body.access_token);
  return { user, id: signIn.body.user.id as number };
}

describe('every way to sign in asks for the second factor', () => {
  it('launch data, widget, deep link and auto-login', async () => {
    const { user, id } = await aMessengerUser();
    const { token } = await requestDeepLink(t.app, { ip: null, device: null });
    await confirmSignIn(t.app, token, user.messengerId);
    const attempts = [
      ['messenger', { init_data: initDataOf(t, user) }],
      ['messenger/widget', signedWidget(t.app, user.messengerId)],
      ['deeplink/poll', { token }],
      ['login/auto', { token: await issueAutoLoginToken(t.app, id) }],
    ] as const;
    for (const [path, body] of attempts) expect(await from().post(`/cabinet/auth/${path}`, body), path).toMatchObject(REQUIRED);
  });

  it('e-mail and password', async () => {
    const { email, signIn } = await aVerifiedAccount(t.app);
    await withPasskey(signIn.accessToken);
    expect(await from().post('/cabinet/auth/email/login', { email, password: PASSWORD })).toMatchObject(REQUIRED);
  });

  it('every operation that answers a session is behind it', () => {
    const opening = servedRoutes
      .filter(({ meta }) => meta.guardName === 'SIGN_IN')
      .map(({ path }) => path.replace('/cabinet/auth/', ''));
    expect(opening.sort()).toEqual([
      ...['deeplink/poll', 'email/login', 'email/verify', 'login/auto', 'merge/{merge_token}', 'messenger'],
      ...['messenger/oidc', 'messenger/widget', 'oauth/{provider}/callback'],
    ]);
  });
});

describe('a role that demands it', () => {
  async function anAdmin(): Promise<ActorClient> {
    const admin = await adminClient(t.app, server, ['tickets:read', 'users:*'], 50);
    await t.app.db.sql(
      `UPDATE admin_roles SET requires_second_factor = true WHERE id = (SELECT role_id FROM user_roles WHERE user_id = $1::int) RETURNING id`,
      [admin.user.id],
    );
    await t.app.cache.forget(t.app, [`roles:${admin.user.id}`]);
    return admin;
  }

  it('gives nothing until one is shown in the session, but enrolling is possible', async () => {
    const admin = await anAdmin();
    expect(await admin.get('/cabinet/admin/users')).toMatchObject(DEMANDED);
    expect((await admin.get(BASE)).body).toMatchObject({ is_available: true, is_demanded: true, is_shown: false });
    const { passkey, token } = await withPasskey(admin.accessToken);
    expect((await from(token).get('/cabinet/admin/users')).status).toBe(200);
    // The token of before says nothing of it; a passkey proves it in any session.
    expect(await admin.get('/cabinet/admin/users')).toMatchObject(DEMANDED);
    const options = await admin.post(`${BASE}/challenge`);
    const proof = await admin.post('/cabinet/auth/fresh-sign-in', { passkey: passkey.get(options.body) });
    expect((await from(proof.body.access_token).get('/cabinet/admin/users')).status).toBe(200);
  });

  it('gives no events for staff on the socket either', async () => {
    const { user, accessToken } = await anAdmin();
    const session = { userId: user.id, sessionId: sessionIdOf(accessToken), ip: null };
    const staffEvents = async () => {
      const [access] = await recheckCabinetAccess(t.app, [session]);
      return access!.status === 'fulfilled' && access!.value.receivesStaffEvents;
    };
    expect(await staffEvents()).toBe(false);
    expect((await readCabinetAccess(t.app, user.id, null)).receivesStaffEvents).toBe(false);
    await withPasskey(accessToken);
    expect(await staffEvents()).toBe(true);
  });

  it('keeps the demand from those whom it binds', async () => {
    const admin = await anAdmin();
    const { token } = await withPasskey(admin.accessToken);
    const [role] = await t.app.db.sql<{ roleId: number }>('SELECT role_id FROM user_roles WHERE user_id = $1::int', [
      admin.user.id,
    ]);
    await t.app.db.sql(`UPDATE admin_roles SET permissions = '["*:*"]' WHERE id = $1::int RETURNING id`, [role!.roleId]);
    await t.app.cache.forget(t.app, [`roles:${admin.user.id}`]);
    const change = await from(token).put(`/cabinet/admin/rbac/roles/${role!.roleId}`, { requires_second_factor: false });
    expect(change).toMatchObject({ status: 403, body: { detail: 'Cannot edit a role at or above your own level' } });
  });

  it('is set and removed by whoever may edit the role', async () => {
    const owner = await adminClient(t.app, server, ['*:*'], 900);
    const made = await owner.post('/cabinet/admin/rbac/roles', {
      name: `Desk ${clients}`,
      level: 10,
      requires_second_factor: true,
    });
    expect(made.body.requires_second_factor).toBe(true);
    const path = `/cabinet/admin/rbac/roles/${made.body.id}`;
    expect((await owner.put(path, { description: 'Desk' })).body.requires_second_factor).toBe(true);
    expect((await owner.put(path, { requires_second_factor: false })).body.requires_second_factor).toBe(false);
  });
});

const sessionIdOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()).sid as string;
