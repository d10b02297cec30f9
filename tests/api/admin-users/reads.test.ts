import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { postMovement } from '../../../src/domain/ledger/post-movement.ts';
import { type ActorClient, adminClient, userClient } from '../../support/actors.ts';
import { clientOf, testServer } from '../../support/api.ts';
import { aUser, unique } from '../../support/builders.ts';
import { aDeposit } from '../../support/referral-samples.ts';
import { aMembership, aStoredSubscription, aTariff, topUp } from '../../support/sale-samples.ts';
import { storeRow, storeRows } from '../../support/stored-rows.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

let t: TestApp;
let server: FastifyInstance;
let api: ActorClient;
beforeAll(async () => {
  t = await testApp();
  server = await testServer(t.app);
  api = await adminClient(t.app, server, ['users:*']);
});
afterAll(() => server.close());

const ROOT = '/cabinet/admin/users';
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const pay = (userId: number, type: 'subscription_payment' | 'gift_payment' | 'withdrawal', kopeks: number) =>
  postMovement(t.app, {
    userId,
    type,
    amountKopeks: -kopeks,
    paymentMethod: 'balance',
    description: type,
    contra: { kind: 'sales_revenue', product: 'tariff' },
  });

describe('access', () => {
  const GETS = ['', '/stats', '/1', '/by-messenger/1', '/1/panel-info', '/1/node-usage', '/1/available-tariffs', '/1/devices'];
  const MORE = ['/1/referrals', '/1/transactions', '/1/gifts'];

  test.each([...GETS, ...MORE])('GET %s wants users:read', async (path) => {
    expect((await clientOf(server).get(ROOT + path)).status).toBe(401);
    expect((await (await userClient(t.app, server)).get(ROOT + path)).status).toBe(403);
    const other = await adminClient(t.app, server, ['users:edit', 'tariffs:read']);
    expect((await other.get(ROOT + path)).status).toBe(403);
  });

  test('sync/status wants users:sync', async () => {
    const reader = await adminClient(t.app, server, ['users:read']);
    expect((await reader.get(`${ROOT}/1/sync/status`)).status).toBe(403);
  });

  test.each([...GETS.slice(2), ...MORE, '/1/sync/status'])('GET %s of nobody is 404', async (path) => {
    for (const id of ['2000000000', '4294967297', '0', '-5']) {
      const reply = await api.get(ROOT + path.replace('/1', `/${id}`));
      if (path.startsWith('/by-messenger')) continue;
      expect(reply, path).toMatchObject({ status: 404, body: { detail: 'User not found' } });
    }
  });
});

describe('the list', () => {
  test('shows each field of the contract', async () => {
    const user = await aUser(t.app);
    const tariffId = await aTariff(t.app);
    await topUp(t.app, user.id, 5_050);
    await pay(user.id, 'subscription_payment', 1_000);
    await aStoredSubscription(t.app, user.id, { tariff_id: tariffId });
    await t.app.db.sql('UPDATE users SET restriction_topup = true WHERE id = $1::int RETURNING id', [user.id]);
    const reply = await api.get(ROOT, { query: { search: String(user.messengerId) } });
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({
      total: 1,
      offset: 0,
      limit: 50,
      users: [
        {
          id: user.id,
          messenger_id: user.messengerId,
          username: expect.any(String),
          first_name: expect.any(String),
          last_name: null,
          full_name: expect.stringMatching(/^User /),
          status: 'active',
          balance_kopeks: 4_050,
          balance_rubles: 40.5,
          created_at: expect.stringMatching(TIMESTAMP),
          last_activity: expect.stringMatching(TIMESTAMP),
          has_subscription: true,
          subscription_status: 'active',
          subscription_is_trial: false,
          subscription_end_date: expect.stringMatching(TIMESTAMP),
          promo_group_id: expect.any(Number),
          promo_group_name: 'Default',
          total_spent_kopeks: 1_000,
          purchase_count: 1,
          has_restrictions: true,
          restriction_topup: true,
          restriction_subscription: false,
        },
      ],
    });
  });

  test.each([
    ['limit=0', 'limit', 'greater_than_equal'],
    ['limit=201', 'limit', 'less_than_equal'],
    ['offset=-1', 'offset', 'greater_than_equal'],
    ['sort_by=name', 'sort_by', 'enum'],
    ['status=gone', 'status', 'enum'],
    [`search=${'x'.repeat(256)}`, 'search', 'string_too_long'],
    [`email=${'x'.repeat(256)}`, 'email', 'string_too_long'],
  ])('%s is 422', async (query, field, type) => {
    const reply = await api.get(`${ROOT}?${query}`);
    expect(reply).toMatchObject({ status: 422, body: { detail: [{ loc: ['query', field], type }] } });
  });

  test('spec 01 H23: odd searches are no errors', async () => {
    for (const search of ['%', '_', '99999999999999999999', "' OR 1=1 --", '\\']) {
      expect((await api.get(ROOT, { query: { search } })).status, search).toBe(200);
    }
  });
});

test('stats', async () => {
  const { status, body } = await api.get(`${ROOT}/stats`);
  expect(status).toBe(200);
  expect(Object.keys(body)).toHaveLength(17);
  expect(body.total_users).toBe(body.active_users + body.blocked_users);
  expect(body.avg_balance_kopeks).toBe(Math.trunc(body.total_balance_kopeks / body.active_users));
});

describe('one user', () => {
  test('with everything that belongs to it', async () => {
    const [referrer, user, referral] = [
      await aUser(t.app),
      await aUser(t.app, { email: `d${unique()}@example.com` }),
      await aUser(t.app),
    ];
    const refer = 'UPDATE users SET referred_by_id = $2::int WHERE id = $1::int RETURNING id';
    await t.app.db.sql(refer, [user.id, referrer.id]);
    await t.app.db.sql(refer, [referral.id, user.id]);
    await topUp(t.app, user.id, 9_000);
    await pay(user.id, 'subscription_payment', 2_000);
    await pay(user.id, 'gift_payment', 500);
    const tariffId = await aTariff(t.app, { name: 'Bronze' });
    const subscriptionId = await aStoredSubscription(t.app, user.id, { tariff_id: tariffId, traffic_used_gb: 1.5 });
    const now = t.clock.now();
    await storeRows(t.app, 'TrafficPurchase', [
      {
        subscriptionId,
        trafficGb: 5,
        expiresAt: new Date(now.getTime() + 2.5 * 86_400_000),
        createdAt: new Date(now.getTime() - 1_000),
      },
      { subscriptionId, trafficGb: 7, expiresAt: new Date(now.getTime() - 1_000), createdAt: new Date(now.getTime() - 9e8) },
    ]);
    await storeRow(t.app, 'ReferralEarning', {
      userId: user.id,
      referralId: referral.id,
      amountKopeks: 333,
      reason: 'referral_first_topup',
      referralTransactionId: await aDeposit(t.app, referral.id, 1_000),
    });
    const { id: campaignId } = await storeRow(t.app, 'AdvertisingCampaign', { name: 'Spring' });
    await storeRow(t.app, 'CampaignRegistration', { campaignId, userId: user.id });
    const { status, body } = await api.get(`${ROOT}/${user.id}`);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      id: user.id,
      balance_kopeks: 6_500,
      balance_rubles: 65,
      email_verified: true,
      total_spent_kopeks: 2_000,
      purchase_count: 1,
      promo_group: { name: 'Default', is_default: true },
      referral: {
        referrals_count: 1,
        total_earnings_kopeks: 333,
        referred_by_id: referrer.id,
        referred_by_username: expect.any(String),
      },
      subscription: {
        id: subscriptionId,
        status: 'active',
        is_trial: false,
        is_active: true,
        tariff_name: 'Bronze',
        traffic_used_gb: 1.5,
        days_remaining: 10,
        purchased_traffic_gb: 0,
        traffic_purchases: [
          { traffic_gb: 5, days_remaining: 2, is_expired: false },
          { traffic_gb: 7, days_remaining: 0, is_expired: true },
        ],
      },
      campaign_name: 'Spring',
      campaign_id: expect.any(Number),
      recent_transactions: [
        { type: 'gift_payment', amount_kopeks: -500, amount_rubles: -5 },
        { type: 'subscription_payment', amount_kopeks: -2_000 },
        { type: 'deposit', amount_kopeks: 9_000 },
      ],
    });
    expect(await api.get(`${ROOT}/by-messenger/${user.messengerId}`)).toMatchObject({ status: 200, body });
    expect((await api.get(`${ROOT}/by-messenger/${user.id}`)).status).toBe(404);
    const paged = await api.get(`${ROOT}/${user.id}/transactions`, { query: { limit: 1, offset: 1 } });
    expect(paged.body).toEqual({ transactions: [body.recent_transactions[1]], total: 3, offset: 1, limit: 1 });
    const typed = await api.get(`${ROOT}/${user.id}/transactions`, { query: { transaction_type: 'deposit' } });
    expect(typed.body).toMatchObject({ total: 1, transactions: [{ type: 'deposit' }] });
    expect((await api.get(`${ROOT}/${user.id}/referrals`)).body).toMatchObject({ total: 1, users: [{ id: referral.id }] });
  });

  test('gifts bought and received, with cut tokens', async () => {
    const [buyer, receiver] = [await aUser(t.app), await aUser(t.app)];
    const tariffId = await aTariff(t.app, { name: 'Present', device_limit: 3 });
    const token = `${unique()}`.padEnd(64, 'x');
    for (const [isGift, text] of [
      [true, token],
      [false, `n${token}`.slice(0, 64)],
    ] as const) {
      await storeRow(t.app, 'GuestPurchase', {
        token: text,
        code: text.slice(0, 12),
        source: 'cabinet',
        contactType: 'email',
        contactValue: 'b@example.com',
        buyerUserId: buyer.id,
        isGift,
        tariffId,
        periodDays: 30,
        amountKopeks: 12_300,
        status: 'delivered',
        userId: receiver.id,
        paidAt: new Date(),
        deliveredAt: new Date(),
      });
    }
    const { body } = await api.get(`${ROOT}/${buyer.id}/gifts`);
    expect(body).toMatchObject({
      sent_total: 1,
      received_total: 0,
      received: [],
      sent: [
        {
          token: token.slice(0, 12),
          tariff_name: 'Present',
          device_limit: 3,
          amount_kopeks: 12_300,
          status: 'delivered',
          buyer_user_id: buyer.id,
          receiver_user_id: receiver.id,
          receiver_full_name: expect.stringMatching(/^User /),
        },
      ],
    });
    expect((await api.get(`${ROOT}/${receiver.id}/gifts`)).body).toMatchObject({ sent_total: 0, received_total: 1 });
  });

  test('available tariffs by the group of the user', async () => {
    const user = await aUser(t.app);
    const groupId = await aMembership(t.app, user.id, { priority: 50 });
    const open = await aTariff(t.app, { display_order: -5, period_prices: { 90: 80_000, 30: 30_000 } });
    const mine = await aTariff(t.app, { display_order: -4 });
    const foreign = await aTariff(t.app, { display_order: -3 });
    const inactive = await aTariff(t.app, { display_order: -2, is_active: false });
    const other = await aMembership(t.app, (await aUser(t.app)).id, {});
    await storeRow(t.app, 'TariffPromoGroup', { tariffId: mine, promoGroupId: groupId });
    await storeRow(t.app, 'TariffPromoGroup', { tariffId: foreign, promoGroupId: other });
    await aStoredSubscription(t.app, user.id, { tariff_id: mine });
    const { body } = await api.get(`${ROOT}/${user.id}/available-tariffs`);
    const shown = body.tariffs
      .slice(0, 3)
      .map((tariff: Record<string, unknown>) => [tariff.id, tariff.is_available, tariff.requires_promo_group]);
    expect(shown).toEqual([
      [open, true, false],
      [mine, true, true],
      [foreign, false, true],
    ]);
    expect(body.tariffs[0].period_prices).toEqual([
      { days: 30, price_kopeks: 30_000, price_rubles: 300 },
      { days: 90, price_kopeks: 80_000, price_rubles: 800 },
    ]);
    expect(body).toMatchObject({
      user_id: user.id,
      promo_group_id: groupId,
      current_tariff_id: mine,
      total: body.tariffs.length,
    });
    const all = await api.get(`${ROOT}/${user.id}/available-tariffs`, { query: { include_inactive: true } });
    expect(all.body.tariffs.map((tariff: { id: number }) => tariff.id)).toContain(inactive);
  });

  test('without a panel user there is nothing of the panel', async () => {
    const user = await aUser(t.app);
    expect((await api.get(`${ROOT}/${user.id}/panel-info`)).body).toMatchObject({ found: false, used_traffic_bytes: 0 });
    expect((await api.get(`${ROOT}/${user.id}/node-usage`)).body).toEqual({ items: [], categories: [], period_days: 30 });
    expect((await api.get(`${ROOT}/${user.id}/devices`)).body).toEqual({ devices: [], total: 0, device_limit: 0 });
    expect((await api.get(`${ROOT}/${user.id}/sync/status`)).body).toMatchObject({
      user_id: user.id,
      panel_found: false,
      has_differences: false,
      differences: [],
      bot_squads: [],
    });
  });
});
