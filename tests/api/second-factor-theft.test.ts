/** What a thief has tried (spec 01 section 4.7): each time he has one part of a sign-in, or a stolen session. */
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MINUTE_MS } from '../../src/core/clock.ts';
import { openSession } from '../../src/domain/identity/sessions/sessions.ts';
import { aVerifiedAccount } from '../domain/identity/accounts.ts';
import { signInData } from '../domain/identity/linking-proofs.ts';
import { type ApiClient, clientOf, testServer } from '../support/api.ts';
import { codeOf } from '../support/authenticator-app.ts';
import { aUser, unique } from '../support/builders.ts';
import { TestPasskey } from '../support/passkey.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

const BASE = '/cabinet/auth/second-factor';
const FRESH = { status: 403, body: { detail: { code: 'fresh_sign_in_required' } } };

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
  const address = { 'x-forwarded-for': `198.51.100.${clients}` };
  return clientOf(server, token === undefined ? address : { ...address, authorization: `Bearer ${token}` });
}

async function withPasskey(token: string, passkey = new TestPasskey()) {
  const options = await from(token).post(`${BASE}/passkeys/options`);
  const added = await from(token).post(`${BASE}/passkeys`, { name: 'Key', response: passkey.create(options.body) });
  expect(added.status).toBe(200);
  return { passkey, token: added.body.access_token as string, codes: added.body.recovery_codes as string[] };
}

async function byMessenger(messengerId = 6_000_000_000 + unique()) {
  const signIn = await from().post('/cabinet/auth/messenger', { init_data: signInData(t.app, messengerId) });
  return { messengerId, id: signIn.body.user.id as number, token: signIn.body.access_token as string };
}

const factorsOf = async (userId: number) =>
  (await t.app.db.sql('SELECT id FROM second_factors WHERE user_id = $1::int', [userId])).length;

describe('a merge', () => {
  it('does not take an account that has a second factor by the first part of its sign-in', async () => {
    const victim = await byMessenger();
    await withPasskey(victim.token);
    const thief = await aVerifiedAccount(t.app);
    const { token } = await withPasskey(thief.signIn.accessToken);
    const link = await from(token).post('/cabinet/auth/account/link/messenger', {
      init_data: signInData(t.app, victim.messengerId),
    });
    const merge = await from().post(`/cabinet/auth/merge/${link.body.merge_token}`, { keep_subscription_from: thief.id });
    expect(merge).toMatchObject({ status: 400, body: { detail: expect.stringContaining('has a second factor') } });
    expect(await factorsOf(victim.id)).toBe(1);
  });

  it('does not begin in a session in which the factor was not shown', async () => {
    const victim = await aVerifiedAccount(t.app);
    await withPasskey(victim.signIn.accessToken);
    const thief = await byMessenger();
    const data = { init_data: signInData(t.app, thief.messengerId) };
    expect(await from(victim.signIn.accessToken).post('/cabinet/auth/account/link/messenger', data)).toMatchObject(FRESH);
    const change = { new_email: 'thief@example.com' };
    expect(await from(victim.signIn.accessToken).post('/cabinet/auth/email/change', change)).toMatchObject(FRESH);
  });
});

describe('a session', () => {
  it('that was signed out changes no factor, although its access token is valid', async () => {
    const { id } = await aUser(t.app);
    const signIn = await openSession(t.app, id);
    const { token } = await withPasskey(signIn.accessToken);
    const options = await from(token).post(`${BASE}/passkeys/options`);
    const [factor] = (await from(token).get(BASE)).body.factors;
    await from().post('/cabinet/auth/logout', { refresh_token: signIn.refreshToken });
    const response = new TestPasskey().create(options.body);
    expect((await from(token).post(`${BASE}/passkeys`, { name: 'Thief', response })).status).toBe(401);
    expect((await from(token).post(`${BASE}/recovery-codes`)).status).toBe(401);
    expect((await from(token).delete(`${BASE}/${factor.id}`)).status).toBe(401);
    expect(await factorsOf(id)).toBe(1);
  });

  it('that enrols while another one does is the one that counts, or not at all', async () => {
    const { id } = await aUser(t.app);
    const sessions = [await openSession(t.app, id), await openSession(t.app, id)];
    const attempts = await Promise.all(
      sessions.map(async ({ accessToken }) => {
        const options = await from(accessToken).post(`${BASE}/passkeys/options`);
        return { accessToken, response: new TestPasskey().create(options.body) };
      }),
    );
    const replies = await Promise.all(
      attempts.map(({ accessToken, response }) => from(accessToken).post(`${BASE}/passkeys`, { name: 'Key', response })),
    );
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(await factorsOf(id)).toBe(1);
  });

  it('counts as begun without a factor after the last one was removed', async () => {
    const { id } = await aUser(t.app);
    const signIn = await openSession(t.app, id);
    const { token } = await withPasskey(signIn.accessToken);
    const [factor] = (await from(token).get(BASE)).body.factors;
    expect((await from(token).delete(`${BASE}/${factor.id}`)).status).toBe(200);
    const refreshed = await from().post('/cabinet/auth/refresh', { refresh_token: signIn.refreshToken });
    expect((await from(refreshed.body.access_token).get(BASE)).body).toMatchObject({ is_shown: false, recovery_codes_left: 0 });
  });
});

describe('while no factor is asked for', () => {
  it('the one that is there is still needed to change anything about factors', async () => {
    const { messengerId, token } = await byMessenger();
    const { passkey, codes } = await withPasskey(token);
    const off = await testApp({ environment: { SECOND_FACTOR_FOR: 'nobody' }, clock: t.clock });
    const offServer = await testServer(off.app);
    const signIn = await clientOf(offServer).post('/cabinet/auth/messenger', { init_data: signInData(t.app, messengerId) });
    expect(signIn.status).toBe(200);
    const stolen = clientOf(offServer, { authorization: `Bearer ${signIn.body.access_token}` });
    const [factor] = (await stolen.get(BASE)).body.factors;
    expect(await stolen.post(`${BASE}/recovery-codes`)).toMatchObject(FRESH);
    expect(await stolen.delete(`${BASE}/${factor.id}`)).toMatchObject(FRESH);
    expect((await stolen.post('/cabinet/auth/fresh-sign-in', { init_data: signInData(t.app, messengerId) })).status).toBe(403);
    const options = await stolen.post(`${BASE}/challenge`);
    expect((await stolen.post('/cabinet/auth/fresh-sign-in', { passkey: passkey.get(options.body) })).status).toBe(200);
    expect(codes[0]).toMatch(/^(?:[a-z0-9]{4}-){3}[a-z0-9]{4}$/);
    await offServer.close();
  });
});

describe('attempts', () => {
  it('of a stranger keep the owner’s passkey out neither at the sign-in nor in a session', async () => {
    const { messengerId, token } = await byMessenger();
    const { passkey, token: shown } = await withPasskey(token);
    const ticketOf = async () =>
      (await from().post('/cabinet/auth/messenger', { init_data: signInData(t.app, messengerId) })).body.detail.ticket as string;
    for (let attempt = 0; attempt < 10; attempt += 1)
      expect((await from().post(`${BASE}/sign-in`, { ticket: await ticketOf(), code: '000000' })).status).toBe(403);
    const ticket = await ticketOf();
    expect((await from().post(`${BASE}/sign-in`, { ticket, code: '000000' })).status).toBe(429);
    const options = await from().post(`${BASE}/sign-in/challenge`, { ticket });
    expect((await from().post(`${BASE}/sign-in`, { ticket, passkey: passkey.get(options.body) })).status).toBe(200);
    expect((await from(shown).post('/cabinet/auth/fresh-sign-in', { recovery_code: 'abcd-efgh-jkmn-pqrs' })).status).toBe(403);
  });

  it('with a password that was replaced meanwhile end without a ticket', async () => {
    const { id } = await aUser(t.app);
    await withPasskey((await openSession(t.app, id)).accessToken);
    await t.app.db.sql(`UPDATE users SET password_hash = 'new' WHERE id = $1::int RETURNING id`, [id]);
    await expect(openSession(t.app, id, { passwordHash: 'old' })).rejects.toMatchObject({ code: 'user_not_active' });
    await expect(openSession(t.app, id, { passwordHash: 'new' })).rejects.toMatchObject({ code: 'second_factor_required' });
  });

  it('with values that no column holds are refused', async () => {
    const { id } = await aUser(t.app);
    const { token } = await withPasskey((await openSession(t.app, id)).accessToken);
    expect((await from(token).delete(`${BASE}/99999999999`)).status).toBe(422);
    expect((await from(token).delete(`${BASE}/2147483647`)).status).toBe(404);
  });

  it('to begin several authenticators at once leave one that can be confirmed', async () => {
    const { id } = await aUser(t.app);
    const { accessToken } = await openSession(t.app, id);
    const begun = await Promise.all([1, 2, 3].map(() => from(accessToken).post(`${BASE}/totp`, { name: 'Phone' })));
    expect(await factorsOf(id)).toBe(1);
    const replies: number[] = [];
    for (const { body } of begun)
      replies.push((await from(accessToken).post(`${BASE}/totp/confirm`, { code: codeOf(body.secret, t.clock) })).status);
    expect(replies.sort()).toEqual([200, 403, 403]);
    t.clock.advance(MINUTE_MS);
  });
});
