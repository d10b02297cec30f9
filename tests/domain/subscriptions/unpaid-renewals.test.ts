/** Renewals by autopay that lack money, for saved cards (spec 02 section 13, card top-up; spec 03 section 5.2). */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { checkLedger } from '../../../src/domain/ledger/check-ledger.ts';
import { runAfterTopup } from '../../../src/domain/payments/after-topup.ts';
import { topupBalance } from '../../../src/domain/payments/topup-balance.ts';
import {
  type AutopayRenewal,
  isRenewalDue,
  listUnpaidRenewals,
  type RenewalCursor,
  readDueRenewal,
  renewDue,
} from '../../../src/domain/subscriptions/autopay/renew-due.ts';
import { callback, paymentFacts, runCallbackJobs } from '../../support/payment-samples.ts';
import { aBuyer, aMembership, anOffer, aServer, aStoredSubscription, aTariff, rowOf, topUp } from '../../support/sale-samples.ts';
import { ScriptedProvider, withProvider } from '../../support/scripted-provider.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const PRICE = 30_000;

let t: TestApp;
let app: App;
const provider = new ScriptedProvider();
beforeAll(async () => {
  t = await testApp();
  app = await withProvider(t.app, provider);
});
beforeEach(() => app.db.sql('UPDATE subscriptions SET autopay_enabled = false WHERE autopay_enabled'));

const at = (ms: number) => new Date(t.clock.now().getTime() + ms);

/** Autopay on, ends in two days, 300 ₽ for 30 days. */
async function ending(balanceKopeks: number, columns: Record<string, unknown> = {}, tariff: Record<string, unknown> = {}) {
  const { userId } = await aBuyer(app, balanceKopeks);
  const tariff_id = 'tariff_id' in columns ? columns.tariff_id : await aTariff(app, tariff);
  const id = await aStoredSubscription(app, userId, { autopay_enabled: true, end_date: at(2 * DAY), ...columns, tariff_id });
  return { userId, id };
}

async function listAll(of: App = app, limit?: number): Promise<AutopayRenewal[]> {
  const all: AutopayRenewal[] = [];
  for (let after: RenewalCursor | null = null; ; ) {
    const page = await listUnpaidRenewals(of, after, limit);
    all.push(...page.items);
    if (page.next === null) return all;
    after = page.next;
  }
}

const stateOf = (userId: number) =>
  rowOf<{ balance: number; endDate: Date; payments: number; messages: number }>(
    app,
    `SELECT u.balance_kopeks AS balance, s.end_date, s.status,
       (SELECT count(*)::int FROM transactions x WHERE x.user_id = u.id AND x.type = 'subscription_payment') AS payments
     FROM users u JOIN subscriptions s ON s.user_id = u.id WHERE u.id = $1::int`,
    [userId],
  );

describe('the selection', () => {
  test('names user, subscription, price, balance and what is missing', async () => {
    const { userId, id } = await ending(12_345);
    const renewal = {
      userId,
      subscriptionId: id,
      endDate: at(2 * DAY),
      periodDays: 30,
      priceKopeks: PRICE,
      balanceKopeks: 12_345,
      missingKopeks: 17_655,
    };
    expect(await listAll()).toEqual([renewal]);
    expect(await readDueRenewal(app, id)).toEqual(renewal);
    await topUp(app, userId, 17_655);
    expect(await listAll()).toEqual([]);
    expect(await readDueRenewal(app, id)).toEqual({ ...renewal, balanceKopeks: PRICE, missingKopeks: 0 });
  });

  test.each<[string, boolean, Record<string, unknown>, string?]>([
    ['ended 47 h ago', true, { status: 'expired', end_date: -47 * HOUR }],
    ['ended 47 h ago and not yet marked', true, { end_date: -47 * HOUR }],
    ['ended 48 h ago', false, { status: 'expired', end_date: -48 * HOUR }],
    ['with three whole days left and the usual lead', true, { end_date: 4 * DAY - 1 }],
    ['with four days left and the usual lead', false, { end_date: 4 * DAY }],
    ['with a lead of one day and one whole day left', true, { autopay_days_before: 1, end_date: 2 * DAY - 1 }],
    ['with a lead of one day and two days left', false, { autopay_days_before: 1, end_date: 2 * DAY }],
    ['with a lead of 0, which means three', true, { autopay_days_before: 0, end_date: 4 * DAY - 1 }],
    ['with a lead of ten days, later than the setting allows', false, { autopay_days_before: 10, end_date: 5 * DAY }],
    ['with autopay off', false, { autopay_enabled: false }],
    ['of a trial', false, { is_trial: true }],
    ['that is disabled', false, { status: 'disabled' }],
    ['that is limited', false, { status: 'limited' }],
    ['that the panel has just reported on', false, { last_webhook_update_at: -1_000 }],
    ['of a blocked user', false, {}, "status = 'blocked'"],
    ['of a restricted user', false, {}, 'restriction_subscription = true'],
    ['of a user who may not top up by hand', true, {}, 'restriction_topup = true'],
  ])('a subscription %s: %s', async (_title, isListed, columns, change = 'status = status') => {
    const dated = Object.entries(columns).map(([name, value]) => [
      name,
      name === 'end_date' || name === 'last_webhook_update_at' ? at(value as number) : value,
    ]);
    const { userId, id } = await ending(0, Object.fromEntries(dated));
    await app.db.sql(`UPDATE users SET ${change} WHERE id = $1::int RETURNING id`, [userId]);
    expect((await listAll()).map(({ subscriptionId }) => subscriptionId)).toEqual(isListed ? [id] : []);
    expect(await isRenewalDue(app, id)).toBe(isListed);
  });

  test('spec 02 H23: leads of up to 30 days are honoured where the setting allows them', async () => {
    const { app: patient } = await testApp({ environment: { DEFAULT_AUTOPAY_DAYS_BEFORE: '365' }, clock: t.clock });
    const [far, near, beyond] = [
      await ending(0, { autopay_days_before: 20, end_date: at(20.5 * DAY) }),
      await ending(0, { autopay_days_before: 3, end_date: at(20.5 * DAY) }),
      await ending(0, { autopay_days_before: 45, end_date: at(31 * DAY) }, { period_prices: { 60: PRICE } }),
    ];
    expect((await listAll(patient)).map(({ userId }) => userId)).toEqual([far.userId]);
    expect(await isRenewalDue(patient, near.id)).toBe(false);
    expect(await isRenewalDue(patient, beyond.id)).toBe(false);
  });

  test('no daily tariff, no plan without a period, no free one, none with a whole period left', async () => {
    await ending(0, {}, { is_daily: true, daily_price_kopeks: 100 });
    await ending(0, {}, { period_prices: {} });
    await ending(0, {}, { period_prices: { 30: 0 } });
    await ending(0, {}, { period_prices: { 2: 100 } });
    expect(await listAll()).toEqual([]);
    expect(await isRenewalDue(app, 0)).toBe(false);
  });

  test('pages hold each once, also those of one timestamp', async () => {
    const expected: number[] = [];
    for (const days of [1, 1, 1, 2, 2, 0.5, 3]) expected.push((await ending(0, { end_date: at(days * DAY) })).userId);
    await ending(PRICE, { end_date: at(1.5 * DAY) });
    const listed = (await listAll(app, 2)).map(({ userId }) => userId);
    expect(listed).toEqual([5, 0, 1, 2, 3, 4, 6].map((index) => expected[index]));
  });
});

describe('the price', () => {
  /** A renewal whose price depends on everything that prices depend on. */
  const cases: [string, () => Promise<{ userId: number; id: number }>][] = [
    ['of the shortest period of the tariff', () => ending(0, {}, { period_prices: { 90: 80_000, 30: PRICE } })],
    [
      'with devices, promo group and personal discount',
      async () => {
        const of = await ending(0, { device_limit: 5 }, { device_limit: 1, device_price_kopeks: 5_000 });
        await aMembership(app, of.userId, { period_discounts: { 30: 15 }, device_discount_percent: 10 });
        await anOffer(app, of.userId, 20);
        return of;
      },
    ],
    [
      'of a classic subscription with its servers',
      async () => {
        const server = await aServer(app, { price_kopeks: 7_000 });
        return ending(0, { tariff_id: null, connected_squads: [server.uuid], device_limit: 3, traffic_limit_gb: 100 });
      },
    ],
  ];
  test.each(cases)('%s is the one that the job charges', async (_title, make) => {
    const { userId, id } = await make();
    const { priceKopeks } = (await readDueRenewal(app, id))!;
    expect(priceKopeks).toBeGreaterThan(0);
    await topUp(app, userId, priceKopeks - 1);
    await renewDue(app);
    expect(await stateOf(userId)).toMatchObject({ payments: 0 });
    expect(await listAll()).toMatchObject([{ userId, priceKopeks, missingKopeks: 1 }]);
    await topUp(app, userId, 1);
    await renewDue(app);
    expect(await stateOf(userId)).toMatchObject({ balance: 0, payments: 1 });
    expect(await isRenewalDue(app, id)).toBe(false);
  });
});

describe('a credited charge of a saved card (recurrent_topup)', () => {
  async function charge(userId: number, amountKopeks: number): Promise<number> {
    const order = { amountKopeks, method: 'sandbox', option: null };
    const { paymentId } = await topupBalance(app, { kind: 'user', userId }, order, { idempotencyKey: null });
    await app.db.sql("UPDATE payments SET purpose = 'recurrent_topup' WHERE id = $1::int RETURNING id", [paymentId]);
    const externalId = (await paymentFacts(app, paymentId)).externalId!;
    provider.set(externalId, 'paid');
    for (const _ of [1, 2]) {
      await callback(app, externalId);
      await runCallbackJobs(app, externalId);
    }
    return paymentId;
  }
  const missing = async (id: number) => (await readDueRenewal(app, id))!.missingKopeks;

  test('is followed by one renewal by the autopay job, however often both run', async () => {
    const { userId, id } = await ending(10_000);
    const paymentId = await charge(userId, await missing(id));
    await runAfterTopup(app, { paymentId });
    expect(await stateOf(userId)).toMatchObject({ balance: PRICE, payments: 0 });
    await Promise.all([renewDue(app), renewDue(app)]);
    await runAfterTopup(app, { paymentId });
    await renewDue(app);
    expect(await stateOf(userId)).toMatchObject({ balance: 0, payments: 1, endDate: at(32 * DAY) });
    expect(await checkLedger(app)).toEqual([]);
  });

  test('renews once what ended so long ago that the job does not take it any more', async () => {
    const { userId, id } = await ending(10_000, { status: 'expired', end_date: at(-5 * HOUR) });
    const paymentId = await charge(userId, 50_000 + (await missing(id)));
    await renewDue(app);
    expect(await stateOf(userId)).toMatchObject({ balance: 80_000, payments: 0 });
    await Promise.all([runAfterTopup(app, { paymentId }), runAfterTopup(app, { paymentId }), renewDue(app)]);
    await runAfterTopup(app, { paymentId });
    expect(await stateOf(userId)).toMatchObject({ balance: 50_000, status: 'active', payments: 1, endDate: at(30 * DAY) });
  });

  test('buys no saved order and sends no message of its own', async () => {
    const { userId, id } = await ending(10_000, { autopay_enabled: true });
    const sent = () =>
      rowOf<{ jobs: number }>(app, "SELECT count(*)::int AS jobs FROM jobs.job WHERE name = 'messenger.send'", []);
    const before = await sent();
    const paymentId = await charge(userId, await missing(id));
    await runAfterTopup(app, { paymentId });
    expect(await sent()).toEqual(before);
    expect(await stateOf(userId)).toMatchObject({ payments: 0 });
  });
});
