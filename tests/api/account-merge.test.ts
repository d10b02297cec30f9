import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ApiClient, clientOf, testServer } from '../support/api.ts';
import { unique } from '../support/builders.ts';
import { aPair, setUser, tokenFor } from '../support/merge-samples.ts';
import { aStoredSubscription, aTariff, topUp } from '../support/sale-samples.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

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
  return clientOf(server, { 'x-forwarded-for': `203.0.113.${clientCount}` });
}

const UNKNOWN = 'x'.repeat(43);
const WITH_NUL = `${'x'.repeat(42)}%00`;

describe('GET /cabinet/auth/merge/{merge_token}', () => {
  test('shows both accounts and the time left, as often as asked', async () => {
    const email = `merge${unique()}@example.com`;
    const pair = await aPair(t.app, { primary: { email, password_hash: 'x', google_id: `g${unique()}` } });
    await topUp(t.app, pair.secondaryId, 700);
    const tariffId = await aTariff(t.app, { name: 'Silver' });
    await aStoredSubscription(t.app, pair.secondaryId, { tariff_id: tariffId, traffic_used_gb: 1.5, device_limit: 2 });
    const token = await tokenFor(t.app, pair);
    t.clock.advance(90_000);
    const first = await newClient().get(`/cabinet/auth/merge/${token}`);
    expect(first.status).toBe(200);
    expect(first.body.expires_in_seconds).toBe(1_710);
    expect(first.body.primary).toEqual({
      id: pair.primaryId,
      username: expect.any(String),
      first_name: expect.any(String),
      email,
      balance_kopeks: 0,
      auth_methods: ['messenger', 'email', 'google'],
      subscription: null,
      created_at: expect.stringMatching(/Z$/),
    });
    expect(first.body.secondary).toMatchObject({
      id: pair.secondaryId,
      auth_methods: ['messenger'],
      balance_kopeks: 700,
      subscription: {
        status: 'active',
        is_trial: false,
        end_date: expect.stringMatching(/Z$/),
        traffic_limit_gb: 100,
        traffic_used_gb: 1.5,
        device_limit: 2,
        tariff_name: 'Silver',
        autopay_enabled: false,
      },
    });
    expect((await newClient().get(`/cabinet/auth/merge/${token}`)).body).toEqual(first.body);
  });

  test('unknown, expired and malformed tokens', async () => {
    const pair = await aPair(t.app);
    const token = await tokenFor(t.app, pair);
    t.clock.advance(1_800_000);
    for (const text of [UNKNOWN, WITH_NUL, token]) {
      const reply = await newClient().get(`/cabinet/auth/merge/${text}`);
      expect([reply.status, reply.body]).toEqual([404, { detail: 'Merge token is invalid or expired' }]);
    }
    expect((await newClient().get(`/cabinet/auth/merge/${'x'.repeat(31)}`)).body.detail[0]).toMatchObject({
      type: 'string_too_short',
    });
    expect((await newClient().get(`/cabinet/auth/merge/${'x'.repeat(65)}`)).body.detail[0]).toMatchObject({
      type: 'string_too_long',
    });
  });

  test('a deleted user is 404, and the 16th request in a minute is 429', async () => {
    const pair = await aPair(t.app);
    const token = await tokenFor(t.app, pair);
    await t.app.db.sql('DELETE FROM users WHERE id = $1::int RETURNING id', [pair.secondaryId]);
    const guest = newClient();
    for (let look = 1; look <= 15; look++) {
      const reply = await guest.get(`/cabinet/auth/merge/${token}`);
      expect([reply.status, reply.body.detail]).toEqual([404, 'One or both users not found']);
    }
    expect((await guest.get(`/cabinet/auth/merge/${token}`)).status).toBe(429);
  });
});

describe('POST /cabinet/auth/merge/{merge_token}', () => {
  test('merges and signs in to the primary, and uses up the token', async () => {
    const pair = await aPair(t.app);
    await topUp(t.app, pair.secondaryId, 12_345);
    const path = `/cabinet/auth/merge/${await tokenFor(t.app, pair)}`;
    const reply = await newClient().post(path, { keep_subscription_from: pair.secondaryId, rotate_refresh_token: true });
    expect(reply.status).toBe(200);
    expect(reply.body).toMatchObject({
      success: true,
      user: { id: pair.primaryId, balance_kopeks: 12_345, balance_rubles: 123.45, auth_type: 'messenger' },
    });
    const me = await newClient()
      .with({ authorization: `Bearer ${reply.body.access_token}` })
      .get('/cabinet/auth/me');
    expect(me.body).toEqual(reply.body.user);
    const refreshed = await newClient().post('/cabinet/auth/refresh', { refresh_token: reply.body.refresh_token });
    expect(refreshed.body.refresh_token).not.toBe(reply.body.refresh_token);
    const again = await newClient().post(path, { keep_subscription_from: pair.secondaryId });
    expect([again.status, again.body]).toEqual([404, { detail: 'Merge token is invalid, expired, or already consumed' }]);
  });

  test('an unknown token is 404, whatever its characters are', async () => {
    for (const text of [UNKNOWN, WITH_NUL]) {
      const reply = await newClient().post(`/cabinet/auth/merge/${text}`, { keep_subscription_from: 1 });
      expect([reply.status, reply.body]).toEqual([404, { detail: 'Merge token is invalid, expired, or already consumed' }]);
    }
  });

  test('tokens of the secondary open nothing afterwards', async () => {
    const pair = await aPair(t.app);
    const other = await aPair(t.app);
    const intoSecondary = await newClient().post(
      `/cabinet/auth/merge/${await tokenFor(t.app, { primaryId: pair.secondaryId, secondaryId: other.secondaryId })}`,
      { keep_subscription_from: pair.secondaryId },
    );
    const session = newClient().with({ authorization: `Bearer ${intoSecondary.body.access_token}` });
    expect((await session.get('/cabinet/auth/me')).status).toBe(200);
    await newClient().post(`/cabinet/auth/merge/${await tokenFor(t.app, pair)}`, { keep_subscription_from: pair.primaryId });
    expect((await session.get('/cabinet/auth/me')).status).toBe(403);
    const refresh = await newClient().post('/cabinet/auth/refresh', { refresh_token: intoSecondary.body.refresh_token });
    expect(refresh.status).toBe(401);
  });

  test('a foreign account to keep and accounts that are not active are 400, and the token stays', async () => {
    const pair = await aPair(t.app, { secondary: { status: 'blocked' } });
    const path = `/cabinet/auth/merge/${await tokenFor(t.app, pair)}`;
    const foreign = await newClient().post(path, { keep_subscription_from: 2_000_000_000 });
    expect([foreign.status, foreign.body.detail]).toEqual([
      400,
      'keep_subscription_from must be one of the two user IDs being merged',
    ]);
    const blocked = await newClient().post(path, { keep_subscription_from: pair.primaryId });
    expect([blocked.status, blocked.body.detail]).toEqual([
      400,
      'Account merge cannot be completed. The accounts may have already been merged or deleted.',
    ]);
    await setUser(t.app, pair.secondaryId, { status: 'active' });
    expect((await newClient().post(path, { keep_subscription_from: pair.primaryId })).status).toBe(200);
  });

  test('the sixth try in a minute is 429, and a bad body counts for nothing', async () => {
    const guest = newClient();
    const bad = await guest.post(`/cabinet/auth/merge/${UNKNOWN}`, { keep_subscription_from: 'me' });
    expect(bad.body.detail[0]).toMatchObject({ loc: ['body', 'keep_subscription_from'], type: 'int_type' });
    for (let attempt = 1; attempt <= 5; attempt++) {
      expect((await guest.post(`/cabinet/auth/merge/${UNKNOWN}`, { keep_subscription_from: 1 })).status).toBe(404);
    }
    expect((await guest.post(`/cabinet/auth/merge/${UNKNOWN}`, { keep_subscription_from: 1 })).status).toBe(429);
  });
});
