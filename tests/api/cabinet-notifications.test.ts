import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type NewEvent, recordEvent } from '../../src/domain/activity/record-event.ts';
import { userClient } from '../support/actors.ts';
import { testServer } from '../support/api.ts';
import { unique } from '../support/builders.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

const PATH = '/cabinet/notifications';
const DEFAULTS = {
  subscription_expiry_enabled: true,
  subscription_expiry_days: 3,
  traffic_warning_enabled: true,
  traffic_warning_percent: 80,
  balance_low_enabled: true,
  balance_low_threshold: 100,
  news_enabled: true,
  promo_offers_enabled: true,
};
let t: TestApp;
let server: FastifyInstance;
beforeAll(async () => {
  t = await testApp();
  server = await testServer(t.app);
});
afterAll(() => server.close());

const setStored = (userId: number, value: unknown) =>
  t.app.db.sql('UPDATE users SET notification_settings = $2::jsonb WHERE id = $1::int', [userId, JSON.stringify(value)]);

describe('spec 05 section 9.1: settings', () => {
  it('merges what is sent, keeps the rest, and reads missing or wrong values as the defaults', async () => {
    const user = await userClient(t.app, server);
    expect((await user.get(PATH)).body).toEqual(DEFAULTS);
    expect(
      (await user.patch(PATH, { news_enabled: false, subscription_expiry_days: 7, promo_offers_enabled: null })).body,
    ).toEqual({
      ...DEFAULTS,
      news_enabled: false,
      subscription_expiry_days: 7,
    });
    const changed = await user.patch(PATH, { balance_low_threshold: 0 });
    expect(changed.body).toEqual({ ...DEFAULTS, news_enabled: false, subscription_expiry_days: 7, balance_low_threshold: 0 });
    expect((await user.patch(PATH, {})).body).toEqual(changed.body);
    await setStored(user.user.id, { news_enabled: 'no', traffic_warning_percent: 90.5, balance_low_enabled: false });
    expect((await user.get(PATH)).body).toEqual({ ...DEFAULTS, balance_low_enabled: false });
    await setStored(user.user.id, []);
    expect((await user.patch(PATH, { news_enabled: false })).body).toEqual({ ...DEFAULTS, news_enabled: false });
  });

  it('keeps two changes at once', async () => {
    const user = await userClient(t.app, server);
    await Promise.all([user.patch(PATH, { news_enabled: false }), user.patch(PATH, { traffic_warning_percent: 95 })]);
    expect((await user.get(PATH)).body).toEqual({ ...DEFAULTS, news_enabled: false, traffic_warning_percent: 95 });
  });

  it.each([
    [{ subscription_expiry_days: 0 }, 'greater_than_equal'],
    [{ subscription_expiry_days: 31 }, 'less_than_equal'],
    [{ traffic_warning_percent: 49 }, 'greater_than_equal'],
    [{ traffic_warning_percent: 100 }, 'less_than_equal'],
    [{ balance_low_threshold: -1 }, 'greater_than_equal'],
  ])('refuses %j', async (body, type) => {
    const user = await userClient(t.app, server);
    const reply = await user.patch(PATH, body);
    expect(reply.status).toBe(422);
    expect(reply.body.detail[0].type).toBe(type);
  });
});

describe('spec 05 section 9.1: the test notification', () => {
  const messagesTo = (messengerId: number | null) =>
    t.app.db.sql<{ html: string }>(
      "SELECT data ->> 'html' AS html FROM jobs.job WHERE name = 'messenger.send' AND data ->> 'messengerId' = $1",
      [String(messengerId)],
    );
  const mailsTo = (email: string) =>
    t.app.db.sql<{ template: string }>('SELECT template FROM outgoing_mails WHERE recipient = $1', [email]);

  it('goes to the messenger, in the language of the user, once a minute', async () => {
    const user = await userClient(t.app, server, { language: 'en' });
    const first = await user.post(`${PATH}/test`);
    expect(first).toMatchObject({
      status: 200,
      body: { success: true, message: expect.stringContaining('request was received') },
    });
    expect(await messagesTo(user.user.messengerId)).toEqual([{ html: expect.stringContaining('test notification') }]);
    const second = await user.post(`${PATH}/test`);
    expect(second.status).toBe(429);
    expect(Number(second.headers['retry-after'])).toBeGreaterThanOrEqual(1);
    expect(await messagesTo(user.user.messengerId)).toHaveLength(1);
  });

  it.each([
    [true, 1],
    [false, 0],
  ])('goes to an address that is verified: %s', async (isVerified, mails) => {
    const email = `note${unique()}@example.com`;
    const user = await userClient(t.app, server, { email });
    await t.app.db.sql('UPDATE users SET messenger_id = NULL, email = $2, email_verified = $3 WHERE id = $1::int', [
      ...[user.user.id, email, isVerified],
    ]);
    t.cache.clear();
    expect((await user.post(`${PATH}/test`)).body.success).toBe(true);
    expect(await mailsTo(email)).toHaveLength(mails);
  });
});

describe('spec 05 section 9.1: history', () => {
  it('lists what happened on the own account, newest first, by pages', async () => {
    const [user, other] = [await userClient(t.app, server, { language: 'en' }), await userClient(t.app, server)];
    const record = (userId: number, eventType: NewEvent['eventType'], day: number, amountKopeks: number | null = null) =>
      recordEvent(
        t.app,
        { kind: 'system', name: 'test' },
        {
          eventType,
          userId,
          extra: {},
          amountKopeks,
          message: 'for administrators',
          occurredAt: new Date(Date.UTC(2026, 0, day)),
        },
      );
    await record(user.user.id, 'balance_topup', 1, 50_000);
    await record(user.user.id, 'purchase', 2, 30_000);
    await record(user.user.id, 'referral_link_visit', 3);
    await record(other.user.id, 'purchase', 4);
    const all = await user.get(`${PATH}/history`);
    expect(all.body).toEqual({
      notifications: [
        {
          id: expect.any(Number),
          type: 'purchase',
          message: 'Subscription bought',
          amount_kopeks: 30_000,
          formatted_amount: '300 ₽',
          created_at: '2026-01-02T00:00:00.000Z',
        },
        expect.objectContaining({ type: 'balance_topup', message: 'Balance topped up' }),
      ],
      total: 2,
      limit: 20,
      offset: 0,
    });
    const second = await user.get(`${PATH}/history`, { query: { limit: 1, offset: 1 } });
    expect(second.body).toEqual({ notifications: [all.body.notifications[1]], total: 2, limit: 1, offset: 1 });
    expect((await user.get(`${PATH}/history`, { query: { offset: 9 } })).body.notifications).toEqual([]);
    for (const query of [{ limit: 0 }, { limit: 101 }, { offset: -1 }] as Record<string, number>[]) {
      expect((await user.get(`${PATH}/history`, { query })).status).toBe(422);
    }
  });
});
