import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { DAY_MS } from '../../src/core/clock.ts';
import { limitNetwork } from '../../src/domain/insight/network/read-network.ts';
import { countSales } from '../../src/domain/insight/sales/sales.ts';
import { postMovement } from '../../src/domain/ledger/post-movement.ts';
import { countTransactionsByDay } from '../../src/domain/ledger/transactions.ts';
import { type ActorClient, adminClient } from '../support/actors.ts';
import { testServer } from '../support/api.ts';
import { aUser, unique } from '../support/builders.ts';
import { aStoredSubscription, aTariff } from '../support/sale-samples.ts';
import { storeRow } from '../support/stored-rows.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { emptyDatabase } from '../support/test-database.ts';

const ROOT = '/cabinet/admin/referral-network';
let t: TestApp;
let server: FastifyInstance;
let admin: ActorClient;
/** partner > top > middle > leaf; the campaign is the partner's, top and other registered through it. */
let [partner, top, middle, leaf, other, alone, campaign, empty] = [0, 0, 0, 0, 0, 0, 0, 0];
const sql = (text: string, values: unknown[] = []) => t.app.db.sql(`${text} RETURNING 1 AS done`, values);

async function user(fields: Record<string, unknown> = {}): Promise<number> {
  const { id } = await aUser(t.app);
  for (const [column, value] of Object.entries(fields))
    await sql(`UPDATE users SET ${column} = $1 WHERE id = $2::int`, [value, id]);
  return id;
}

/** Kopeks. */
async function pay(userId: number, amount: number): Promise<number> {
  const posted = await postMovement(t.app, {
    userId,
    type: 'subscription_payment',
    amountKopeks: -amount,
    contra: { kind: 'sales_revenue', product: 'tariff' },
    paymentMethod: 'yookassa',
    paidThroughProvider: 'yookassa',
    description: null,
  });
  if (posted.outcome !== 'posted') throw new Error(posted.outcome);
  return posted.transactionId;
}

async function aCampaign(name: string, partnerId: number | null, users: number[]): Promise<number> {
  const row = await storeRow(t.app, 'AdvertisingCampaign', {
    name,
    startParameter: `s${unique()}`,
    bonusType: 'none',
    partnerUserId: partnerId,
  });
  for (const id of users) {
    await storeRow(t.app, 'CampaignRegistration', { campaignId: row.id, userId: id, bonusType: 'none' });
  }
  return row.id;
}

beforeAll(async () => {
  t = await testApp();
  await emptyDatabase(t.database);
  server = await testServer(t.app);
  partner = await user({ partner_status: 'approved', first_name: 'Ann', last_name: 'Lee', username: 'ann' });
  top = await user({ referred_by_id: partner, first_name: null, username: 'top_100%' });
  middle = await user({ referred_by_id: top, first_name: null, username: null });
  leaf = await user({ referred_by_id: middle, first_name: null, username: null, messenger_id: null, email: 'leaf@example.com' });
  other = await user();
  alone = await user({ username: 'alone' });
  campaign = await aCampaign('Spring', partner, [top, other]);
  empty = await aCampaign('Autumn', null, []);
  const source = await pay(top, 1_001);
  await pay(leaf, 500);
  await pay(leaf, 50);
  await storeRow(t.app, 'ReferralEarning', {
    userId: partner,
    referralId: top,
    amountKopeks: 100,
    reason: 'referral_commission',
    referralTransactionId: source,
  });
  const tariff = await aTariff(t.app, { name: 'Plan' });
  await aStoredSubscription(t.app, top, { tariff_id: tariff });
  await aStoredSubscription(t.app, middle, { is_trial: true, end_date: new Date(t.clock.now().getTime() - DAY_MS) });
  await aStoredSubscription(t.app, leaf, { status: 'disabled' });
});
afterAll(async () => {
  await server.close();
  await emptyDatabase(t.database);
});

const get = async (path: string, query: Record<string, string | number | number[]> = {}) => {
  // An administrator of its own for each call, so that the limits are met only where a test is about them.
  admin = await adminClient(t.app, server, ['stats:read']);
  return admin.get(`${ROOT}${path}`, { query: query as Record<string, string> });
};
const ids = (rows: { id: number }[]) => rows.map((row) => row.id);

describe('04 16.2: nodes, edges and totals', () => {
  test('the whole network: members only, exact before and after counting', async () => {
    for (let round = 0; round < 2; round++) {
      const { status, body } = await get('/');
      expect(status).toBe(200);
      expect(ids(body.users)).toEqual([partner, top, middle, leaf, other]);
      const [first, second, third, fourth] = body.users;
      expect(first).toMatchObject({
        display_name: 'Ann Lee',
        is_partner: true,
        referrer_id: null,
        campaign_id: null,
        direct_referrals: 1,
        total_branch_users: 1,
        branch_revenue_kopeks: 1_001,
        personal_revenue_kopeks: 100,
        personal_spent_kopeks: 0,
        subscription_name: null,
        subscription_end: null,
        subscription_status: null,
      });
      expect(second).toMatchObject({
        display_name: 'top_100%',
        is_partner: false,
        referrer_id: partner,
        campaign_id: campaign,
        branch_revenue_kopeks: 0,
        personal_spent_kopeks: 1_001,
        subscription_name: 'Plan',
        subscription_status: 'paid_active',
      });
      expect(third).toMatchObject({
        display_name: `ID${third.tg_id}`,
        branch_revenue_kopeks: 550,
        subscription_status: 'trial_expired',
      });
      expect(fourth).toMatchObject({
        display_name: 'leaf',
        personal_spent_kopeks: 550,
        subscription_status: 'paid_expired',
        tg_id: null,
      });
      expect(body.campaigns).toMatchObject([
        {
          id: campaign,
          name: 'Spring',
          direct_users: 2,
          total_network_users: 3,
          total_revenue_kopeks: 1_001,
          conversion_rate: 50,
          avg_check_kopeks: 1_001,
          top_referrers: [{ user_id: top, username: 'top_100%', referral_count: 1 }],
        },
        { id: empty, direct_users: 0, total_network_users: 0, conversion_rate: 0, avg_check_kopeks: 0, top_referrers: [] },
      ]);
      expect(body.edges).toEqual([
        { source: `user_${partner}`, target: `user_${top}`, type: 'referral' },
        { source: `user_${top}`, target: `user_${middle}`, type: 'referral' },
        { source: `user_${middle}`, target: `user_${leaf}`, type: 'referral' },
        { source: `campaign_${campaign}`, target: `user_${top}`, type: 'campaign' },
        { source: `campaign_${campaign}`, target: `user_${other}`, type: 'campaign' },
        { source: `user_${partner}`, target: `campaign_${campaign}`, type: 'partner_campaign' },
      ]);
      expect(body).toMatchObject({
        total_users: 5,
        total_referrers: 3,
        total_campaigns: 2,
        total_earnings_kopeks: 100,
        total_subscription_revenue_kopeks: 1_551,
      });
      await countTransactionsByDay(t.app, -1);
      await countTransactionsByDay(t.app, -1);
      await countSales(t.app);
    }
  });

  test('a user alone has the whole branch', async () => {
    const { body } = await get(`/user/${partner}`);
    expect(body).toMatchObject({
      direct_referrals: 1,
      total_branch_users: 3,
      branch_revenue_kopeks: 1_551,
      referrer_display_name: null,
      campaign_name: null,
    });
    expect((await get(`/user/${top}`)).body).toMatchObject({
      referrer_display_name: 'Ann Lee',
      campaign_name: 'Spring',
      total_branch_users: 2,
    });
    expect((await get(`/user/${alone}`)).body).toMatchObject({ id: alone, total_branch_users: 0, branch_revenue_kopeks: 0 });
    for (const id of [0, -1, 2 ** 31, 10 ** 15]) {
      expect(await get(`/user/${id}`)).toMatchObject({ status: 404, body: { detail: 'User not found' } });
      expect(await get(`/campaign/${id}`)).toMatchObject({ status: 404, body: { detail: 'Campaign not found' } });
    }
    expect((await get(`/campaign/${campaign}`)).body).toMatchObject({
      direct_users: 2,
      total_network_users: 3,
      conversion_rate: 50,
    });
  });
});

describe('04 16.3: scopes', () => {
  const scoped = async (query: Record<string, number[]>) => {
    const { status, body } = await get('/scoped', query);
    return status === 200 ? { users: ids(body.users), campaigns: ids(body.campaigns) } : { status, detail: body.detail };
  };

  test('campaigns show registrants and everyone below, partners their campaigns too, and users everyone above and below', async () => {
    expect(await scoped({ campaign_ids: [campaign] })).toEqual({ users: [top, middle, leaf, other], campaigns: [campaign] });
    expect(await scoped({ partner_ids: [partner] })).toEqual({
      users: [partner, top, middle, leaf, other],
      campaigns: [campaign],
    });
    expect(await scoped({ user_ids: [middle] })).toEqual({ users: [partner, top, middle, leaf], campaigns: [campaign] });
    expect(await scoped({ user_ids: [alone], campaign_ids: [empty] })).toEqual({ users: [alone], campaigns: [empty] });
    // A user who is below another one is not listed twice.
    expect(await scoped({ user_ids: [top, leaf, top] })).toEqual({ users: [partner, top, middle, leaf], campaigns: [campaign] });
  });

  test('leaves out partners who are not approved and ids that do not exist, and is 404 when nothing is left', async () => {
    const nothing = { status: 404, detail: 'No valid items found for the provided IDs' };
    expect(await scoped({ partner_ids: [top] })).toEqual(nothing);
    expect(await scoped({ user_ids: [10 ** 12], campaign_ids: [0] })).toEqual(nothing);
    expect(await scoped({ user_ids: [10 ** 12, alone] })).toEqual({ users: [alone], campaigns: [] });
  });

  test('nothing, and more than 50 in all', async () => {
    expect(await scoped({})).toEqual({ status: 400, detail: 'At least one campaign, partner, or user must be selected' });
    const many = Array.from({ length: 30 }, (_, index) => index + 1);
    expect(await scoped({ user_ids: many, campaign_ids: many })).toEqual({
      status: 400,
      detail: 'Too many items selected (max 50)',
    });
    expect((await get('/scoped', { user_ids: Array.from({ length: 51 }, () => 1) })).status).toBe(422);
  });

  test('options: all campaigns by name, approved partners with their campaigns', async () => {
    const { body } = await get('/scope-options');
    expect(body.campaigns.map((row: { name: string; direct_users: number }) => [row.name, row.direct_users])).toEqual([
      ['Autumn', 0],
      ['Spring', 2],
    ]);
    expect(body.partners).toEqual([{ id: partner, display_name: 'Ann Lee', username: 'ann', campaign_count: 1 }]);
  });
});

describe('04 16.3: search', () => {
  const found = async (q: string) => {
    const { status, body } = await get('/search', { q });
    expect(status).toBe(200);
    return { users: ids(body.users), campaigns: body.campaigns };
  };

  test('finds members only, by a literal part of the user name or e-mail in any case, or by an exact id', async () => {
    expect((await found('TOP_')).users).toEqual([top]);
    expect((await found('0%')).users).toEqual([top]);
    expect((await found('LEAF@exam')).users).toEqual([leaf]);
    expect((await found('alone')).users).toEqual([]);
    expect((await found(String(middle))).users).toContain(middle);
    const [row] = await t.app.db.sql<{ tg: number }>('SELECT messenger_id AS tg FROM users WHERE id = $1::int', [middle]);
    expect((await found(String(row!.tg))).users).toEqual([middle]);
    // The name is not searched.
    expect((await found('Lee')).users).toEqual([]);
  });

  test('spec 04 section 16.4, hazard 2: a number beyond any id, control characters and surrogates are only text', async () => {
    for (const q of ['99999999999999999999999', '9223372036854775808', '\u0001', '%', '\\', "'"]) {
      expect((await get('/search', { q })).status).toBe(200);
    }
    expect((await get('/search', { q: '' })).status).toBe(422);
  });

  test('campaigns by name, without what needs their registrants', async () => {
    expect((await found('pri')).campaigns).toMatchObject([
      { id: campaign, direct_users: 2, conversion_rate: 0, avg_check_kopeks: 0, top_referrers: [] },
    ]);
  });
});

describe('04 16.1: limits', () => {
  test('by administrator and endpoint: the eleventh graph in a minute is refused, a scope is not', async () => {
    const one = await adminClient(t.app, server, ['stats:read']);
    for (let call = 0; call < 10; call++) expect((await one.get(`${ROOT}/`)).status).toBe(200);
    const refused = await one.get(`${ROOT}/`);
    expect(refused).toMatchObject({ status: 429, body: { detail: 'Too many requests' } });
    expect(refused.headers['retry-after']).toBe('60');
    expect((await one.get(`${ROOT}/scoped`, { query: { user_ids: String(top) } })).status).toBe(200);
    expect((await get('/')).status).toBe(200);
  });

  test('what cannot be counted is refused', async () => {
    const db = { ...t.app.db, sql: () => Promise.reject(new Error('away')) } as unknown as typeof t.app.db;
    const actor = { kind: 'admin', userId: 1, level: 1, isConfigAdmin: false } as const;
    await expect(limitNetwork({ ...t.app, db }, actor, 'search')).rejects.toMatchObject({
      status: 429,
      headers: { 'Retry-After': '60' },
    });
  });
});

test('spec 04 section 16.4, hazard 1: a user cannot be below one of his own referrals, so no walk meets a cycle', async () => {
  await expect(sql('UPDATE users SET referred_by_id = $1::int WHERE id = $2::int', [leaf, partner])).rejects.toThrow(
    /own referrers/,
  );
  expect((await get(`/user/${partner}`)).body.total_branch_users).toBe(3);
});

test('04 16.1: at most 50 levels', async () => {
  const root = await user();
  // The whole network belongs to other tests.
  onTestFinished(async () => {
    await sql('UPDATE users SET referred_by_id = NULL WHERE id > $1::int', [root]);
  });
  let last = root;
  for (let level = 0; level < 55; level++) last = await user({ referred_by_id: last });
  expect((await get(`/user/${root}`)).body.total_branch_users).toBe(50);
  const { body } = await get('/scoped', { user_ids: [last] });
  expect(body.users).toHaveLength(51);
});
