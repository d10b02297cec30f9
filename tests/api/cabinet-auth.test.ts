import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { signInitData } from '../../packages/sandbox/src/messenger/messenger-state.ts';
import { HOUR_MS, MINUTE_MS } from '../../src/core/clock.ts';
import { issueAutoLoginToken } from '../../src/domain/identity/auto-login/auto-login.ts';
import { confirmSignIn, requestDeepLink } from '../../src/domain/identity/deeplink-sign-in.ts';
import { mailPasswordReset } from '../../src/domain/identity/email/password.ts';
import { aMessengerAccount, anAddress, aVerifiedAccount, mailedSecret, PASSWORD } from '../domain/identity/accounts.ts';
import { signedWidget } from '../domain/identity/linking-proofs.ts';
import { type ApiClient, clientOf, testServer, tokenClient } from '../support/api.ts';
import { unique } from '../support/builders.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { TEST_BOT_TOKEN } from '../support/test-sandbox.ts';

let t: TestApp;
let server: FastifyInstance;
beforeAll(async () => {
  t = await testApp({ environment: { TRUSTED_PROXIES: '127.0.0.1' } });
  server = await testServer(t.app);
});
afterAll(() => server.close());

let clientCount = 0;

/** A client with an address of its own, so that tests do not use up each other's limits. */
function newClient(): ApiClient {
  clientCount += 1;
  return clientOf(server, { 'x-forwarded-for': `198.51.${Math.floor(clientCount / 250)}.${(clientCount % 250) + 1}` });
}

const signedIn = (token: string) => newClient().with({ authorization: `Bearer ${token}` });
const initData = (id: number) => signInitData(TEST_BOT_TOKEN, { id, first_name: 'Ann', username: 'ann' }, t.clock.now());
const newMessengerId = () => 4_000_000_000 + unique();

async function bySignedData(id = newMessengerId()) {
  const reply = await newClient().post('/cabinet/auth/messenger', { init_data: initData(id) });
  expect(reply.status).toBe(200);
  return { id, reply, api: signedIn(reply.body.access_token) };
}

async function byEmail(email = anAddress()) {
  const made = await newClient().post('/cabinet/auth/email/register/standalone', {
    email,
    password: PASSWORD,
    first_name: 'Ann',
  });
  expect(made.status).toBe(200);
  const reply = await newClient().post('/cabinet/auth/email/verify', { token: await mailedSecret(t.app, email) });
  expect(reply.status).toBe(200);
  return { email, made, reply, api: signedIn(reply.body.access_token) };
}

async function aConfirmedDeepLink(): Promise<string> {
  const { messengerId } = await aMessengerAccount(t.app);
  const { token } = await requestDeepLink(t.app, { ip: null, device: null });
  await confirmSignIn(t.app, token, messengerId!);
  return token;
}

describe('Cabinet Auth', () => {
  test('messenger sign-in answers tokens and the user', async () => {
    const { id, reply } = await bySignedData();
    expect(reply.body).toEqual({
      access_token: expect.any(String),
      refresh_token: expect.any(String),
      token_type: 'bearer',
      expires_in: 900,
      user: {
        id: expect.any(Number),
        messenger_id: id,
        username: 'ann',
        first_name: 'Ann',
        last_name: null,
        email: null,
        email_verified: false,
        balance_kopeks: 0,
        balance_rubles: 0,
        referral_code: expect.stringMatching(/^ref/),
        language: 'ru',
        created_at: t.clock.now().toISOString(),
        auth_type: 'messenger',
      },
      campaign_bonus: null,
    });
    const refused = await newClient().post('/cabinet/auth/messenger', {
      init_data: 'hash=0',
      campaign_slug: 'none',
      referral_code: null,
    });
    expect(refused).toMatchObject({ status: 401, body: { detail: 'Invalid or expired Messenger authentication data' } });
    expect(refused.headers['www-authenticate']).toBe('Bearer');
  });

  test('e-mail registration, verification and sign-in', async () => {
    const { email, made, reply, api } = await byEmail();
    expect(made.body).toEqual({
      message: 'Verification email sent. Please check your inbox.',
      email,
      requires_verification: true,
    });
    expect(reply.body.user).toMatchObject({ email, email_verified: true, auth_type: 'email', first_name: 'Ann' });
    const me = await api.get('/cabinet/auth/me');
    expect(me.status).toBe(200);
    expect(me.body).toEqual(reply.body.user);
    expect(await newClient().post('/cabinet/auth/email/login', { email, password: PASSWORD })).toMatchObject({
      status: 200,
      body: { user: { email }, campaign_bonus: null },
    });
    expect(await newClient().post('/cabinet/auth/email/login', { email, password: 'wrong' })).toMatchObject({
      status: 401,
      body: { detail: 'Invalid email or password' },
    });
    const taken = { email: email.toUpperCase(), password: PASSWORD };
    expect(await newClient().post('/cabinet/auth/email/register/standalone', taken)).toMatchObject({
      status: 400,
      body: { detail: 'This email is already registered' },
    });
  });

  test('e-mail accounts can be switched off', async () => {
    const { app } = await testApp({ environment: { CABINET_EMAIL_AUTH_ENABLED: 'false' } });
    const closed = await testServer(app);
    const refused = { status: 403, body: { detail: 'Email authentication is disabled' } };
    const account = { email: anAddress(), password: PASSWORD };
    expect(await clientOf(closed).post('/cabinet/auth/email/register/standalone', account)).toMatchObject(refused);
    expect(await clientOf(closed).post('/cabinet/auth/email/login', account)).toMatchObject(refused);
    await closed.close();
  });

  test('linking, resending and own permissions', async () => {
    const { api } = await bySignedData();
    const email = anAddress();
    expect(await api.post('/cabinet/auth/email/resend')).toMatchObject({
      status: 400,
      body: { detail: 'No email address to verify' },
    });
    expect(await api.post('/cabinet/auth/email/register', { email, password: PASSWORD })).toMatchObject({
      status: 200,
      body: { message: 'Verification email sent', email },
    });
    expect(await api.post('/cabinet/auth/email/resend')).toMatchObject({
      status: 200,
      body: { message: 'Verification email sent' },
    });
    expect((await api.get('/cabinet/auth/me/permissions')).body).toEqual({ permissions: [], roles: [], role_level: 0 });
    expect((await api.get('/cabinet/auth/me/is-admin')).body).toEqual({ is_admin: false });
  });

  test('spec 10 U2: a client that stores only access tokens stays signed in for 7 days, in two tabs', async () => {
    const { reply } = await bySignedData();
    const tabs = [reply.body.access_token, reply.body.access_token];
    const stored = { refresh_token: reply.body.refresh_token };
    for (let hour = 0; hour < 7 * 24 - 4; hour += 4) {
      t.clock.advance(4 * HOUR_MS);
      for (const tab of tabs.keys()) {
        expect((await signedIn(tabs[tab]).get('/cabinet/auth/me')).status).toBe(401);
        const answer = await newClient().post('/cabinet/auth/refresh', stored);
        expect(answer).toMatchObject({ status: 200, body: stored });
        tabs[tab] = answer.body.access_token;
        expect((await signedIn(tabs[tab]).get('/cabinet/auth/me')).status).toBe(200);
      }
    }
    await newClient().post('/cabinet/auth/logout', stored);
    expect((await newClient().post('/cabinet/auth/refresh', stored)).status).toBe(401);
  });

  test.each([
    ['messenger', async () => ({ init_data: initData(newMessengerId()) })],
    ['messenger/widget', async () => signedWidget(t.app, newMessengerId())],
    ['email/login', async () => ({ email: (await byEmail()).email, password: PASSWORD })],
    [
      'email/verify',
      async () => {
        const email = anAddress();
        await newClient().post('/cabinet/auth/email/register/standalone', { email, password: PASSWORD });
        return { token: await mailedSecret(t.app, email) };
      },
    ],
    ['login/auto', async () => ({ token: await issueAutoLoginToken(t.app, (await aVerifiedAccount(t.app)).id) })],
    ['deeplink/poll', async () => ({ token: await aConfirmedDeepLink() })],
  ])('spec 10 U2: %s with rotate_refresh_token makes each refresh answer a new token', async (path, body) => {
    const reply = await newClient().post(`/cabinet/auth/${path}`, { ...(await body()), rotate_refresh_token: true });
    expect(reply.status).toBe(200);
    const { body: next } = await newClient().post('/cabinet/auth/refresh', { refresh_token: reply.body.refresh_token });
    expect(next.refresh_token).not.toBe(reply.body.refresh_token);
    t.clock.advance(2 * MINUTE_MS);
    expect((await newClient().post('/cabinet/auth/refresh', { refresh_token: reply.body.refresh_token })).status).toBe(401);
    expect((await newClient().post('/cabinet/auth/refresh', { refresh_token: next.refresh_token })).status).toBe(401);
  });

  test('refresh gives a new access token until logout ends the session', async () => {
    const { reply } = await bySignedData();
    const next = await newClient().post('/cabinet/auth/refresh', { refresh_token: reply.body.refresh_token });
    expect(next.body).toEqual({
      access_token: expect.any(String),
      refresh_token: reply.body.refresh_token,
      token_type: 'bearer',
      expires_in: 900,
    });
    const session = { refresh_token: next.body.refresh_token };
    expect(await newClient().post('/cabinet/auth/logout', session)).toMatchObject({
      status: 200,
      body: { message: 'Logged out successfully' },
    });
    expect(await newClient().post('/cabinet/auth/refresh', session)).toMatchObject({
      status: 401,
      body: { detail: 'Refresh token not found or revoked' },
    });
    expect((await newClient().post('/cabinet/auth/logout', { refresh_token: 'unknown' })).status).toBe(200);
  });

  test('a forgotten password is replaced and old sessions end', async () => {
    const { email, reply } = await byEmail();
    const sent = { message: 'If the email exists, a password reset link has been sent' };
    expect((await newClient().post('/cabinet/auth/password/forgot', { email })).body).toEqual(sent);
    expect((await newClient().post('/cabinet/auth/password/forgot', { email: anAddress() })).body).toEqual(sent);
    await mailPasswordReset(t.app, email);
    const token = await mailedSecret(t.app, email);
    const changed = await newClient().post('/cabinet/auth/password/reset', { token, password: 'another password' });
    expect(changed.body).toEqual({ message: 'Password reset successfully' });
    expect((await newClient().post('/cabinet/auth/refresh', { refresh_token: reply.body.refresh_token })).status).toBe(401);
    expect((await newClient().post('/cabinet/auth/email/login', { email, password: 'another password' })).status).toBe(200);
    expect(await newClient().post('/cabinet/auth/password/reset', { token, password: 'another password' })).toMatchObject({
      status: 400,
      body: { detail: 'Invalid reset token' },
    });
  });

  test('the e-mail is changed with a code', async () => {
    const { api } = await byEmail();
    const newEmail = anAddress();
    expect((await api.get('/cabinet/auth/email/change/status')).body).toEqual({
      pending: false,
      new_email: null,
      expires_at: null,
    });
    expect((await api.post('/cabinet/auth/email/change', { new_email: newEmail })).body).toEqual({
      message: 'Verification code sent to new email',
      new_email: newEmail,
      expires_in_minutes: 15,
    });
    expect((await api.get('/cabinet/auth/email/change/status')).body).toMatchObject({ pending: true, new_email: newEmail });
    const code = await mailedSecret(t.app, newEmail);
    expect((await api.post('/cabinet/auth/email/change/verify', { code })).body).toEqual({
      message: 'Email changed successfully',
      new_email: newEmail,
    });
    expect(await api.post('/cabinet/auth/email/change/cancel')).toMatchObject({
      status: 400,
      body: { detail: 'No pending email change' },
    });
    await api.post('/cabinet/auth/email/change', { new_email: anAddress() });
    expect((await api.post('/cabinet/auth/email/change/cancel')).body).toEqual({ message: 'Email change cancelled' });
  });

  test('a client address has a limit per minute, whatever user it names', async () => {
    const knocker = newClient();
    for (let n = 0; n < 10; n++) expect((await knocker.post('/cabinet/auth/messenger', { init_data: 'x' })).status).toBe(401);
    const refused = await knocker.post('/cabinet/auth/messenger', { init_data: initData(newMessengerId()) });
    expect(refused).toMatchObject({ status: 429, body: { detail: 'Too many requests' } });
    expect(refused.headers['retry-after']).toBe('60');
    expect((await knocker.post('/cabinet/auth/email/verify', { token: 'x' })).status).toBe(400);
    t.clock.advance(60_000);
    expect((await knocker.post('/cabinet/auth/messenger', { init_data: initData(newMessengerId()) })).status).toBe(200);
  });

  test('a bot with its API token signs in all its persons from one address', async () => {
    const { token } = await tokenClient(t.app, server, `bot ${unique()}`);
    const address = newClient();
    const bot = address.with({ 'x-api-key': token });
    for (let n = 0; n < 11; n++) {
      expect((await bot.post('/cabinet/auth/messenger', { init_data: initData(newMessengerId()) })).status).toBe(200);
    }
    // Another text in the header is as if there was none.
    const stranger = address.with({ 'x-api-key': `${token}x` });
    for (let n = 0; n < 10; n++) expect((await stranger.post('/cabinet/auth/messenger', { init_data: 'x' })).status).toBe(401);
    expect((await stranger.post('/cabinet/auth/messenger', { init_data: 'x' })).status).toBe(429);
  });

  test('a JWT endpoint without a credential is 401 with its scheme', async () => {
    for (const path of ['me', 'me/permissions', 'me/is-admin', 'email/change/status']) {
      const reply = await newClient().get(`/cabinet/auth/${path}`);
      expect(reply).toMatchObject({ status: 401, body: { detail: 'Authentication required' } });
      expect(reply.headers['www-authenticate']).toBe('Bearer');
    }
  });

  test.each([
    ['email/register/standalone', { email: 'no address', password: PASSWORD }, 'email', 'value_error'],
    ['email/register/standalone', { email: 'a@b.test', password: PASSWORD }, 'email', 'value_error'],
    ['email/register/standalone', { email: 'a@example.com', password: '1234567' }, 'password', 'string_too_short'],
    [
      'email/register/standalone',
      { email: 'a@example.com', password: PASSWORD, language: 'RUS' },
      'language',
      'string_pattern_mismatch',
    ],
    ['email/login', { email: 'a@example.com', password: '' }, 'password', 'string_too_short'],
    ['email/login', { email: 'a@example.com' }, 'password', 'missing'],
    ['messenger', { init_data: 'x'.repeat(4097) }, 'init_data', 'string_too_long'],
    ['messenger', { init_data: 'x', referral_code: 'a b' }, 'referral_code', 'string_pattern_mismatch'],
    ['refresh', {}, 'refresh_token', 'missing'],
  ])('%s refuses %j', async (path, body, field, type) => {
    const reply = await newClient().post(`/cabinet/auth/${path}`, body);
    expect(reply.status).toBe(422);
    expect(reply.body.detail[0]).toMatchObject({ loc: ['body', field], type });
  });
});
