import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { aMessengerAccount, aVerifiedAccount } from '../domain/identity/accounts.ts';
import { signedWidget, signInData } from '../domain/identity/linking-proofs.ts';
import { type OAuthIssuer, startOAuthIssuer } from '../fakes/oauth-issuer.ts';
import { type ApiClient, clientOf, testServer } from '../support/api.ts';
import { unique } from '../support/builders.ts';
import { someone, switchedOff, withIssuer } from '../support/oauth-setup.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

const BASE = '/cabinet/auth/account';

let t: TestApp;
let server: FastifyInstance;
let issuer: OAuthIssuer;
beforeAll(async () => {
  issuer = await startOAuthIssuer();
  const made = await testApp({ environment: { TRUSTED_PROXIES: '127.0.0.1' } });
  t = { ...made, app: withIssuer(made.app, issuer) };
  server = await testServer(t.app);
});
beforeEach(() => switchedOff.clear());
afterAll(async () => {
  await server.close();
  await issuer.close();
});

let anonymousClients = 0;
function anonymous(headers: Record<string, string> = {}): ApiClient {
  anonymousClients += 1;
  return clientOf(server, {
    'x-forwarded-for': `198.55.${Math.floor(anonymousClients / 250)}.${(anonymousClients % 250) + 1}`,
    ...headers,
  });
}

/** Somebody signed in by e-mail. */
async function member() {
  const account = await aVerifiedAccount(t.app);
  return { account, api: anonymous({ authorization: `Bearer ${account.signIn.accessToken}` }) };
}

async function begun(api: ApiClient, provider: string, account = someone()) {
  const init = await api.get(`${BASE}/link/${provider}/init`);
  expect(init.status).toBe(200);
  const { code, state, deviceId } = await issuer.approve(init.body.authorize_url, account);
  expect(state).toBe(init.body.state);
  return { code, state, device_id: deviceId };
}

const linked = { success: true, message: 'linked', merge_required: false, merge_token: null };

describe('Cabinet Account Linking', () => {
  test('links, lists and unlinks a provider', async () => {
    const { account, api } = await member();
    const person = someone();
    const callback = await begun(api, 'vk', person);
    expect((await api.post(`${BASE}/link/vk/callback`, callback)).body).toEqual(linked);
    const { body } = await api.get(`${BASE}/linked-providers`);
    expect(body).toEqual({
      providers: [
        { provider: 'messenger', linked: false, identifier: null },
        { provider: 'email', linked: true, identifier: account.email },
        { provider: 'google', linked: false, identifier: null },
        { provider: 'yandex', linked: false, identifier: null },
        { provider: 'discord', linked: false, identifier: null },
        { provider: 'vk', linked: true, identifier: person.id },
      ],
    });
    expect(await api.get(`${BASE}/link/vk/init`)).toMatchObject({
      status: 400,
      body: { detail: 'Provider is already linked to your account' },
    });
    expect((await api.post(`${BASE}/unlink/vk`)).body).toEqual({ success: true });
    expect(await api.post(`${BASE}/unlink/vk`)).toMatchObject({
      status: 400,
      body: { detail: 'Provider is not linked to your account' },
    });
  });

  test('an account of another user leads to a merge', async () => {
    const [first, second] = [await member(), await member()];
    const person = someone();
    await first.api.post(`${BASE}/link/google/callback`, await begun(first.api, 'google', person));
    const reply = await second.api.post(`${BASE}/link/google/callback`, await begun(second.api, 'google', person));
    expect(reply).toMatchObject({
      status: 200,
      body: { success: false, message: null, merge_required: true, merge_token: expect.stringMatching(/^[\w-]{43}$/) },
    });
    expect(await anonymous().get(`/cabinet/auth/merge/${reply.body.merge_token}`)).toMatchObject({ status: 200 });
  });

  test('a browser without a session ends it by the state', async () => {
    const { api } = await member();
    const person = someone();
    const body = await begun(api, 'discord', person);
    const reply = await anonymous().post(`${BASE}/link/server-complete`, body);
    expect(reply.body).toEqual({ ...linked, provider: 'discord' });
    expect(await anonymous().post(`${BASE}/link/server-complete`, { ...body, provider: null })).toMatchObject({
      status: 400,
      body: { detail: 'Invalid or expired OAuth state' },
    });
  });

  test('a messenger account by each proof', async () => {
    const [byData, byWidget] = [await member(), await member()];
    const id = 6_800_000_000 + unique();
    expect((await byData.api.post(`${BASE}/link/messenger`, { init_data: signInData(t.app, id) })).body).toEqual(linked);
    const other = signedWidget(t.app, 6_800_000_000 + unique());
    expect((await byWidget.api.post(`${BASE}/link/messenger`, other)).body).toEqual(linked);
    expect((await byWidget.api.get('/cabinet/auth/me')).body).toMatchObject({ messenger_id: other.id });
    const third = await member();
    const owner = await aMessengerAccount(t.app);
    const merge = await third.api.post(`${BASE}/link/messenger`, signedWidget(t.app, owner.messengerId!));
    expect(merge.body).toMatchObject({ success: false, merge_required: true });
  });

  const hash = 'a'.repeat(64);
  test.each([
    [{}],
    [{ init_data: null }],
    [{ init_data: 'x', id_token: 'y' }],
    [{ init_data: 'x', id: 1, auth_date: 1, hash }],
    [{ id: 1, auth_date: 1 }],
    [{ id: 1, hash }],
    [{ first_name: 'Ann' }],
  ])('wants exactly one proof, not %j', async (body) => {
    const { api } = await member();
    const reply = await api.post(`${BASE}/link/messenger`, body);
    expect(reply.status).toBe(422);
    expect(reply.body.detail[0]).toMatchObject({ loc: ['body'], type: 'value_error' });
  });

  test('a messenger proof may be tried ten times a minute', async () => {
    const { api } = await member();
    const attempt = () => api.post(`${BASE}/link/messenger`, { init_data: 'x' });
    for (let n = 0; n < 10; n++) {
      expect(await attempt()).toMatchObject({ status: 400, body: { detail: 'Invalid or expired Messenger initData' } });
    }
    const refused = await attempt();
    expect(refused).toMatchObject({ status: 429, body: { detail: 'Too many requests' } });
    expect(refused.headers['retry-after']).toBe('60');
  });

  test('unknown providers are 422, strangers 401', async () => {
    const { api } = await member();
    for (const reply of [
      await api.get(`${BASE}/link/github/init`),
      await api.post(`${BASE}/link/github/callback`, { code: 'x', state: 'y' }),
      await api.post(`${BASE}/unlink/messenger`),
    ]) {
      expect(reply.status).toBe(422);
      expect(reply.body.detail[0]).toMatchObject({ loc: ['path', 'provider'], type: 'literal_error' });
    }
    const wrong = await anonymous().post(`${BASE}/link/server-complete`, { code: 'x', state: 'y', provider: 'github' });
    expect(wrong.body.detail[0]).toMatchObject({ loc: ['body', 'provider'], type: 'literal_error' });
    for (const reply of [await anonymous().get(`${BASE}/linked-providers`), await anonymous().post(`${BASE}/unlink/google`)]) {
      expect(reply).toMatchObject({ status: 401, body: { detail: 'Authentication required' } });
    }
  });
});
