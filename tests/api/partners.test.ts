import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addDays } from '../../src/core/clock.ts';
import { type ApiClient, clientOf, testServer, tokenClient } from '../support/api.ts';
import { aUser, unique } from '../support/builders.ts';
import { setUser } from '../support/merge-samples.ts';
import { aDeposit, anEarning, aReferralOf, aReferralPair } from '../support/referral-samples.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

let t: TestApp;
let server: FastifyInstance;
let web: ApiClient;

const UNKNOWN = 2_147_000_000;
const BEYOND = 9_007_199_254_740_991;

beforeAll(async () => {
  t = await testApp();
  server = await testServer(t.app);
  web = await tokenClient(t.app, server);
});
afterAll(() => server.close());

const ago = (days: number) => addDays(t.clock.now(), -days);
const typesOf = (reply: { body: { detail: { type: string }[] } }) => reply.body.detail.map((issue) => issue.type);

describe('/partners (Web API)', () => {
  it('lists referrers with their counters, finds them by name, code and id, takes wildcards literally', async () => {
    const pair = await aReferralPair(t.app, {
      referrer: { username: `per%cent_${unique()}`, referral_commission_percent: 12.5 },
    });
    await anEarning(t.app, pair, { kopeks: 1_050, at: ago(2) });
    await anEarning(t.app, pair, { kopeks: 400, at: ago(31) });
    const { id, messengerId } = pair.referrer;
    const found = await web.get('/partners/referrers', { query: { search: 'R%CENT_' } });
    expect(found.body).toMatchObject({ total: 1, limit: 50, offset: 0 });
    expect(found.body.items[0]).toMatchObject({
      id,
      messenger_id: messengerId,
      referral_commission_percent: 12.5,
      effective_referral_commission_percent: 12.5,
      invited_count: 1,
      active_referrals: 0,
      total_earned_kopeks: 1_450,
      total_earned_rubles: 14.5,
      month_earned_kopeks: 1_050,
      month_earned_rubles: 10.5,
    });
    for (const search of [String(messengerId), found.body.items[0].referral_code]) {
      expect((await web.get('/partners/referrers', { query: { search } })).body.items[0].id).toBe(id);
    }
    const many = await web.get('/partners/referrers', { query: { search: '9'.repeat(30) } });
    expect([many.status, many.body.items]).toEqual([200, []]);
    const newest = (await web.get('/partners/referrers?limit=1')).body;
    const next = (await web.get('/partners/referrers?limit=1&offset=1')).body;
    expect(newest.items[0].id).toBeGreaterThan(next.items[0].id);
    expect(newest.total).toBeGreaterThan(1);
  });

  it('shows a referrer with a page of referrals, by the messenger id before the internal id', async () => {
    const pair = await aReferralPair(t.app, {
      referral: { created_at: ago(40), first_name: null, last_name: null, last_activity: null },
    });
    await anEarning(t.app, pair, { kopeks: 700, at: ago(1) });
    await aDeposit(t.app, pair.referral.id, 300);
    const young = await aReferralOf(t.app, pair.referrer.id, { last_activity: ago(31) });
    const { body } = await web.get(`/partners/referrers/${pair.referrer.messengerId}?limit=1&offset=1`);
    expect(body.referrer).toMatchObject({ id: pair.referrer.id, invited_count: 2 });
    expect(body.referrals).toMatchObject({
      total: 2,
      limit: 1,
      offset: 1,
      has_next: false,
      has_prev: true,
      current_page: 2,
      total_pages: 2,
    });
    expect(body.referrals.items).toMatchObject([
      {
        id: pair.referral.id,
        full_name: `User ${pair.referral.messengerId}`,
        balance_kopeks: 400,
        balance_rubles: 4,
        total_earned_kopeks: 700,
        topups_count: 2,
        days_since_registration: 40,
        days_since_activity: null,
        status: 'inactive',
      },
    ]);
    const first = (await web.get(`/partners/referrers/${pair.referrer.id}?limit=1`)).body.referrals;
    expect(first).toMatchObject({
      has_next: true,
      has_prev: false,
      items: [{ id: young.id, status: 'inactive', days_since_activity: 31 }],
    });
    await setUser(t.app, young.id, { messenger_id: pair.referrer.id });
    expect((await web.get(`/partners/referrers/${pair.referrer.id}`)).body.referrer.id).toBe(young.id);
    await setUser(t.app, young.id, { messenger_id: null });
  });

  it('sets and clears a commission of any user', async () => {
    const { id } = await aUser(t.app);
    const path = `/partners/referrers/${id}/commission`;
    const set = (referral_commission_percent: unknown) => web.patch(path, { referral_commission_percent });
    expect((await set(0)).body).toMatchObject({ id, referral_commission_percent: 0, effective_referral_commission_percent: 0 });
    expect((await set(100)).body.effective_referral_commission_percent).toBe(100);
    expect((await set(null)).body).toMatchObject({
      referral_commission_percent: null,
      effective_referral_commission_percent: 25,
    });
    expect(typesOf(await set(-1))).toEqual(['greater_than_equal']);
    expect(typesOf(await set(101))).toEqual(['less_than_equal']);
    expect(typesOf(await set(1.5))).toEqual(['int_from_float']);
  });

  it('compares two periods: two integers 1 to 365, absolute, percent and trend', async () => {
    const pair = await aReferralPair(t.app, { referral: { created_at: ago(1) } });
    await anEarning(t.app, pair, { kopeks: 150, at: ago(1) });
    await anEarning(t.app, pair, { kopeks: 400, at: ago(8) });
    const path = `/partners/referrers/${pair.referrer.id}/stats/compare`;
    expect((await web.get(path)).body).toEqual({
      current_period: {
        days: 7,
        start: ago(7).toISOString(),
        end: ago(0).toISOString(),
        referrals_count: 1,
        earnings_kopeks: 150,
      },
      previous_period: {
        days: 7,
        start: ago(14).toISOString(),
        end: ago(7).toISOString(),
        referrals_count: 0,
        earnings_kopeks: 400,
      },
      change: {
        referrals: { absolute: 1, percent: 0, trend: 'up' },
        earnings: { absolute: -250, percent: -62.5, trend: 'down' },
      },
      user_id: pair.referrer.id,
    });
    const wide = await web.get(path, { query: { current_days: 365, previous_days: 1 } });
    expect(wide.body).toMatchObject({
      current_period: { days: 365, earnings_kopeks: 550 },
      previous_period: { days: 1, earnings_kopeks: 0 },
    });
    expect(wide.body.change.earnings).toEqual({ absolute: 550, percent: 0, trend: 'up' });
    for (const query of [
      'current_days=0',
      'current_days=366',
      'previous_days=0',
      'previous_days=366',
      'current_days=1.5',
      'previous_days=x',
    ]) {
      expect((await web.get(`${path}?${query}`)).status, query).toBe(422);
    }
  });

  it('gives statistics of the service and of one referrer', async () => {
    const pair = await aReferralPair(t.app, { referral: { has_made_first_topup: true } });
    await anEarning(t.app, pair, { kopeks: 999_999_999, at: ago(0) });
    const base = `/partners/referrers/${pair.referrer.id}/stats`;
    expect((await web.get(base)).body).toEqual({
      user_id: pair.referrer.id,
      summary: {
        total_referrals: 1,
        paid_referrals: 1,
        active_referrals: 0,
        conversion_to_paid_percent: 100,
        conversion_to_active_percent: 0,
        avg_earnings_per_referral_kopeks: 999_999_999,
      },
      earnings: {
        all_time_kopeks: 999_999_999,
        year_kopeks: 999_999_999,
        month_kopeks: 999_999_999,
        week_kopeks: 999_999_999,
        today_kopeks: 999_999_999,
      },
      referrals_count: { all_time: 1, year: 1, month: 1, week: 1, today: 1 },
    });
    const today = t.clock.now().toISOString().slice(0, 10);
    const days = (await web.get(`${base}/daily?days=365`)).body;
    expect(days).toMatchObject({ days: 365, user_id: pair.referrer.id });
    expect([days.items.length, days.items.at(-1)]).toEqual([
      365,
      { date: today, referrals_count: 1, earnings_kopeks: 999_999_999 },
    ]);
    expect((await web.get(`${base}/top-referrals`)).body).toMatchObject({
      user_id: pair.referrer.id,
      items: [{ id: pair.referral.id, has_made_first_topup: true, is_active: false, total_earnings_kopeks: 999_999_999 }],
    });
    for (const query of ['', '?days=30']) {
      const { items } = (await web.get(`/partners/stats/top-referrers${query}`)).body;
      expect(items[0]).toMatchObject({ id: pair.referrer.id, referrals_count: 1, total_earnings_kopeks: 999_999_999 });
    }
    const all = (await web.get('/partners/stats')).body;
    expect(all.summary.total_referrals).toBeGreaterThanOrEqual(all.summary.paid_referrals);
    expect(all.payouts.today_kopeks).toBeGreaterThanOrEqual(999_999_999);
    expect(all.new_referrals.week).toBeGreaterThanOrEqual(1);
    expect((await web.get('/partners/stats/daily')).body).toMatchObject({ days: 30, user_id: null });
  });

  it('answers 404 to an unknown id and 401 without a token', async () => {
    for (const id of [UNKNOWN, BEYOND, -1]) {
      for (const tail of ['', '/stats', '/stats/daily', '/stats/top-referrals', '/stats/compare']) {
        const reply = await web.get(`/partners/referrers/${id}${tail}`);
        expect([reply.status, reply.body]).toEqual([404, { detail: 'User not found' }]);
      }
      expect((await web.patch(`/partners/referrers/${id}/commission`, { referral_commission_percent: 5 })).status).toBe(404);
    }
    expect((await clientOf(server).get('/partners/stats')).status).toBe(401);
  });
});
