import { afterEach, beforeEach, expect, test } from 'vitest';
import type { App } from '../../src/core/app.ts';
import { HOUR_MS } from '../../src/core/clock.ts';
import type { Db } from '../../src/core/db/db.ts';
import { checkLedger } from '../../src/domain/ledger/check-ledger.ts';
import { chargeCards, startCharges } from '../../src/domain/payments/card-charges.ts';
import { readDueRenewal, renewDue } from '../../src/domain/subscriptions/autopay/renew-due.ts';
import { times } from '../support/parallel.ts';
import { moneyFacts } from '../support/payment-samples.ts';
import { aProviderFixture, type ProviderFixture } from '../support/providers/provider-fixture.ts';
import { yookassaCase } from '../support/providers/yookassa-case.ts';
import { aSubscription } from '../support/provisioning-setup.ts';
import { whileRefused } from '../support/refused-writes.ts';
import { storeRow } from '../support/stored-rows.ts';
import { serverUrl } from '../support/test-database.ts';

/** Renewals with saved cards, by many instances at once (spec 03 section 5.2): one charge a subscription and day, one payment, one renewal. */
const ENVIRONMENT = { ENABLE_AUTOPAY: 'true', YOOKASSA_RECURRENT_ENABLED: 'true', YOOKASSA_RECURRENT_REQUIRED: 'true' };
const PRICE = 90_000;

let fixture: ProviderFixture;
let subscriptionId: number;
let userId: number;
let missingKopeks: number;
/** Charges that reached the provider, by their idempotency keys. */
let keys: string[];

beforeEach(async () => {
  if (!serverUrl) throw new Error('Races need a PostgreSQL server: set TEST_DATABASE_URL');
  fixture = await aProviderFixture({ ...yookassaCase, option: 'card' }, { environment: ENVIRONMENT });
  userId = fixture.current.user.id;
  for (const callback of await fixture.act('pay')) await fixture.deliver(callback);
  const tariff = await storeRow(fixture.app, 'Tariff', { name: 'T', periodPrices: { '30': PRICE } });
  ({ id: subscriptionId } = await aSubscription(fixture.app, { user: fixture.current.user, days: 1, tariffId: tariff.id }));
  await fixture.app.db.sql(
    "UPDATE subscriptions SET autopay_enabled = true, autopay_days_before = 3, end_date = end_date + interval '1 hour' WHERE id = $1::int RETURNING id",
    [subscriptionId],
  );
  // A second card: were the first one not waited for, it would be charged too.
  await storeRow(fixture.app, 'SavedPaymentMethod', {
    userId,
    provider: 'yookassa',
    providerMethodId: `older-card-${userId}`,
    methodType: 'bank_card',
    createdAt: new Date('2020-01-01'),
    updatedAt: new Date('2020-01-01'),
  });
  ({ missingKopeks } = (await readDueRenewal(fixture.app, subscriptionId))!);
  keys = [];
  fixture.intercept((request) => {
    if (request.method === 'POST' && request.body.includes('payment_method_id')) keys.push(request.headers['idempotence-key']!);
    return null;
  });
});
afterEach(() => fixture.close());

const charges = () =>
  fixture.app.db.sql<{ id: number; status: string }>(
    'SELECT id, status FROM recurrent_charges WHERE subscription_id = $1::int ORDER BY id',
    [subscriptionId],
  );
const jobs = async () =>
  (
    await fixture.app.db.sql(
      "SELECT id FROM jobs.job WHERE name = 'payments.charge-card' AND (data ->> 'chargeId')::int = ANY ($1::int[])",
      [(await charges()).map(({ id }) => id)],
    )
  ).length;
const paidPayments = () =>
  fixture.app.db.sql<{ amountKopeks: number }>(
    "SELECT amount_kopeks FROM payments WHERE user_id = $1::int AND purpose = 'recurrent_topup' AND is_paid",
    [userId],
  );

test('twenty instances open one charge a day, with one job, at any hour of the day', async () => {
  await times(20, () => startCharges(fixture.app));
  const now = fixture.t.clock.now();
  // Not into the next day, which has a charge of its own.
  fixture.t.clock.set(new Date(now.getTime() + (now.getUTCHours() === 23 ? -HOUR_MS : HOUR_MS) / 2));
  await times(20, () => startCharges(fixture.app));
  expect(await charges()).toMatchObject([{ status: 'open' }]);
  expect(await jobs()).toBe(1);
});

test('twenty runs of one charge, and rounds that open charges meanwhile: one card is charged once, and renewed once', async () => {
  await startCharges(fixture.app);
  const [charge] = await charges();
  await Promise.all([
    times(20, () => chargeCards(fixture.app, { chargeId: charge!.id })),
    times(5, () => startCharges(fixture.app)),
  ]);
  expect(await charges()).toMatchObject([{ status: 'paid' }]);
  expect(new Set(keys).size).toBe(1);
  expect(await paidPayments()).toEqual([{ amountKopeks: missingKopeks }]);
  const attempts = await fixture.app.db.sql('SELECT status FROM recurrent_attempts WHERE charge_id = $1::int', [charge!.id]);
  expect(attempts).toEqual([{ status: 'paid' }]);
  await times(10, () => renewDue(fixture.app));
  expect((await moneyFacts(fixture.app, userId)).balance).toBe(0);
  expect(await checkLedger(fixture.app)).toEqual([]);
});

test('a run that read the renewal before another one paid it, and ended before it closed the charge, does not charge the next card', async () => {
  const { app } = fixture;
  await startCharges(app);
  const [charge] = await charges();
  const chargeId = charge!.id;
  let isRead = false;
  const sql: Db['sql'] = async (text, values) => {
    const rows = await app.db.sql(text, values);
    if (!isRead && /AS o\(id, place\) JOIN subscriptions/.test(text)) {
      isRead = true;
      const ending = whileRefused(app, 'recurrent_charges', () => chargeCards(app, { chargeId }), 'true', 'UPDATE');
      await expect(ending).rejects.toThrow('refused row');
    }
    return rows as never;
  };
  const late: App = { ...app, db: Object.assign(Object.create(app.db), { sql }) };
  await chargeCards(late, { chargeId });
  expect(isRead).toBe(true);
  expect(new Set(keys).size).toBe(1);
  expect(await charges()).toMatchObject([{ status: 'paid' }]);
  expect(await paidPayments()).toEqual([{ amountKopeks: missingKopeks }]);
});
