import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { LoopbackRequest } from '../../../packages/sandbox/src/loopback-server.ts';
import { addDays, DAY_MS, HOUR_MS } from '../../../src/core/clock.ts';
import { checkLedger } from '../../../src/domain/ledger/check-ledger.ts';
import { chargeCards, listSavedCards, startCharges, unlinkSavedCard } from '../../../src/domain/payments/card-charges.ts';
import { readDueRenewal, renewDue } from '../../../src/domain/subscriptions/autopay/renew-due.ts';
import { moneyFacts } from '../../support/payment-samples.ts';
import { aProviderFixture, type ProviderFixture } from '../../support/providers/provider-fixture.ts';
import { yookassaCase } from '../../support/providers/yookassa-case.ts';
import { aSubscription } from '../../support/provisioning-setup.ts';
import { storeRow } from '../../support/stored-rows.ts';

/** Saved cards and the renewals that they pay (spec 03 section 5.2), through the YooKassa adapter and its fake over HTTP. */
const ENVIRONMENT = { ENABLE_AUTOPAY: 'true', YOOKASSA_RECURRENT_ENABLED: 'true', YOOKASSA_RECURRENT_REQUIRED: 'true' };
/** Of 30 days; the subscription's second device is paid besides. */
const PRICE = 90_000;

let fixture: ProviderFixture;
let subscriptionId: number;
let userId: number;
/** What the balance lacks for the renewal. */
let missingKopeks: number;
const actor = () => ({ kind: 'user', userId }) as const;

const start = async (environment: Record<string, string> = {}) => {
  fixture = await aProviderFixture({ ...yookassaCase, option: 'card' }, { environment: { ...ENVIRONMENT, ...environment } });
  userId = fixture.current.user.id;
  for (const callback of await fixture.act('pay')) await fixture.deliver(callback);
  const tariff = await storeRow(fixture.app, 'Tariff', { name: 'T', periodPrices: { '30': PRICE } });
  const subscription = await aSubscription(fixture.app, { user: fixture.current.user, days: 1, tariffId: tariff.id });
  subscriptionId = subscription.id;
  await fixture.app.db.sql(
    "UPDATE subscriptions SET autopay_enabled = true, autopay_days_before = 3, end_date = end_date + interval '1 hour' WHERE id = $1::int RETURNING id",
    [subscriptionId],
  );
  ({ missingKopeks } = (await readDueRenewal(fixture.app, subscriptionId))!);
  expect(missingKopeks).toBeGreaterThan(0);
};
beforeEach(() => start());
afterEach(() => fixture.close());

const charges = () =>
  fixture.app.db.sql<{ id: number; status: string }>(
    'SELECT id, status FROM recurrent_charges WHERE subscription_id = $1::int ORDER BY id',
    [subscriptionId],
  );
const attempts = () =>
  fixture.app.db.sql<{ status: string; reason: string | null }>(
    `SELECT a.status, a.reason FROM recurrent_attempts a JOIN recurrent_charges c ON c.id = a.charge_id
     WHERE c.subscription_id = $1::int ORDER BY a.id`,
    [subscriptionId],
  );
const chargeToday = async () => {
  await startCharges(fixture.app);
  const open = (await charges()).filter(({ status }) => status === 'open');
  for (const { id } of open) await chargeCards(fixture.app, { chargeId: id });
};
const endDate = async () => {
  const [row] = await fixture.app.db.sql<{ endDate: Date }>('SELECT end_date FROM subscriptions WHERE id = $1::int', [
    subscriptionId,
  ]);
  return row!.endDate;
};
const paidByCard = async () => {
  const [row] = await fixture.app.db.sql<{ sum: number }>(
    `SELECT coalesce(sum(p.amount_kopeks), 0)::int AS sum FROM payments p WHERE p.user_id = $1::int AND p.purpose = 'recurrent_topup' AND p.is_paid`,
    [userId],
  );
  return row!.sum;
};

/** The charges that reach the provider, answered in place of the fake: null = by the fake, without an id = the provider is down. */
function answerCharges(answer: (request: LoopbackRequest) => object | null) {
  const seen: LoopbackRequest[] = [];
  fixture.intercept((request) => {
    if (request.method !== 'POST' || !request.body.includes('payment_method_id')) return null;
    seen.push(request);
    const body = answer(request);
    if (body === null) return null;
    return { status: 'id' in body ? 200 : 503, contentType: 'application/json', body: JSON.stringify(body) };
  });
  return seen;
}

/** A provider that decides on charges when `status` says so. */
function undecided() {
  const payment = { status: 'pending', made: [] as { key: string; body: string }[] };
  fixture.intercept((request) => {
    const isCharge = request.method === 'POST' && request.body.includes('payment_method_id');
    if (isCharge) payment.made.push({ key: request.headers['idempotence-key']!, body: request.body });
    const made = isCharge ? payment.made.at(-1) : payment.made.find(({ key }) => request.path.includes(key));
    if (!made) return null;
    const { amount, metadata } = JSON.parse(made.body);
    const body = JSON.stringify({
      id: `payment-${made.key}`,
      status: payment.status,
      paid: payment.status === 'succeeded',
      amount,
      metadata,
      test: true,
      recipient: { account_id: 'sandbox' },
      created_at: fixture.t.clock.now().toISOString(),
    });
    return { status: 200, contentType: 'application/json', body };
  });
  return payment;
}

const canceled = (reason: string) => (request: LoopbackRequest) => ({
  id: `payment-${request.headers['idempotence-key']}`,
  status: 'canceled',
  paid: false,
  amount: JSON.parse(request.body).amount,
  metadata: JSON.parse(request.body).metadata,
  recipient: { account_id: 'sandbox' },
  cancellation_details: { reason },
  test: true,
});
describe('a card', () => {
  test('is saved by a payment whose method the provider keeps, once, and not linked again after it was unlinked', async () => {
    const { cards } = await listSavedCards(fixture.app, actor());
    expect(cards).toMatchObject([{ methodType: 'bank_card', cardLast4: '4477', title: 'MasterCard *4477' }]);
    await unlinkSavedCard(fixture.app, actor(), cards[0]!.id);
    for (const callback of fixture.posted('pay')) {
      fixture.t.clock.advance(HOUR_MS);
      await fixture.deliver(callback);
    }
    expect((await listSavedCards(fixture.app, actor())).cards).toEqual([]);
  });
});

describe('a renewal that the balance does not cover', () => {
  test('is paid with the card, once a day, and renewed by autopay', async () => {
    const seen = answerCharges(() => null);
    const before = await endDate();
    await Promise.all([startCharges(fixture.app), startCharges(fixture.app)]);
    const [charge] = await charges();
    await Promise.all([chargeCards(fixture.app, { chargeId: charge!.id }), chargeCards(fixture.app, { chargeId: charge!.id })]);
    await chargeToday();
    expect(await charges()).toMatchObject([{ status: 'paid' }]);
    expect(new Set(seen.map((request) => request.headers['idempotence-key'])).size).toBe(1);
    expect(await paidByCard()).toBe(missingKopeks);
    await renewDue(fixture.app);
    expect(await endDate()).toEqual(addDays(before, 30));
    expect((await moneyFacts(fixture.app, userId)).balance).toBe(0);
    expect(await checkLedger(fixture.app)).toEqual([]);
  });

  test('is not charged after the card was unlinked, nor on a day that the plan leaves out', async () => {
    const seen = answerCharges(() => null);
    const [card] = (await listSavedCards(fixture.app, actor())).cards;
    await startCharges(fixture.app);
    await unlinkSavedCard(fixture.app, actor(), card!.id);
    await chargeToday();
    expect(await charges()).toMatchObject([{ status: 'failed' }]);
    await fixture.close();
    await start({ CARD_CHARGE_DAYS: '3' });
    await chargeToday();
    expect(await charges()).toEqual([]);
    expect(seen).toEqual([]);
  });

  test('whose card was unlinked between the stored attempt and the call is not charged', async () => {
    const seen = answerCharges(() => ({}));
    await startCharges(fixture.app);
    const [charge] = await charges();
    await expect(chargeCards(fixture.app, { chargeId: charge!.id })).rejects.toMatchObject({ failure: 'unavailable' });
    const before = seen.length;
    const [card] = (await listSavedCards(fixture.app, actor())).cards;
    await unlinkSavedCard(fixture.app, actor(), card!.id);
    await chargeCards(fixture.app, { chargeId: charge!.id });
    expect(seen).toHaveLength(before);
    expect(await attempts()).toEqual([{ status: 'failed', reason: 'unlinked' }]);
  });

  test('killed at any time is charged once: the same idempotency key, one credit', async () => {
    let isDown = true;
    const keys = new Set<string>();
    fixture.intercept((request) => {
      if (request.method === 'POST' && request.body.includes('payment_method_id')) keys.add(request.headers['idempotence-key']!);
      return isDown ? { status: 503, contentType: 'text/plain', body: '' } : null;
    });
    await startCharges(fixture.app);
    const [charge] = await charges();
    // Every try of the first run, so that another run has to repeat the charge.
    await expect(chargeCards(fixture.app, { chargeId: charge!.id })).rejects.toMatchObject({ failure: 'unavailable' });
    isDown = false;
    for (let run = 0; run < 4; run++) await chargeCards(fixture.app, { chargeId: charge!.id });
    const [attempt] = await fixture.app.db.sql<{ orderId: string }>(
      'SELECT p.order_id FROM recurrent_attempts a JOIN payments p ON p.id = a.payment_id WHERE a.charge_id = $1::int',
      [charge!.id],
    );
    expect([...keys]).toEqual([attempt!.orderId]);
    expect(await paidByCard()).toBe(missingKopeks);
    expect(await charges()).toMatchObject([{ status: 'paid' }]);
  });

  test.each(['permission_revoked', 'card_expired'])('that is refused with %s: the card is not charged again', async (reason) => {
    const seen = answerCharges(canceled(reason));
    await chargeToday();
    expect(await charges()).toMatchObject([{ status: 'failed' }]);
    expect(await attempts()).toEqual([{ status: 'failed', reason }]);
    expect((await listSavedCards(fixture.app, actor())).cards).toEqual([]);
    fixture.t.clock.advance(DAY_MS);
    await chargeToday();
    expect(seen).toHaveLength(1);
  });

  test('that fails for want of money is reported, and tried again on the next day of the plan', async () => {
    const seen = answerCharges(canceled('insufficient_funds'));
    await chargeToday();
    await chargeToday();
    fixture.t.clock.advance(DAY_MS);
    await chargeToday();
    expect(seen).toHaveLength(2);
    expect(await charges()).toMatchObject([{ status: 'failed' }, { status: 'failed' }]);
    expect((await listSavedCards(fixture.app, actor())).cards).toHaveLength(1);
    const notices = await fixture.app.db.sql(
      `SELECT 1 FROM jobs.job WHERE name = 'messenger.send' AND data ->> 'messengerId' = $1 AND data ->> 'html' LIKE '%карт%'`,
      [String(fixture.current.user.messengerId)],
    );
    expect(notices).toHaveLength(2);
  });

  test('that the provider has not decided waits, and no second charge is made', async () => {
    let status = 'pending';
    const made: string[] = [];
    fixture.intercept((request) => {
      const isCharge = request.method === 'POST' && request.body.includes('payment_method_id');
      if (isCharge) made.push(request.body);
      if (made.length === 0) return null;
      const { amount, metadata } = JSON.parse(made[0]!);
      const payment = { id: 'payment-undecided', status, paid: status === 'succeeded', amount, metadata, test: true };
      const body = JSON.stringify({
        ...payment,
        recipient: { account_id: 'sandbox' },
        created_at: fixture.t.clock.now().toISOString(),
      });
      return { status: 200, contentType: 'application/json', body };
    });
    await chargeToday();
    await chargeToday();
    expect(await charges()).toMatchObject([{ status: 'open' }]);
    status = 'succeeded';
    await chargeToday();
    expect(made).toHaveLength(1);
    expect(await charges()).toMatchObject([{ status: 'paid' }]);
    expect(await paidByCard()).toBe(missingKopeks);
  });

  test('that the provider has not decided at midnight is not charged a second time on the next day of the plan', async () => {
    const payment = undecided();
    await chargeToday();
    expect(await charges()).toMatchObject([{ status: 'open' }]);
    fixture.t.clock.advance(DAY_MS);
    await chargeToday();
    expect(payment.made).toHaveLength(1);
    payment.status = 'succeeded';
    await chargeToday();
    expect(payment.made).toHaveLength(1);
    expect(await paidByCard()).toBe(missingKopeks);
    expect((await charges()).map(({ status }) => status)).toEqual(['paid', 'not_due']);
    expect(await checkLedger(fixture.app)).toEqual([]);
  });

  test('that the provider refuses at last is charged again on the day of the plan', async () => {
    const payment = undecided();
    await chargeToday();
    fixture.t.clock.advance(DAY_MS);
    await chargeToday();
    payment.status = 'canceled';
    // The job of today's charge ends yesterday's attempt and goes on; that of yesterday's finds nothing to do.
    await chargeToday();
    await chargeToday();
    expect(payment.made).toHaveLength(2);
    expect(new Set(payment.made.map(({ key }) => key)).size).toBe(2);
  });

  test('whose answer was lost is not sent again after the idempotency key has expired at the provider', async () => {
    const seen = answerCharges(() => ({}));
    await startCharges(fixture.app);
    const [charge] = await charges();
    await expect(chargeCards(fixture.app, { chargeId: charge!.id })).rejects.toMatchObject({ failure: 'unavailable' });
    const before = seen.length;
    fixture.t.clock.advance(DAY_MS);
    await chargeCards(fixture.app, { chargeId: charge!.id });
    expect(seen).toHaveLength(before);
    expect(await attempts()).toEqual([{ status: 'failed', reason: 'unclear' }]);
    expect(await charges()).toMatchObject([{ status: 'not_due' }]);
  });
});
