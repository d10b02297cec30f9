import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { issueAutoLoginToken } from '../../src/domain/identity/auto-login/auto-login.ts';
import { handleBotUpdate } from '../../src/domain/identity/deeplink-sign-in.ts';
import { aMessengerAccount, anAddress } from '../domain/identity/accounts.ts';
import { signedWidget } from '../domain/identity/linking-proofs.ts';
import { type OAuthIssuer, startOAuthIssuer } from '../fakes/oauth-issuer.ts';
import { type ApiClient, type ApiReply, clientOf, testServer } from '../support/api.ts';
import { unique } from '../support/builders.ts';
import { someone, switchedOff, withIssuer } from '../support/oauth-setup.ts';
import { storeRow } from '../support/stored-rows.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

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

let clientCount = 0;
function newClient(headers: Record<string, string> = {}): ApiClient {
  clientCount += 1;
  return clientOf(server, {
    'x-forwarded-for': `198.53.${Math.floor(clientCount / 250)}.${(clientCount % 250) + 1}`,
    ...headers,
  });
}

/** A page of our own origin: its browser sends the cookie back and says so. */
const pageOf = (cookie: string) => newClient({ 'sec-fetch-site': 'same-origin', cookie });
const cookieOf = (reply: ApiReply) => String(reply.headers['set-cookie']).split(';')[0]!;

const campaign = async (kopeks: number) => {
  const slug = `slug${unique()}`;
  await storeRow(t.app, 'AdvertisingCampaign', {
    name: slug,
    startParameter: slug,
    bonusType: 'balance',
    balanceBonusKopeks: kopeks,
    isActive: true,
    createdAt: t.clock.now(),
    updatedAt: t.clock.now(),
  });
  return slug;
};

describe('Cabinet OAuth', () => {
  test('lists the providers that are on, in their order', async () => {
    switchedOff.add('discord');
    expect((await newClient().get('/cabinet/auth/oauth/providers')).body).toEqual({
      providers: [
        { name: 'google', display_name: 'Google' },
        { name: 'yandex', display_name: 'Yandex' },
        { name: 'vk', display_name: 'VK' },
      ],
    });
  });

  test.each(['/authorize', ''])('starts at {provider}%s and binds the state to a cookie', async (ending) => {
    const reply = await newClient().get(`/cabinet/auth/oauth/google${ending}`);
    expect(reply.status).toBe(200);
    expect(Object.keys(reply.body).sort()).toEqual(['authorize_url', 'state']);
    expect(reply.body.authorize_url).toContain(`state=${reply.body.state}`);
    expect(reply.headers['set-cookie']).toMatch(
      /^oauth_browser=[\w-]{43}; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax; Secure$/,
    );
    const again = await pageOf(cookieOf(reply)).get(`/cabinet/auth/oauth/google${ending}`);
    expect(cookieOf(again)).toBe(cookieOf(reply));
  });

  test('spec 10 R1, R4: an unknown provider is 422, and 404 where the path alone starts the sign-in', async () => {
    expect(await newClient().get('/cabinet/auth/oauth/github')).toMatchObject({ status: 404, body: { detail: 'Not Found' } });
    const expected = {
      type: 'literal_error',
      loc: ['path', 'provider'],
      ctx: { expected: "'google', 'yandex', 'discord' or 'vk'" },
    };
    const authorize = await newClient().get('/cabinet/auth/oauth/github/authorize');
    expect(authorize.status).toBe(422);
    expect(authorize.body.detail).toEqual([expect.objectContaining(expected)]);
    const callback = await newClient().post('/cabinet/auth/oauth/github/callback', { code: 'x', state: 'y' });
    expect(callback.body.detail).toEqual([expect.objectContaining(expected)]);
  });

  test('a provider that is off is refused on both starts', async () => {
    switchedOff.add('vk');
    for (const ending of ['', '/authorize']) {
      const reply = await newClient().get(`/cabinet/auth/oauth/vk${ending}`);
      expect(reply).toMatchObject({ status: 400, body: { detail: 'Requested OAuth provider is not available' } });
    }
  });

  test('signs in with bonus and referral, and says who', async () => {
    const referrer = await aMessengerAccount(t.app);
    const begun = await newClient().get('/cabinet/auth/oauth/vk/authorize');
    const account = someone({ email: anAddress() });
    const { code, state, deviceId } = await issuer.approve(begun.body.authorize_url, account);
    const slug = await campaign(5_000);
    const body = {
      code,
      state,
      device_id: deviceId,
      campaign_slug: slug,
      referral_code: referrer.referralCode,
      rotate_refresh_token: true,
    };
    const reply = await pageOf(cookieOf(begun)).post('/cabinet/auth/oauth/vk/callback', body);
    expect(reply.status).toBe(200);
    expect(reply.body).toMatchObject({
      token_type: 'bearer',
      expires_in: 900,
      user: {
        email: account.email,
        email_verified: true,
        auth_type: 'vk',
        messenger_id: null,
        balance_kopeks: 5_000,
        balance_rubles: 50,
      },
      campaign_bonus: {
        campaign_name: slug,
        bonus_type: 'balance',
        balance_kopeks: 5_000,
        subscription_days: null,
        tariff_name: null,
      },
    });
    const refreshed = await newClient().post('/cabinet/auth/refresh', { refresh_token: reply.body.refresh_token });
    expect(refreshed.body.refresh_token).not.toBe(reply.body.refresh_token);
    const [earning] = await t.app.db.sql<{ reason: string }>(
      'SELECT reason FROM referral_earnings WHERE user_id = $1::int AND referral_id = $2::int',
      [referrer.id, reply.body.user.id],
    );
    expect(earning).toEqual({ reason: 'referral_registration_pending' });
    const again = await newClient().post('/cabinet/auth/oauth/vk/callback', body);
    expect(again).toMatchObject({ status: 400, body: { detail: 'Invalid or expired OAuth state' } });
  });

  test('spec 01 H19: a callback of a sign-in that another browser started is refused, and accepted from a client without cookies', async () => {
    const way = async () => {
      const begun = await newClient().get('/cabinet/auth/oauth/google');
      const { code, state } = await issuer.approve(begun.body.authorize_url, someone());
      return { code, state };
    };
    const refused = { status: 400, body: { detail: 'Invalid or expired OAuth state' } };
    const path = '/cabinet/auth/oauth/google/callback';
    expect(await newClient({ 'sec-fetch-site': 'same-origin' }).post(path, await way())).toMatchObject(refused);
    expect(await pageOf(`oauth_browser=${'x'.repeat(43)}`).post(path, await way())).toMatchObject(refused);
    expect(await newClient({ cookie: `oauth_browser=${'x'.repeat(43)}` }).post(path, await way())).toMatchObject(refused);
    expect((await newClient().post(path, await way())).status).toBe(200);
    expect((await newClient({ 'sec-fetch-site': 'cross-site' }).post(path, await way())).status).toBe(200);
  });

  test.each([
    [{ state: 'x' }, 'code', 'missing'],
    [{ code: '', state: 'x' }, 'code', 'string_too_short'],
    [{ code: 'x', state: 'x'.repeat(129) }, 'state', 'string_too_long'],
    [{ code: 'x', state: 'x', device_id: 'x'.repeat(257) }, 'device_id', 'string_too_long'],
    [{ code: 'x', state: 'x', campaign_slug: 'a b' }, 'campaign_slug', 'string_pattern_mismatch'],
  ])('the callback refuses %j', async (body, field, type) => {
    const reply = await newClient().post('/cabinet/auth/oauth/google/callback', body);
    expect(reply.status).toBe(422);
    expect(reply.body.detail[0]).toMatchObject({ loc: ['body', field], type });
  });
});

describe('Cabinet Auth, the other sign-ins', () => {
  test('the login widget signs in', async () => {
    const data = signedWidget(t.app, 6_900_000_000 + unique());
    const reply = await newClient().post('/cabinet/auth/messenger/widget', { ...data, campaign_slug: null, last_name: null });
    expect(reply).toMatchObject({
      status: 200,
      body: { user: { messenger_id: data.id, first_name: 'Wanda' }, campaign_bonus: null },
    });
    const forged = await newClient().post('/cabinet/auth/messenger/widget', { ...data, first_name: 'Other' });
    expect(forged).toMatchObject({ status: 401, body: { detail: 'Invalid or expired Messenger authentication data' } });
  });

  test('an OpenID Connect token is refused while that is not set up', async () => {
    const reply = await newClient().post('/cabinet/auth/messenger/oidc', { id_token: 'x' });
    expect(reply).toMatchObject({ status: 400, body: { detail: 'Messenger OIDC is not configured' } });
  });

  test('an auto-login token signs in once', async () => {
    const token = await issueAutoLoginToken(t.app, (await aMessengerAccount(t.app)).id);
    expect(await newClient().post('/cabinet/auth/login/auto', { token })).toMatchObject({
      status: 200,
      body: { campaign_bonus: null },
    });
    expect(await newClient().post('/cabinet/auth/login/auto', { token })).toMatchObject({
      status: 401,
      body: { detail: 'Invalid or expired auto-login token' },
    });
  });

  test('a sign-in is confirmed in the bot: 202, then the session, then 410', async () => {
    const user = await aMessengerAccount(t.app);
    const begun = await newClient({ 'user-agent': 'Test Browser' }).post('/cabinet/auth/deeplink/request');
    expect(begun.body).toEqual({ token: expect.stringMatching(/^[\w-]{32}$/), bot_username: 'test_bot', expires_in: 300 });
    const { token } = begun.body;
    const poll = () => newClient().post('/cabinet/auth/deeplink/poll', { token });
    const waiting = await poll();
    expect([waiting.status, waiting.body]).toEqual([202, { detail: 'Waiting for confirmation' }]);
    await handleBotUpdate(t.app, {
      updateId: unique(),
      kind: 'callback',
      queryId: '1',
      fromMessengerId: user.messengerId!,
      chatId: null,
      messageId: null,
      data: `webauth_confirm:${token}`,
    });
    expect(await poll()).toMatchObject({ status: 200, body: { user: { id: user.id } } });
    expect(await poll()).toMatchObject({ status: 410, body: { detail: 'Token expired or not found' } });
  });

  const widgetBody = { id: 1, first_name: 'A', auth_date: 1, hash: 'a'.repeat(64) };
  test.each([
    ['messenger/widget', 10, widgetBody, 401],
    ['messenger/oidc', 10, { id_token: 'x' }, 400],
    ['login/auto', 5, { token: 'x' }, 401],
    ['deeplink/request', 10, undefined, 200],
    ['deeplink/poll', 60, { token: 'x'.repeat(32) }, 410],
    ['account/link/server-complete', 10, { code: 'x', state: 'x' }, 400],
  ])('%s takes %i attempts a minute from an address', async (path, limit, body, usual) => {
    const client = newClient();
    const attempt = () => client.post(`/cabinet/auth/${path}`, body);
    for (let n = 0; n < limit; n++) expect((await attempt()).status).toBe(usual);
    const refused = await attempt();
    expect(refused).toMatchObject({ status: 429, body: { detail: 'Too many requests' } });
    expect(refused.headers['retry-after']).toBe('60');
    t.clock.advance(60_000);
    expect((await attempt()).status).toBe(usual);
  });

  test.each([
    ['messenger/widget', { ...widgetBody, id: 'x' }, 'id', 'int_type'],
    ['messenger/widget', { ...widgetBody, first_name: 'x'.repeat(65) }, 'first_name', 'string_too_long'],
    ['messenger/widget', { ...widgetBody, hash: 'a'.repeat(63) }, 'hash', 'string_too_short'],
    ['messenger/oidc', { id_token: 'x'.repeat(4097) }, 'id_token', 'string_too_long'],
    ['login/auto', {}, 'token', 'missing'],
    ['deeplink/poll', { token: 'x'.repeat(15) }, 'token', 'string_too_short'],
  ])('%s refuses %j', async (path, body, field, type) => {
    const reply = await newClient().post(`/cabinet/auth/${path}`, body);
    expect(reply.status).toBe(422);
    expect(reply.body.detail[0]).toMatchObject({ loc: ['body', field], type });
  });
});
