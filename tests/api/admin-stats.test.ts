import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { DAY_MS } from '../../src/core/clock.ts';
import { postMovement } from '../../src/domain/ledger/post-movement.ts';
import type { Movement } from '../../src/domain/ledger/types.ts';
import { type ActorClient, adminClient } from '../support/actors.ts';
import { clientOf, testServer } from '../support/api.ts';
import { aUser } from '../support/builders.ts';
import { type ProvisioningTest, startAppWithPanel, unconfigured, withPort } from '../support/provisioning-setup.ts';
import { aServer, aStoredSubscription, aTariff } from '../support/sale-samples.ts';
import { storeRow } from '../support/stored-rows.ts';
import { emptyDatabase } from '../support/test-database.ts';
import { GERMAN_NODE, lastAudit } from '../support/vpnpanel-setup.ts';

const ROOT = '/cabinet/admin/stats';
let t: ProvisioningTest;
let server: FastifyInstance;
let admin: ActorClient;
const ago = (ms: number) => new Date(t.clock.now().getTime() - ms);
const sql = (text: string, values: unknown[] = []) => t.app.db.sql(`${text} RETURNING 1 AS done`, values);

beforeAll(async () => {
  t = await startAppWithPanel();
  await emptyDatabase(t.database);
  server = await testServer(t.app);
  admin = await adminClient(t.app, server, ['stats:read', 'vpnpanel:manage', 'sales_stats:read']);
});
afterAll(async () => {
  await server.close();
  await t.panel.close();
  await emptyDatabase(t.database);
});
beforeEach(() => t.panel.faults.set({}));

async function post(userId: number, amountKopeks: number, fields: Partial<Movement> = {}): Promise<number> {
  const posted = await postMovement(t.app, {
    userId,
    type: 'deposit',
    amountKopeks,
    contra: { kind: 'provider_clearing', provider: 'yookassa' },
    paymentMethod: 'yookassa',
    description: null,
    ...fields,
  });
  if (posted.outcome !== 'posted') throw new Error(posted.outcome);
  return posted.transactionId;
}

describe('06 4.3: nodes', () => {
  test('counts, with uptime and versions of the panel', async () => {
    const { status, body } = await admin.get(`${ROOT}/nodes`);
    expect(status).toBe(200);
    expect(body.total).toBe(body.nodes.length);
    expect(body.total).toBe(body.online + body.offline + body.disabled);
    const node = body.nodes.find(({ uuid }: { uuid: string }) => uuid === GERMAN_NODE);
    expect(node).toMatchObject({
      xray_version: expect.any(String),
      node_version: expect.any(String),
      uptime: expect.stringMatching(/^\d+$/),
    });
    expect(node).toMatchObject({ total_ram: expect.any(String), xray_uptime: expect.any(String), is_disabled: false });
  });

  test('a panel without an answer gives zero counts, an empty list and 200, in the dashboard too', async () => {
    t.panel.faults.set({ status: 500 });
    const empty = { total: 0, online: 0, offline: 0, disabled: 0, total_users_online: 0, nodes: [] };
    expect((await admin.get(`${ROOT}/nodes`)).body).toEqual(empty);
    const { status, body } = await admin.get(`${ROOT}/dashboard`);
    expect([status, body.nodes]).toEqual([200, empty]);
  });

  test('restart and toggle: the new state, 404 for an unknown node, 400 for a panel that refuses', async () => {
    const node = `${ROOT}/nodes/${GERMAN_NODE}`;
    expect((await admin.post(`${node}/restart`)).body).toEqual({ success: true, message: 'Node restart initiated' });
    expect((await admin.post(`${node}/toggle`)).body).toEqual({ success: true, message: 'Node disabled', is_disabled: true });
    expect((await admin.get(`${ROOT}/nodes`)).body.disabled).toBe(1);
    expect((await admin.post(`${node}/toggle`)).body).toEqual({ success: true, message: 'Node enabled', is_disabled: false });
    expect(await lastAudit(t.app, `${node}/toggle`)).toMatchObject({ resourceId: GERMAN_NODE });
    const unknown = '00000000-0000-4000-8000-00000000dead';
    expect(await admin.post(`${ROOT}/nodes/${unknown}/toggle`)).toMatchObject({
      status: 404,
      body: { detail: 'Node not found' },
    });
    expect(await admin.post(`${ROOT}/nodes/${unknown}/restart`)).toMatchObject({
      status: 400,
      body: { detail: 'Failed to restart node' },
    });
    // Spec 10 R3: as a node that the panel does not have.
    expect((await admin.post(`${ROOT}/nodes/nonsense/restart`)).status).toBe(400);
    expect((await admin.post(`${ROOT}/nodes/nonsense/toggle`)).status).toBe(404);
    t.panel.faults.set({ status: 500 });
    expect(await admin.post(`${node}/restart`)).toMatchObject({ status: 400, body: { detail: 'Failed to restart node' } });
    expect(await admin.post(`${node}/toggle`)).toMatchObject({ status: 400, body: { detail: 'Failed to toggle node' } });
  });

  test('toggle: 400 for a node that the panel lists and does not have any more', async () => {
    const gone = '00000000-0000-4000-8000-00000000dead';
    const listNodes = async () => (await t.adapter.listNodes()).map((node) => ({ ...node, uuid: gone, isDisabled: false }));
    const changed = await testServer(withPort(t.app, { ...t.adapter, listNodes }));
    try {
      const client = clientOf(changed, { authorization: `Bearer ${admin.accessToken}` });
      const { status, body } = await client.post(`${ROOT}/nodes/${gone}/toggle`);
      expect([status, body.detail]).toEqual([400, 'Failed to disable node']);
    } finally {
      await changed.close();
    }
  });

  test('a panel that is not configured: no nodes, and 400 for the actions', async () => {
    const app = unconfigured(t.app);
    const bare = await testServer(app);
    const client = await adminClient(app, bare, ['stats:read', 'vpnpanel:manage']);
    expect(await client.get(`${ROOT}/nodes`)).toMatchObject({ status: 200, body: { total: 0, nodes: [] } });
    expect(await client.post(`${ROOT}/nodes/${GERMAN_NODE}/restart`)).toMatchObject({ status: 400 });
    await bare.close();
  });
});

describe('06 4.3: dashboard, tops and payments', () => {
  let referrer: { id: number };
  let buyer: { id: number };
  let tariff: number;
  let campaign: number;
  beforeAll(async () => {
    await sql('DELETE FROM tariffs');
    referrer = await aUser(t.app);
    buyer = await aUser(t.app);
    await sql('UPDATE users SET referred_by_id = $1::int, has_had_paid_subscription = true WHERE id = $2::int', [
      referrer.id,
      buyer.id,
    ]);
    tariff = await aTariff(t.app, { name: 'Plan' });
    const { id: serverId, uuid } = await aServer(t.app);
    const subscription = await aStoredSubscription(t.app, buyer.id, {
      tariff_id: tariff,
      connected_squads: [uuid],
      created_at: ago(2 * DAY_MS),
    });
    await storeRow(t.app, 'SubscriptionServer', {
      subscriptionId: subscription,
      serverSquadId: serverId,
      paidPriceKopeks: 4200,
      connectedAt: new Date(),
    });
    await aStoredSubscription(t.app, referrer.id, { tariff_id: tariff, is_trial: true });
    campaign = (await storeRow(t.app, 'AdvertisingCampaign', { name: 'Spring' })).id;
    await storeRow(t.app, 'CampaignRegistration', { campaignId: campaign, userId: buyer.id });
    const source = await post(buyer.id, 10_000);
    await post(buyer.id, 500, { createdAt: ago(40 * DAY_MS) });
    await post(buyer.id, 77, { paymentMethod: 'manual', contra: { kind: 'manual_adjustment' } });
    await post(buyer.id, -3_000, {
      type: 'subscription_payment',
      paymentMethod: 'balance',
      contra: { kind: 'sales_revenue', product: 'tariff' },
    });
    await storeRow(t.app, 'ReferralEarning', {
      userId: referrer.id,
      referralId: buyer.id,
      amountKopeks: 900,
      reason: 'referral_commission',
      referralTransactionId: source,
      createdAt: ago(3 * DAY_MS),
    });
  });

  test('dashboard', async () => {
    const { status, body } = await admin.get(`${ROOT}/dashboard`);
    expect(status).toBe(200);
    const { nodes, ...rest } = body;
    const day = t.clock.now().toISOString().slice(0, 10);
    expect(rest).toEqual({
      subscriptions: {
        total: 2,
        active: 2,
        trial: 1,
        paid: 1,
        expired: 0,
        purchased_today: 1,
        purchased_week: 1,
        purchased_month: 1,
        trial_to_paid_conversion: 50,
      },
      financial: {
        income_today_kopeks: 10_000,
        income_today_rubles: 100,
        income_month_kopeks: 10_000,
        income_month_rubles: 100,
        income_total_kopeks: 10_500,
        income_total_rubles: 105,
        subscription_income_kopeks: 3_000,
        subscription_income_rubles: 30,
      },
      servers: {
        total_servers: 1,
        available_servers: 1,
        servers_with_connections: 1,
        total_revenue_kopeks: 4_200,
        total_revenue_rubles: 42,
      },
      revenue_chart: [{ date: day, amount_kopeks: 10_000, amount_rubles: 100 }],
      tariff_stats: {
        tariffs: [
          {
            tariff_id: tariff,
            tariff_name: 'Plan',
            active_subscriptions: 2,
            trial_subscriptions: 1,
            purchased_today: 0,
            purchased_week: 1,
            purchased_month: 1,
          },
        ],
        total_tariff_subscriptions: 2,
      },
    });
    expect(nodes.total).toBeGreaterThan(0);
  });

  test('system info', async () => {
    const { body } = await admin.get(`${ROOT}/system-info`);
    // The administrator is a user too.
    expect(body).toMatchObject({ python_version: process.versions.node, subscriptions_active: 2 });
    expect([typeof body.bot_version, body.uptime_seconds >= 0, body.users_total >= 3]).toEqual(['string', true, true]);
  });

  test('referrers have windows and totals over all, with the limit cut to 1..100', async () => {
    const { body } = await admin.get(`${ROOT}/referrals/top`, { query: { limit: 0 } });
    const item = {
      user_id: referrer.id,
      invited_count: 1,
      invited_today: 1,
      invited_week: 1,
      invited_month: 1,
      earnings_today_kopeks: 0,
      earnings_week_kopeks: 900,
      earnings_month_kopeks: 900,
      earnings_total_kopeks: 900,
    };
    expect(body).toMatchObject({
      by_earnings: [item],
      by_invited: [item],
      total_referrers: 1,
      total_referrals: 1,
      total_earnings_kopeks: 900,
    });
    expect((await admin.get(`${ROOT}/referrals/top`, { query: { limit: 10 ** 9 } })).status).toBe(200);
  });

  test('campaigns: lifetime deposits of registrants, and the larger of payers and users who had paid', async () => {
    const { body } = await admin.get(`${ROOT}/campaigns/top`);
    expect(body).toMatchObject({
      campaigns: [
        {
          id: campaign,
          registrations: 1,
          conversions: 1,
          conversion_rate: 100,
          total_revenue_kopeks: 10_500,
          avg_revenue_per_user_kopeks: 10_500,
        },
      ],
      total_campaigns: 1,
      total_registrations: 1,
      total_revenue_kopeks: 10_500,
    });
  });

  test('payments: newest first, absolute amounts, totals of providers', async () => {
    const { body } = await admin.get(`${ROOT}/payments/recent`, { query: { limit: 3 } });
    expect(body).toMatchObject({ total_count: 4, total_today_kopeks: 10_000, total_week_kopeks: 10_000 });
    expect(body.payments.map((row: { amount_kopeks: number }) => row.amount_kopeks)).toEqual([3_000, 77, 10_000]);
    expect(body.payments[0]).toMatchObject({
      type: 'subscription_payment',
      type_display: 'Оплата подписки',
      user_id: buyer.id,
      is_completed: true,
    });
    expect(body.payments[1]).toMatchObject({
      type: 'deposit',
      type_display: 'Пополнение',
      payment_method: 'manual',
      amount_rubles: 0.77,
    });
  });
});

describe('06 4.5: sales', () => {
  test.each(['summary', 'trials', 'subscriptions', 'renewals', 'addons', 'deposits'])(
    '%s: every form of a period, and refusals',
    async (name) => {
      const get = (query: Record<string, string | number>) => admin.get(`${ROOT}/sales/${name}`, { query });
      for (const query of [
        {},
        { days: 0 },
        { days: -5 },
        { days: 99_999 },
        { start_date: 'x' },
        { start_date: '2026-01-01', end_date: '2026-01-31' },
      ]) {
        expect(await get(query as Record<string, string>)).toMatchObject({ status: 200 });
      }
      const refused = async (start_date: string, end_date: string) => {
        const { status, body } = await get({ start_date, end_date });
        return [status, body.detail];
      };
      expect(await refused('x', '2026-01-01')).toEqual([400, 'Invalid start_date format']);
      expect(await refused('2026-01-01', 'x')).toEqual([400, 'Invalid end_date format']);
      expect(await refused('2026-01-02', '2026-01-01')).toEqual([400, 'start_date must be before end_date']);
      expect(await refused('2020-01-01', '2026-01-01')).toEqual([400, 'Date range cannot exceed 730 days']);
      expect((await get({ days: 'many' })).status).toBe(422);
    },
  );

  test('another permission than for the other statistics', async () => {
    const other = await adminClient(t.app, server, ['stats:read']);
    expect((await other.get(`${ROOT}/sales/summary`)).status).toBe(403);
  });

  test('an unexpected failure has the text of its operation', async () => {
    await t.app.db.sql('SELECT 1 AS done');
    await t.database.jobDatabase.executeSql('ALTER TABLE sales_days RENAME TO sales_days_away');
    try {
      expect(await admin.get(`${ROOT}/sales/deposits`)).toMatchObject({
        status: 500,
        body: { detail: 'Failed to load deposits statistics' },
      });
      expect(await admin.get(`${ROOT}/dashboard`)).toMatchObject({
        status: 500,
        body: { detail: 'Failed to load dashboard statistics' },
      });
    } finally {
      await t.database.jobDatabase.executeSql('ALTER TABLE sales_days_away RENAME TO sales_days');
    }
  });
});
