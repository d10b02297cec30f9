import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addDays } from '../../src/core/clock.ts';
import { type ActorClient, adminClient, userClient } from '../support/actors.ts';
import { testServer } from '../support/api.ts';
import { aStoredSubscription, topUp } from '../support/sale-samples.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { aWheel } from '../support/wheel-samples.ts';

const admin = '/cabinet/admin/wheel';
let t: TestApp;
let server: FastifyInstance;
let boss: ActorClient;

beforeAll(async () => {
  t = await testApp();
  server = await testServer(t.app);
  boss = await adminClient(t.app, server, ['wheel:*']);
});
afterAll(() => server.close());

/** Each bound of issue 4, row 5: field, least, most. */
const NUMBERS: [string, number, number][] = [
  ['spin_cost_stars', 1, 1000],
  ['spin_cost_days', 1, 30],
  ['rtp_percent', 0, 100],
  ['daily_spin_limit', 0, 100],
  ['min_subscription_days_for_day_payment', 1, 30],
  ['promo_validity_days', 1, 365],
];
const TEXTS: [string, number][] = [
  ['name', 255],
  ['promo_prefix', 20],
];

describe('PUT /cabinet/admin/wheel/config', () => {
  const put = (body: object) => boss.put(`${admin}/config`, body);
  const issue = (type: string, field: string, msg: string, input: unknown, ctx?: object) => ({
    status: 422,
    detail: [{ loc: ['body', field], type, msg, input, ...(ctx ? { ctx } : {}) }],
  });
  const refused = async (body: object) => {
    const reply = await put(body);
    return { status: reply.status, detail: reply.body.detail };
  };

  it.each(NUMBERS)('%s from %d to %d, null and absence leave it', async (field, least, most) => {
    for (const value of [least, most]) {
      const reply = await put({ [field]: value });
      expect([reply.status, reply.body[field]]).toEqual([200, value]);
    }
    const kept = await put({ [field]: null });
    expect([kept.status, kept.body[field]]).toEqual([200, most]);
    const message = (word: string, bound: number) => `Input should be ${word} than or equal to ${bound}`;
    expect(await refused({ [field]: least - 1 })).toEqual(
      issue('greater_than_equal', field, message('greater', least), least - 1, { ge: least }),
    );
    expect(await refused({ [field]: most + 1 })).toEqual(
      issue('less_than_equal', field, message('less', most), most + 1, { le: most }),
    );
    expect(await refused({ [field]: 'many' })).toMatchObject({ status: 422, detail: [{ loc: ['body', field], input: 'many' }] });
    expect(await refused({ [field]: 1.5 })).toMatchObject({ status: 422, detail: [{ type: 'int_from_float', input: 1.5 }] });
  });

  it.each(TEXTS)('%s of 1 to %d characters', async (field, most) => {
    for (const value of ['x', 'X'.repeat(most)]) {
      const reply = await put({ [field]: value });
      expect([reply.status, reply.body[field]]).toEqual([200, value]);
    }
    expect((await put({ [field]: null })).body[field]).toBe('X'.repeat(most));
    const long = 'X'.repeat(most + 1);
    expect(await refused({ [field]: '' })).toMatchObject({
      status: 422,
      detail: [{ loc: ['body', field], type: 'string_too_short', input: '', ctx: { min_length: 1 } }],
    });
    expect(await refused({ [field]: long })).toMatchObject({
      status: 422,
      detail: [{ loc: ['body', field], type: 'string_too_long', input: long, ctx: { max_length: most } }],
    });
    expect(await refused({ [field]: 5 })).toMatchObject({ status: 422, detail: [{ type: 'string_type', input: 5 }] });
  });

  it.each(['is_enabled', 'spin_cost_stars_enabled', 'spin_cost_days_enabled'])('%s is true, false or left', async (field) => {
    for (const value of [true, false]) expect((await put({ [field]: value })).body[field]).toBe(value);
    expect((await put({ [field]: null })).body[field]).toBe(false);
    expect(await refused({ [field]: 'maybe' })).toMatchObject({
      status: 422,
      detail: [{ loc: ['body', field], input: 'maybe' }],
    });
  });

  it('an empty body is 400', async () => {
    const empty = await put({});
    expect([empty.status, empty.body]).toEqual([400, { detail: 'No fields to update' }]);
  });

  it('a reader may not write', async () => {
    const reader = await adminClient(t.app, server, ['wheel:read']);
    expect((await reader.put(`${admin}/config`, { is_enabled: true })).status).toBe(403);
    expect((await reader.get(`${admin}/config`)).status).toBe(200);
  });
});

describe('prizes', () => {
  it('are made, changed, ordered and deleted, while their spins stay', async () => {
    await aWheel(t.app, []);
    const make = async (name: string) =>
      (await boss.post(`${admin}/prizes`, { prize_type: 'nothing', prize_value: 0, display_name: name, prize_value_kopeks: 0 }))
        .body;
    const [a, b] = [await make('A'), await make('B')];
    expect(a).toEqual({
      id: expect.any(Number),
      config_id: 1,
      prize_type: 'nothing',
      prize_value: 0,
      display_name: 'A',
      emoji: '🎁',
      color: '#3B82F6',
      prize_value_kopeks: 0,
      sort_order: 0,
      manual_probability: null,
      is_active: true,
      promo_balance_bonus_kopeks: 0,
      promo_subscription_days: 0,
      promo_traffic_gb: 0,
      created_at: expect.stringMatching(/Z$/),
      updated_at: expect.stringMatching(/Z$/),
    });
    const changed = await boss.put(`${admin}/prizes/${a.id}`, { manual_probability: 0.5, color: '#00ff00', display_name: null });
    expect(changed.body).toMatchObject({ manual_probability: 0.5, color: '#00ff00', display_name: 'A' });
    expect((await boss.put(`${admin}/prizes/${a.id}`, { manual_probability: null })).body.manual_probability).toBeNull();
    // Spec 10 R4: an empty request is refused before the prize is looked up.
    for (const id of [a.id, 999_999_999]) {
      expect(await boss.put(`${admin}/prizes/${id}`, {})).toMatchObject({ status: 400, body: { detail: 'No fields to update' } });
    }
    expect((await boss.post(`${admin}/prizes`, { ...b, sort_order: 3_000_000_000 })).status).toBe(422);
    for (const field of ['prize_value', 'prize_value_kopeks', 'promo_balance_bonus_kopeks']) {
      const refused = {
        status: 422,
        body: { detail: [{ loc: ['body', field], type: 'less_than_equal', ctx: { le: 2_147_483_647 } }] },
      };
      expect(await boss.post(`${admin}/prizes`, { ...b, [field]: 2_147_483_648 })).toMatchObject(refused);
      expect(await boss.put(`${admin}/prizes/${a.id}`, { [field]: Number.MAX_SAFE_INTEGER })).toMatchObject(refused);
    }
    const worthless = await boss.put(`${admin}/prizes/${a.id}`, { prize_type: 'promocode' });
    expect(worthless).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['body', 'promo_balance_bonus_kopeks'], type: 'value_error', input: 0 }] },
    });
    expect((await boss.post(`${admin}/prizes/reorder`, { prize_ids: [b.id, 999_999_999_999, a.id] })).body).toEqual({
      success: true,
    });
    const listed = await boss.get(`${admin}/prizes`);
    expect(
      listed.body.map((prize: { display_name: string; sort_order: number }) => [prize.display_name, prize.sort_order]),
    ).toEqual([
      ['B', 0],
      ['A', 2],
    ]);
    const user = await userClient(t.app, server);
    await topUp(t.app, user.user.id, 1_300);
    await boss.put(`${admin}/prizes/${a.id}`, { is_active: false });
    expect((await user.post('/cabinet/wheel/spin', { payment_type: 'messenger_stars' })).body).toMatchObject({ prize_id: b.id });
    expect((await boss.delete(`${admin}/prizes/${b.id}`)).body).toEqual({ success: true });
    expect(await boss.delete(`${admin}/prizes/${b.id}`)).toMatchObject({ status: 404, body: { detail: 'Prize not found' } });
    expect((await user.get('/cabinet/wheel/history')).body.items[0]).toMatchObject({ prize_display_name: 'B', emoji: '🎁' });
  });
});

describe('the user’s wheel', () => {
  it('shows costs and chances to spin, spins, and remembers', async () => {
    const [prize] = await aWheel(t.app, [
      { prizeType: 'balance_bonus', prizeValue: 900, prizeValueKopeks: 900, displayName: '9 ₽', emoji: '💰', color: '#112233' },
    ]);
    const user = await userClient(t.app, server, { language: 'en' });
    await topUp(t.app, user.user.id, 1_300);
    await aStoredSubscription(t.app, user.user.id, { end_date: addDays(t.app.clock.now(), 10) });
    expect((await user.get('/cabinet/wheel/config')).body).toEqual({
      is_enabled: true,
      name: expect.any(String),
      spin_cost_stars: 10,
      spin_cost_days: 1,
      spin_cost_stars_enabled: true,
      spin_cost_days_enabled: true,
      prizes: [{ id: prize!.id, display_name: '9 ₽', emoji: '💰', color: '#112233', prize_type: 'balance_bonus' }],
      daily_limit: 5,
      user_spins_today: 0,
      can_spin: true,
      can_spin_reason: null,
      can_pay_stars: true,
      can_pay_days: true,
      user_balance_kopeks: 1_300,
      required_balance_kopeks: 1_300,
      has_subscription: true,
    });
    const spun = await user.post('/cabinet/wheel/spin', { payment_type: 'messenger_stars' });
    expect([spun.status, spun.body]).toEqual([
      200,
      {
        success: true,
        prize_id: prize!.id,
        prize_type: 'balance_bonus',
        prize_value: 900,
        prize_display_name: '9 ₽',
        emoji: '💰',
        color: '#112233',
        rotation_degrees: expect.any(Number),
        message: '9 ₽ was added to your balance',
        promocode: null,
        error: null,
      },
    ]);
    expect((await user.get('/cabinet/wheel/availability')).body).toEqual({
      can_spin: true,
      reason: null,
      spins_remaining_today: 4,
      can_pay_stars: false,
      can_pay_days: true,
      min_subscription_days: 3,
      user_subscription_days: 10,
      user_balance_kopeks: 900,
      required_balance_kopeks: 1_300,
    });
    const poor = await user.post('/cabinet/wheel/spin', { payment_type: 'messenger_stars' });
    expect([poor.status, poor.body]).toMatchObject([
      200,
      { success: false, error: 'cannot_pay_stars', prize_id: null, prize_value: 0 },
    ]);
    const wrong = await user.post('/cabinet/wheel/spin', { payment_type: 'cash' });
    expect([wrong.status, wrong.body.detail[0].loc]).toEqual([422, ['body', 'payment_type']]);
    for (const [query, page, perPage] of [
      [{ page: 0, per_page: 0 }, 1, 20],
      [{ page: -3, per_page: 101 }, 1, 20],
      [{ page: 2, per_page: 100 }, 2, 100],
    ] as const) {
      const history = await user.get('/cabinet/wheel/history', { query });
      expect([history.status, history.body]).toMatchObject([200, { total: 1, page, per_page: perPage, pages: 1 }]);
      expect(history.body.items).toHaveLength(page === 1 ? 1 : 0);
    }
    const invoice = await user.post('/cabinet/wheel/stars-invoice');
    expect([invoice.status, invoice.body]).toEqual([200, { invoice_url: expect.stringMatching(/^https?:/), stars_amount: 10 }]);
    // The invoice is no top-up that waits.
    expect((await user.get('/cabinet/balance/pending-payments')).body).toMatchObject({ items: [], total: 0 });

    const mine = { user_id: user.user.id };
    const spins = await boss.get(`${admin}/spins`, { query: mine });
    expect(spins.body).toMatchObject({
      total: 1,
      page: 1,
      per_page: 50,
      pages: 1,
      items: [{ user_id: user.user.id, payment_type: 'messenger_stars', payment_value_kopeks: 1_300, is_applied: true }],
    });
    const now = t.app.clock.now();
    const inside = await boss.get(`${admin}/spins`, {
      query: { ...mine, date_from: now.toISOString(), date_to: now.toISOString() },
    });
    expect(inside.body.total).toBe(1);
    const before = await boss.get(`${admin}/spins`, { query: { ...mine, date_to: addDays(now, -1).toISOString() } });
    expect(before.body.total).toBe(0);
  });

  it('statistics sum a period', async () => {
    await t.app.db.sql('DELETE FROM wheel_spins');
    const empty = await boss.get(`${admin}/statistics`);
    expect(empty.body).toEqual({
      total_spins: 0,
      total_revenue_kopeks: 0,
      total_payout_kopeks: 0,
      actual_rtp_percent: 0,
      configured_rtp_percent: 80,
      spins_by_payment_type: {},
      prizes_distribution: [],
      top_wins: [],
      period_from: null,
      period_to: null,
    });
    await aWheel(t.app, [{ prizeType: 'balance_bonus', prizeValue: 400, prizeValueKopeks: 400, displayName: '4 ₽' }]);
    const user = await userClient(t.app, server);
    await topUp(t.app, user.user.id, 2_600);
    for (let n = 0; n < 2; n++) await user.post('/cabinet/wheel/spin', { payment_type: 'messenger_stars' });
    const from = addDays(t.app.clock.now(), -1).toISOString();
    const found = await boss.get(`${admin}/statistics`, { query: { date_from: from } });
    expect(found.body).toMatchObject({
      total_spins: 2,
      total_revenue_kopeks: 2_600,
      total_payout_kopeks: 800,
      actual_rtp_percent: 30.77,
      spins_by_payment_type: { messenger_stars: { count: 2, total_kopeks: 2_600 } },
      prizes_distribution: [{ prize_type: 'balance_bonus', display_name: '4 ₽', count: 2, total_kopeks: 800 }],
      top_wins: [{ user_id: user.user.id, prize_display_name: '4 ₽', prize_value_kopeks: 400 }, {}],
      period_from: from,
      period_to: null,
    });
  });
});
