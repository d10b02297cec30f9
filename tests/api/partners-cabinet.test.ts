import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { addDays } from '../../src/core/clock.ts';
import { text } from '../../src/domain/messaging/texts.ts';
import { type ActorClient, adminClient, userClient } from '../support/actors.ts';
import { type ApiClient, clientOf, testServer } from '../support/api.ts';
import { aCampaign } from '../support/campaign-samples.ts';
import { setUser } from '../support/merge-samples.ts';
import { anEarning, aReferralOf } from '../support/referral-samples.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

let t: TestApp;
let server: FastifyInstance;
let admin: ActorClient;
let user: ActorClient;

const ACTIONS = ['read', 'edit', 'approve', 'revoke', 'settings'].map((action) => `partners:${action}`);
const ADMIN = '/cabinet/admin/partners';
const UNKNOWN = 2_147_000_000;
const BEYOND = 9_007_199_254_740_991;

beforeAll(async () => {
  t = await testApp({ environment: { DEFAULT_LANGUAGE: 'en', MINIAPP_CUSTOM_URL: 'https://app.example.com/' } });
  server = await testServer(t.app);
  admin = await adminClient(t.app, server, ACTIONS);
});
afterAll(() => server.close());
beforeEach(async () => {
  await t.app.db.sql('DELETE FROM rate_limit_windows');
  user = await userClient(t.app, server, { language: 'en' });
});

const ago = (days: number) => addDays(t.clock.now(), -days);
const typesOf = (reply: { body: { detail: { type: string }[] } }) => reply.body.detail.map((issue) => issue.type);

async function aPartner(): Promise<ActorClient> {
  const partner = await userClient(t.app, server, { language: 'en' });
  await setUser(t.app, partner.user.id, { partner_status: 'approved', referral_commission_percent: 30 });
  return partner;
}

describe(ADMIN, () => {
  const apply = async (client: ActorClient, fields = {}) =>
    (await client.post('/cabinet/referral/partner/apply', { description: 'Many readers', ...fields })).body;

  it('lists applications by status, newest first', async () => {
    const other = await userClient(t.app, server, { language: 'en' });
    const [one, two] = [await apply(user), await apply(other, { desired_commission_percent: 50 })];
    const listed = (await admin.get(`${ADMIN}/applications?status=pending`)).body;
    expect(listed.items.slice(0, 2).map((item: { id: number }) => item.id)).toEqual([two.id, one.id]);
    expect(listed.items[0]).toMatchObject({
      user_id: other.user.id,
      messenger_id: other.user.messengerId,
      desired_commission_percent: 50,
      status: 'pending',
    });
    expect((await admin.get(`${ADMIN}/applications?status=none`)).body).toEqual({ items: [], total: 0 });
    expect((await admin.get(`${ADMIN}/applications?limit=1&offset=1`)).body.items).toMatchObject([{ id: one.id }]);
    expect((await admin.get(`${ADMIN}/applications?status=lost`)).status).toBe(422);
  });

  const decide = async (action: 'approve' | 'reject', body: unknown, id: number) =>
    admin.post(`${ADMIN}/applications/${id}/${action}`, body);
  const anApplication = async () => (await apply(await userClient(t.app, server, { language: 'en' }))).id as number;

  it.each([
    ['missing', {}],
    ['greater_than_equal', { commission_percent: 0 }],
    ['less_than_equal', { commission_percent: 101 }],
    ['string_too_long', { commission_percent: 5, comment: 'x'.repeat(2_001) }],
  ])('refuses an approval with %s', async (type, body) => {
    expect(typesOf(await decide('approve', body, await anApplication()))).toEqual([type]);
  });

  it('approves an application once', async () => {
    const id = await anApplication();
    expect((await decide('approve', { commission_percent: 35, comment: 'Hi' }, id)).body).toEqual({ success: true });
    const again = await decide('approve', { commission_percent: 35 }, id);
    expect([again.status, again.body]).toEqual([400, { detail: 'The application has been decided on already' }]);
  });

  it('refuses to decide on an unknown application', async () => {
    const unknown = await decide('approve', { commission_percent: 35 }, BEYOND);
    expect([unknown.status, unknown.body]).toEqual([400, { detail: 'Application not found' }]);
  });

  it('rejects an application, also without a comment', async () => {
    const id = await anApplication();
    expect((await decide('reject', {}, id)).body).toEqual({ success: true });
    const [newest] = (await admin.get(`${ADMIN}/applications?status=rejected`)).body.items;
    expect(newest).toMatchObject({ id, admin_comment: null });
  });

  it('leaves a campaign with its partner', async () => {
    const [owner, other] = [await aPartner(), await aPartner()];
    const { id: campaignId } = await aCampaign(t.app);
    expect((await admin.post(`${ADMIN}/${owner.user.id}/campaigns/${campaignId}/assign`)).status).toBe(200);
    const taken = await admin.post(`${ADMIN}/${other.user.id}/campaigns/${campaignId}/assign`);
    expect([taken.status, taken.body.detail]).toEqual([400, text('en', 'partners.campaign_taken')]);
  });

  it('lists partners and shows any user as one', async () => {
    const partner = await aPartner();
    const referral = await aReferralOf(t.app, partner.user.id, { has_made_first_topup: true });
    await anEarning(t.app, { referrer: partner.user, referral }, { kopeks: 500, at: ago(0) });
    const { id: campaignId, slug } = await aCampaign(t.app);
    expect((await admin.post(`${ADMIN}/${partner.user.id}/campaigns/${campaignId}/assign`)).body).toEqual({ success: true });
    const listed = (await admin.get(`${ADMIN}?limit=1`)).body;
    expect(listed.items).toMatchObject([
      {
        user_id: partner.user.id,
        commission_percent: 30,
        total_referrals: 1,
        total_earnings_kopeks: 500,
        partner_status: 'approved',
      },
    ]);
    expect(listed.total).toBeGreaterThanOrEqual(1);
    expect((await admin.get(`${ADMIN}/${partner.user.id}`)).body).toMatchObject({
      total_referrals: 1,
      paid_referrals: 1,
      conversion_to_paid: 100,
      earnings_all_time: 500,
      earnings_today: 500,
      campaigns: [{ id: campaignId, start_parameter: slug, registrations_count: 0, earnings_kopeks: 0 }],
    });
    expect((await admin.get(`${ADMIN}/${user.user.id}`)).body).toMatchObject({ partner_status: 'none', campaigns: [] });
    for (const id of [UNKNOWN, BEYOND]) expect((await admin.get(`${ADMIN}/${id}`)).status).toBe(404);
    const totals = (await admin.get(`${ADMIN}/stats`)).body;
    expect(totals.total_partners).toBe(listed.total);
    expect(Object.keys(totals)).toEqual(['total_partners', 'pending_applications', 'total_referrals', 'total_earnings_kopeks']);
  });

  it('sets a commission: numeric, 1 to 100', async () => {
    const partner = await aPartner();
    const path = `${ADMIN}/${partner.user.id}/commission`;
    const set = (commission_percent: unknown) => admin.patch(path, { commission_percent });
    for (const percent of [1, 100, 12.5, 33.33]) {
      expect((await set(percent)).body).toEqual({ success: true, commission_percent: percent });
      expect((await partner.get('/cabinet/referral')).body.commission_percent).toBe(percent);
      expect((await admin.get(`${ADMIN}/${partner.user.id}`)).body.commission_percent).toBe(percent);
    }
    for (const [bad, type] of [
      [0, 'greater_than_equal'],
      [0.99, 'greater_than_equal'],
      [100.01, 'less_than_equal'],
      [101, 'less_than_equal'],
      ['ten', 'float_type'],
      [null, 'float_type'],
    ] as const) {
      const reply = await set(bad);
      expect([reply.status, typesOf(reply)], String(bad)).toEqual([422, [type]]);
    }
    expect(typesOf(await admin.patch(path, {}))).toEqual(['missing']);
    const none = await admin.patch(`${ADMIN}/${user.user.id}/commission`, { commission_percent: 5 });
    expect([none.status, none.body]).toEqual([400, { detail: 'The user is not a partner' }]);
    for (const id of [UNKNOWN, BEYOND]) {
      expect((await admin.patch(`${ADMIN}/${id}/commission`, { commission_percent: 5 })).status).toBe(404);
    }
  });

  it('revokes, and leaves an audit row with what was and is', async () => {
    const partner = await aPartner();
    const { id: campaignId } = await aCampaign(t.app, { partner_user_id: partner.user.id });
    expect((await admin.post(`${ADMIN}/${partner.user.id}/revoke`)).body).toEqual({ success: true });
    expect((await admin.post(`${ADMIN}/${partner.user.id}/revoke`)).status).toBe(400);
    const [row] = await t.app.db.sql<{ action: string; details: unknown; resourceId: string }>(
      "SELECT action, details, resource_id FROM admin_audit_log WHERE action = 'partners:revoke' AND status = 'success' ORDER BY id DESC LIMIT 1",
    );
    expect(row).toMatchObject({
      resourceId: String(partner.user.id),
      details: {
        before: { partnerStatus: 'approved', commissionPercent: 30, campaignIds: [campaignId] },
        after: { partnerStatus: 'none', commissionPercent: null, campaignIds: [] },
      },
    });
    const assigned = await admin.post(`${ADMIN}/${partner.user.id}/campaigns/${campaignId}/assign`);
    expect([assigned.status, assigned.body]).toEqual([400, { detail: 'The user is not a partner' }]);
    expect((await admin.post(`${ADMIN}/${partner.user.id}/campaigns/${BEYOND}/assign`)).status).toBe(404);
    expect((await admin.post(`${ADMIN}/${BEYOND}/campaigns/${campaignId}/unassign`)).status).toBe(400);
  });

  it('keeps its settings as overrides, which null and absent leave', async () => {
    const before = (await admin.get(`${ADMIN}/settings`)).body;
    const changed = await admin.patch(`${ADMIN}/settings`, { withdrawal_cooldown_days: 365, withdrawal_min_amount_kopeks: null });
    expect(changed.body).toEqual({ ...before, withdrawal_cooldown_days: 365 });
    expect((await admin.get(`${ADMIN}/settings`)).body).toEqual(changed.body);
    expect((await admin.patch(`${ADMIN}/settings`, {})).body).toEqual(changed.body);
    for (const [field, value] of [
      ['withdrawal_cooldown_days', 366],
      ['withdrawal_min_amount_kopeks', 100_000_001],
      ['withdrawal_requisites_text', 'x'.repeat(2_001)],
      ['withdrawal_enabled', 'perhaps'],
    ]) {
      expect((await admin.patch(`${ADMIN}/settings`, { [field as string]: value })).status).toBe(422);
    }
    await admin.patch(`${ADMIN}/settings`, { withdrawal_cooldown_days: before.withdrawal_cooldown_days });
  });

  it('is closed to users and to administrators without the permission', async () => {
    const reader = await adminClient(t.app, server, ['partners:read']);
    const paths: [string, string, number][] = [
      ['get', `${ADMIN}/settings`, 403],
      ['get', ADMIN, 200],
      ['post', `${ADMIN}/applications/1/approve`, 403],
      ['patch', `${ADMIN}/1/commission`, 403],
      ['post', `${ADMIN}/1/revoke`, 403],
      ['post', `${ADMIN}/1/campaigns/1/assign`, 403],
    ];
    for (const [method, path, status] of paths) {
      const send = (client: ApiClient) =>
        method === 'get' ? client.get(path) : method === 'patch' ? client.patch(path, {}) : client.post(path, {});
      expect((await send(reader)).status, path).toBe(status);
      expect((await send(user)).status, path).toBe(403);
      expect((await send(clientOf(server))).status, path).toBe(401);
    }
  });
});

describe('/cabinet/referral', () => {
  it('shows links, counters, referrals and rewards', async () => {
    const info = (await user.get('/cabinet/referral')).body;
    expect(info).toMatchObject({
      referral_link: `https://cabinet.example.com?ref=${info.referral_code}`,
      bot_referral_link: `https://t.me/test_bot?start=${info.referral_code}`,
      total_referrals: 0,
      commission_percent: 25,
      available_balance_kopeks: 0,
      withdrawn_kopeks: 0,
    });
    expect((await user.get('/cabinet/referral/list')).body).toEqual({ items: [], total: 0, page: 1, per_page: 20, pages: 1 });
    const referral = await aReferralOf(t.app, user.user.id);
    expect((await user.get('/cabinet/referral/list?per_page=1')).body).toMatchObject({
      items: [{ id: referral.id, has_subscription: false, has_paid: false }],
      total: 1,
      pages: 1,
    });
    const earnings = (await user.get('/cabinet/referral/earnings')).body;
    expect(earnings).toMatchObject({
      total: 1,
      total_amount_kopeks: 0,
      items: [{ amount_kopeks: 0, reason: 'referral_registration_pending' }],
    });
    expect((await user.get(`/cabinet/referral/list?page=${BEYOND}`)).body.items).toEqual([]);
    for (const query of ['page=0', 'per_page=0', 'per_page=101']) {
      expect((await user.get(`/cabinet/referral/earnings?${query}`)).status).toBe(422);
    }
    expect((await clientOf(server).get('/cabinet/referral')).status).toBe(401);
  });

  it('returns its terms without a credential', async () => {
    expect((await clientOf(server).get('/cabinet/referral/terms')).body).toEqual({
      is_enabled: true,
      commission_percent: 25,
      minimum_topup_kopeks: 10_000,
      minimum_topup_rubles: 100,
      first_topup_bonus_kopeks: 10_000,
      first_topup_bonus_rubles: 100,
      inviter_bonus_kopeks: 10_000,
      inviter_bonus_rubles: 100,
      max_commission_payments: 0,
      partner_section_visible: true,
    });
  });

  it('takes an application, in words of the user, and shows where it stands', async () => {
    const path = '/cabinet/referral/partner/apply';
    expect((await user.get('/cabinet/referral/partner/status')).body).toEqual({
      partner_status: 'none',
      commission_percent: null,
      latest_application: null,
      campaigns: [],
    });
    expect(typesOf(await user.post(path, { desired_commission_percent: 101 }))).toEqual(['less_than_equal']);
    expect(typesOf(await user.post(path, { expected_monthly_referrals: -1 }))).toEqual(['greater_than_equal']);
    const made = await user.post(path, { company_name: 'Blog', expected_monthly_referrals: 2_000_000_000 });
    expect(made.body).toMatchObject({ company_name: 'Blog', expected_monthly_referrals: 2_000_000_000, status: 'pending' });
    const again = await user.post(path, {});
    expect([again.status, again.body]).toEqual([400, { detail: 'Your application is being considered already' }]);
    const partner = await aPartner();
    const refused = await partner.post(path, {});
    expect([refused.status, refused.body.detail]).toEqual([400, text('en', 'partners.already_partner')]);
    expect((await user.get('/cabinet/referral/partner/status')).body).toMatchObject({
      partner_status: 'pending',
      latest_application: { id: made.body.id },
    });
  });

  it('shows a partner his campaigns with links, and one in detail', async () => {
    const partner = await aPartner();
    const { id, slug } = await aCampaign(t.app, { partner_user_id: partner.user.id, balance_bonus_kopeks: 500 });
    const status = (await partner.get('/cabinet/referral/partner/status')).body;
    expect(status.campaigns).toMatchObject([
      {
        id,
        bonus_type: 'balance',
        balance_bonus_kopeks: 500,
        deep_link: `https://t.me/test_bot?start=${slug}`,
        web_link: `https://app.example.com/?campaign=${slug}`,
        registrations_count: 0,
      },
    ]);
    const stats = (await partner.get(`/cabinet/referral/partner/campaigns/${id}/stats`)).body;
    expect(stats).toMatchObject({
      campaign_id: id,
      conversion_rate: 0,
      period_comparison: {
        current: { days: 7, referrals_count: 0, earnings_kopeks: 0 },
        earnings_change: { absolute: 0, percent: 0, trend: 'stable' },
      },
      top_referrals: [],
    });
    expect(stats.daily_stats).toHaveLength(30);
    const denied = await user.get(`/cabinet/referral/partner/campaigns/${id}/stats`);
    expect([denied.status, denied.body]).toEqual([403, { detail: 'Partner status required' }]);
    for (const unknown of [UNKNOWN, BEYOND]) {
      const reply = await partner.get(`/cabinet/referral/partner/campaigns/${unknown}/stats`);
      expect([reply.status, reply.body]).toEqual([404, { detail: 'Campaign not found or not assigned to you' }]);
    }
  });
});
