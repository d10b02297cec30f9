import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { addDays, startOfDay } from '../../../src/core/clock.ts';
import { type ActorClient, adminClient } from '../../support/actors.ts';
import { type ApiClient, clientOf } from '../../support/api.ts';
import { aUser } from '../../support/builders.ts';
import { aCampaign } from '../../support/campaign-samples.ts';
import { setUser } from '../../support/merge-samples.ts';
import { aServer, aStoredSubscription, aTariff, rowOf, topUp } from '../../support/sale-samples.ts';
import type { TestApp } from '../../support/test-app.ts';
import {
  ACTIONS,
  ADMIN,
  aBody,
  aCampaignBy,
  aPartner,
  type CampaignFixture,
  campaignFixture,
  signIn,
  UNKNOWN,
} from './campaign-fixture.ts';

let fixture: CampaignFixture;
let t: TestApp;
let server: FastifyInstance;
let admin: ActorClient;

beforeAll(async () => {
  fixture = await campaignFixture();
  ({ t, server, admin } = fixture);
});
afterAll(() => server.close());
beforeEach(async () => {
  await t.app.db.sql('DELETE FROM advertising_campaigns');
});

const create = (fields: Record<string, unknown> = {}) => aCampaignBy(admin, ADMIN, fields);

describe('Cabinet Admin', () => {
  it('answers the detail with tariff, partner and links', async () => {
    const [tariffId, partner] = [await aTariff(t.app, { name: 'Gold' }), await aPartner(fixture)];
    const fields = { bonus_type: 'tariff', tariff_id: tariffId, tariff_duration_days: 9, partner_user_id: partner };
    const made = await create({ ...fields, balance_bonus_kopeks: 0 });
    const slug = made.start_parameter;
    expect(made).toEqual({
      id: expect.any(Number),
      name: 'Spring',
      start_parameter: slug,
      bonus_type: 'tariff',
      is_active: true,
      balance_bonus_kopeks: 0,
      balance_bonus_rubles: 0,
      subscription_duration_days: null,
      subscription_traffic_gb: null,
      subscription_device_limit: null,
      subscription_squads: [],
      tariff_id: tariffId,
      tariff_duration_days: 9,
      tariff: { id: tariffId, name: 'Gold' },
      partner_user_id: partner,
      partner_name: expect.stringMatching(/^User \d+$/),
      created_by: admin.user.id,
      created_at: t.app.clock.now().toISOString(),
      updated_at: t.app.clock.now().toISOString(),
      deep_link: expect.stringMatching(new RegExp(`^https://[^/]+/\\w+\\?start=${slug}$`)),
      web_link: `https://app.example.com/?campaign=${slug}`,
    });
    expect((await admin.get(`${ADMIN}/${made.id}`)).body).toEqual(made);
    expect((await admin.get(`${ADMIN}/${UNKNOWN}`)).body).toEqual({ detail: 'Campaign not found' });
  });

  it('takes letters, digits, underscore and hyphen in a slug', async () => {
    for (const slug of ['a b', 'a.b', 'аб', 'a/b', 'a\n', ' ab', 'a&b']) {
      const made = await admin.post(ADMIN, aBody({ start_parameter: slug }));
      expect([slug, made.status, made.body.detail[0].type]).toEqual([slug, 422, 'string_pattern_mismatch']);
    }
    expect((await create({ start_parameter: 'Az_09-' })).start_parameter).toBe('Az_09-');
    const { id } = await create();
    expect((await admin.put(`${ADMIN}/${id}`, { start_parameter: 'a b' })).status).toBe(422);
  });

  it('requires the tariff of a tariff bonus', async () => {
    const detail = { detail: 'Tariff ID is required for tariff bonus type' };
    const made = await admin.post(ADMIN, aBody({ bonus_type: 'tariff', tariff_duration_days: 3 }));
    expect([made.status, made.body]).toEqual([400, detail]);
    const { id } = await create();
    expect((await admin.put(`${ADMIN}/${id}`, { bonus_type: 'tariff' })).body).toEqual(detail);
  });

  it('takes approved partners only, and null takes the campaign away again', async () => {
    const [partner, stranger] = [await aPartner(fixture), (await aUser(t.app)).id];
    const detail = { detail: 'Partner not found or not approved' };
    for (const id of [stranger, UNKNOWN, -1, 9_007_199_254_740_000]) {
      const made = await admin.post(ADMIN, aBody({ partner_user_id: id }));
      expect([made.status, made.body]).toEqual([400, detail]);
    }
    const { id } = await create({ partner_user_id: partner });
    expect((await admin.put(`${ADMIN}/${id}`, { partner_user_id: stranger })).body).toEqual(detail);
    // A partner who is none any more does not stand in the way of other changes.
    await setUser(t.app, partner, { partner_status: 'none', first_name: null });
    expect((await admin.put(`${ADMIN}/${id}`, { name: 'x' })).body).toMatchObject({
      partner_user_id: partner,
      partner_name: expect.stringMatching(/^user\d+$/),
    });
    const taken = await admin.put(`${ADMIN}/${id}`, { partner_user_id: null });
    expect(taken.body).toMatchObject({ partner_user_id: null, partner_name: null });
  });

  it('switches on and off, and leaves a trace of what was before and after', async () => {
    const { id } = await create();
    const off = await admin.post(`${ADMIN}/${id}/toggle`);
    expect(off.body).toEqual({ id, is_active: false, message: 'Campaign deactivated' });
    expect((await admin.post(`${ADMIN}/${id}/toggle`)).body).toEqual({ id, is_active: true, message: 'Campaign activated' });
    const unknown = await admin.post(`${ADMIN}/${UNKNOWN}/toggle`);
    expect([unknown.status, unknown.body]).toEqual([404, { detail: 'Campaign not found' }]);
    await admin.put(`${ADMIN}/${id}`, { name: 'Later' });
    await admin.delete(`${ADMIN}/${id}`);
    const rows = await t.app.db.sql<{ action: string; details: Record<string, { name?: string; isActive?: boolean } | null> }>(
      `SELECT action, details FROM admin_audit_log WHERE resource_id = $1 AND status = 'success' AND resource_type = 'campaigns'
       ORDER BY id`,
      [String(id)],
    );
    expect(rows.map((row) => [row.action, row.details.before?.name ?? row.details.before?.isActive])).toEqual([
      ['campaigns:create', undefined],
      ['campaigns:edit', true],
      ['campaigns:edit', false],
      ['campaigns:edit', 'Spring'],
      ['campaigns:delete', 'Later'],
    ]);
    expect(rows[3]!.details.after?.name).toBe('Later');
  });

  it('does not delete what somebody registered through', async () => {
    const [used, free] = [await create(), await create()];
    for (const _ of [1, 2]) await signIn(fixture, used.start_parameter);
    const kept = await admin.delete(`${ADMIN}/${used.id}`);
    const detail = 'Cannot delete campaign with 2 registrations. Deactivate it instead.';
    expect([kept.status, kept.body]).toEqual([400, { detail }]);
    expect((await admin.get(`${ADMIN}/${used.id}`)).status).toBe(200);
    expect((await admin.delete(`${ADMIN}/${free.id}`)).body).toEqual({ message: 'Campaign deleted successfully' });
    expect((await admin.get(`${ADMIN}/${free.id}`)).status).toBe(404);
  });

  it('shows what to choose from: every server, active tariffs, approved partners by name', async () => {
    const servers = await Promise.all(
      Array.from({ length: 55 }, (_, index) => aServer(t.app, { is_available: index % 2 === 0, sort_order: 55 - index })),
    );
    const listed = (await admin.get(`${ADMIN}/available-servers`)).body as { id: number; squad_uuid: string }[];
    const created = listed.filter((item) => servers.some((one) => one.id === item.id));
    expect(created.map((item) => item.squad_uuid)).toEqual(servers.map((one) => one.uuid).reverse());
    expect(Object.keys(listed[0]!).sort()).toEqual(['country_code', 'display_name', 'id', 'squad_uuid']);

    const [on, off] = [await aTariff(t.app, { allowed_squads: ['a', 'b'] }), await aTariff(t.app, { is_active: false })];
    await aStoredSubscription(t.app, (await aUser(t.app)).id, { tariff_id: on });
    const tariffs = (await admin.get(`${ADMIN}/available-tariffs`)).body as { id: number }[];
    expect(tariffs.find((item) => item.id === on)).toMatchObject({ servers_count: 2, subscriptions_count: 0, is_active: true });
    expect(tariffs.some((item) => item.id === off)).toBe(false);

    const [second, first] = [await aPartner(fixture), await aPartner(fixture)];
    await setUser(t.app, first, { first_name: 'AAA' });
    await setUser(t.app, second, { first_name: 'AAB' });
    const gone = await aPartner(fixture);
    await setUser(t.app, gone, { first_name: 'AAC', status: 'deleted' });
    const partners = (await admin.get(`${ADMIN}/available-partners`)).body as { user_id: number; first_name: string }[];
    const named = partners.filter((item) => [first, second, gone].includes(item.user_id));
    expect(named.map((item) => item.user_id)).toEqual([first, second]);
    expect(named[0]).toEqual({ user_id: first, username: expect.any(String), first_name: 'AAA' });
  });

  it('lists registrations newest first, in pages', async () => {
    const { id, start_parameter: slug } = await create();
    const users: number[] = [];
    for (let index = 0; index < 3; index++) {
      users.push((await signIn(fixture, slug)).body.user.id);
      t.clock.advance(1_000);
    }
    const [one, two, three] = users as [number, number, number];
    await aStoredSubscription(t.app, one);
    await aStoredSubscription(t.app, two, { status: 'expired' });
    await setUser(t.app, two, { has_had_paid_subscription: true });
    const path = `${ADMIN}/${id}/registrations`;
    const { body } = await admin.get(path);
    expect(body).toMatchObject({ total: 3, page: 1, per_page: 50 });
    expect(body.registrations.map((item: { user_id: number }) => item.user_id)).toEqual([three, two, one]);
    expect(body.registrations[2]).toEqual({
      id: expect.any(Number),
      user_id: one,
      messenger_id: expect.any(Number),
      username: 'ann',
      first_name: 'Ann',
      bonus_type: 'balance',
      balance_bonus_kopeks: 1_500,
      subscription_duration_days: null,
      tariff_id: null,
      tariff_duration_days: null,
      created_at: expect.any(String),
      user_balance_kopeks: 1_500,
      has_subscription: true,
      has_paid: false,
    });
    expect(body.registrations[1]).toMatchObject({ has_subscription: false, has_paid: true });
    const second = (await admin.get(`${path}?page=2&per_page=2`)).body;
    expect([second.registrations.map((item: { user_id: number }) => item.user_id), second.total]).toEqual([[one], 3]);
    expect((await admin.get(`${path}?page=9007199254740991&per_page=100`)).body.registrations).toEqual([]);
    for (const query of ['page=0', 'per_page=0', 'per_page=101']) {
      expect((await admin.get(`${path}?${query}`)).status).toBe(422);
    }
    expect((await admin.get(`${ADMIN}/${UNKNOWN}/registrations`)).status).toBe(404);
  });

  it('counts: overview, list, statistics and chart of a campaign with registrations', async () => {
    const { id, start_parameter: slug } = await create();
    await create({ is_active: false });
    const [payer] = [(await signIn(fixture, slug)).body.user.id, (await signIn(fixture, slug)).body.user.id];
    await topUp(t.app, payer, 5_001);
    await setUser(t.app, payer, { has_had_paid_subscription: true });
    const none = { total_subscription_issued: 0, total_tariff_issued: 0 };
    expect((await admin.get(`${ADMIN}/overview`)).body).toEqual({
      total: 2,
      active: 1,
      inactive: 1,
      total_registrations: 2,
      total_balance_issued_kopeks: 3_000,
      total_balance_issued_rubles: 30,
      ...none,
    });
    const { campaigns, total } = (await admin.get(ADMIN)).body;
    expect(total).toBe(2);
    expect(campaigns[1]).toEqual({
      id,
      name: 'Spring',
      start_parameter: slug,
      bonus_type: 'balance',
      is_active: true,
      registrations_count: 2,
      total_revenue_kopeks: 5_001,
      conversion_rate: 50,
      partner_user_id: null,
      partner_name: null,
      created_at: expect.any(String),
    });
    expect((await admin.get(`${ADMIN}/${id}/stats`)).body).toEqual({
      id,
      name: 'Spring',
      start_parameter: slug,
      bonus_type: 'balance',
      is_active: true,
      registrations: 2,
      balance_issued_kopeks: 3_000,
      balance_issued_rubles: 30,
      subscription_issued: 0,
      last_registration: t.app.clock.now().toISOString(),
      total_revenue_kopeks: 5_001,
      total_revenue_rubles: 50.01,
      avg_revenue_per_user_kopeks: 2_500,
      avg_revenue_per_user_rubles: 25,
      avg_first_payment_kopeks: 0,
      avg_first_payment_rubles: 0,
      trial_users_count: 0,
      active_trials_count: 0,
      conversion_count: 0,
      paid_users_count: 1,
      conversion_rate: 50,
      trial_conversion_rate: 0,
      deep_link: expect.stringContaining(`?start=${slug}`),
      web_link: `https://app.example.com/?campaign=${slug}`,
    });
    const chart = (await admin.get(`${ADMIN}/${id}/chart-data`)).body;
    const today = startOfDay(t.app.clock.now());
    const day = (timestamp: Date) => timestamp.toISOString().slice(0, 10);
    expect(chart.daily_stats).toHaveLength(30);
    expect(chart.daily_stats[0]).toEqual({ date: day(addDays(today, -29)), referrals_count: 0, earnings_kopeks: 0 });
    expect(chart.daily_stats[29]).toEqual({ date: day(today), referrals_count: 2, earnings_kopeks: 5_001 });
    expect(chart).toMatchObject({
      campaign_id: id,
      total_deposits_kopeks: 5_001,
      total_spending_kopeks: 0,
      period_comparison: {
        current: { days: 7, referrals_count: 2, earnings_kopeks: 5_001 },
        previous: { days: 7, referrals_count: 0, earnings_kopeks: 0 },
        referrals_change: { absolute: 2, percent: 100, trend: 'up' },
        earnings_change: { absolute: 5_001, percent: 100, trend: 'up' },
      },
    });
    expect(chart.top_registrations[0]).toEqual({
      id: payer,
      full_name: 'Ann',
      created_at: expect.any(String),
      has_paid: true,
      is_active: false,
      total_earnings_kopeks: 5_001,
    });
    for (const path of ['stats', 'chart-data']) {
      const unknown = await admin.get(`${ADMIN}/${UNKNOWN}/${path}`);
      expect([unknown.status, unknown.body]).toEqual([404, { detail: 'Campaign not found' }]);
    }
  });

  it('requires the permission of the operation, and a credential', async () => {
    const { id } = await create();
    const may = async (action: string, send: (client: ApiClient) => Promise<{ status: number }>) => {
      const others = ACTIONS.filter((permission) => permission !== `campaigns:${action}`);
      expect((await send(await adminClient(t.app, server, others))).status).toBe(403);
      expect((await send(clientOf(server))).status).toBe(401);
      expect((await send(await adminClient(t.app, server, [`campaigns:${action}`]))).status).toBe(200);
    };
    await may('read', (client) => client.get(`${ADMIN}/${id}/registrations`));
    await may('stats', (client) => client.get(`${ADMIN}/${id}/stats`));
    await may('edit', (client) => client.post(`${ADMIN}/${id}/toggle`));
    await may('create', (client) => client.post(ADMIN, aBody()));
    await may('delete', (client) => client.delete(`${ADMIN}/${id}`));
    expect((await clientOf(server).get('/campaigns')).status).toBe(401);
  });
});

describe('signing in through a campaign', () => {
  it('spec 04 section 6.7: a bonus that cannot be written rolls everything back, and the sign-in still succeeds', async () => {
    const partner = await aPartner(fixture);
    // No calendar holds the end of this subscription.
    const columns = { bonus_type: 'subscription', subscription_duration_days: 2_000_000_000, partner_user_id: partner };
    const { slug } = await aCampaign(t.app, columns);
    const reply = await signIn(fixture, slug);
    expect([reply.status, reply.body.campaign_bonus ?? null]).toEqual([200, null]);
    expect(reply.body.access_token).toEqual(expect.any(String));
    const userId = reply.body.user.id;
    const left = await rowOf(
      t.app,
      `SELECT (SELECT count(*)::int FROM advertising_campaign_registrations WHERE user_id = $1::int) AS registrations,
         (SELECT count(*)::int FROM subscriptions WHERE user_id = $1::int) AS subscriptions,
         (SELECT count(*)::int FROM referral_earnings WHERE referral_id = $1::int) AS earnings,
         (SELECT referred_by_id FROM users WHERE id = $1::int) AS referrer`,
      [userId],
    );
    expect(left).toEqual({ registrations: 0, subscriptions: 0, earnings: 0, referrer: null });
  });
});
