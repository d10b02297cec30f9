import { beforeAll, expect, test } from 'vitest';
import type { App } from '../../src/core/app.ts';
import { checkLedger } from '../../src/domain/ledger/check-ledger.ts';
import { creditPayment, creditSeenPayment } from '../../src/domain/payments/credit-payment.ts';
import type { PaymentReport, ProviderReversal } from '../../src/domain/payments/ports.ts';
import { requestRefund } from '../../src/domain/payments/refunds.ts';
import { findPayment } from '../../src/domain/payments/repo.ts';
import { resolveCase } from '../../src/domain/payments/resolve-case.ts';
import { topupBalance } from '../../src/domain/payments/topup-balance.ts';
import type { Payment } from '../../src/domain/payments/types.ts';
import { aUser, unique } from '../support/builders.ts';
import { lastCaseId, OPERATOR } from '../support/case-samples.ts';
import { lost, settled, times, won } from '../support/parallel.ts';
import { casesOf, moneyFacts, paymentFacts, reversePayment } from '../support/payment-samples.ts';
import { ScriptedProvider, withProvider } from '../support/scripted-provider.ts';
import { testApp } from '../support/test-app.ts';
import { serverUrl } from '../support/test-database.ts';
import { spend } from '../support/withdrawal-samples.ts';

/** Money that goes back to a payer, reported by many at once (03a section 0.5): taken once, never below zero, the rest a case. */
let app: App;
const provider = Object.assign(new ScriptedProvider(), {
  canRefundPartly: true,
  refund: async () => ({ reversalId: `answer-${unique()}`, state: 'done' as const }),
});
beforeAll(async () => {
  if (!serverUrl) throw new Error('Races need a PostgreSQL server: set TEST_DATABASE_URL');
  app = await withProvider((await testApp()).app, provider);
});

const AMOUNT = 50_000;
const reversal = (amountKopeks: number | null, kind: ProviderReversal['kind'] = 'refund') => ({
  reversalId: `race-${unique()}`,
  kind,
  amountKopeks,
});

async function anInvoice(): Promise<{ userId: number; payment: Payment; externalId: string }> {
  const { id: userId } = await aUser(app);
  const request = { amountKopeks: AMOUNT, method: 'sandbox', option: null };
  const { paymentId } = await topupBalance(app, { kind: 'user', userId }, request, { idempotencyKey: null });
  const payment = (await findPayment(app.db, paymentId))!;
  provider.set(payment.externalId!, 'paid');
  return { userId, payment, externalId: payment.externalId! };
}

const credit = async ({ payment, externalId }: Awaited<ReturnType<typeof anInvoice>>) =>
  creditPayment(app, payment.id, await provider.fetchStatus({ externalId, orderId: null }));

async function aPayment() {
  const invoice = await anInvoice();
  expect(await credit(invoice)).toBe('credited');
  return invoice;
}

const reversalsOf = (paymentId: number) =>
  app.db.sql<{ amountKopeks: number; debitedKopeks: number }>(
    'SELECT amount_kopeks, debited_kopeks FROM payment_reversals WHERE payment_id = $1::int ORDER BY id',
    [paymentId],
  );
const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

test('spec 03a 0.5: twenty reports of one reversal at once take the money once, and what was spent is one case', async () => {
  for (const kind of ['refund', 'chargeback'] as const) {
    const { userId, payment } = await aPayment();
    await spend(app, userId, 45_000);
    const reported = reversal(null, kind);
    await times(20, () => reversePayment(app, payment, [reported]));
    expect(await reversalsOf(payment.id)).toEqual([{ amountKopeks: AMOUNT, debitedKopeks: 5_000 }]);
    expect((await moneyFacts(app, userId)).balance).toBe(0);
    expect(await paymentFacts(app, payment.id)).toMatchObject({ outcome: 'refunded', isPaid: true });
    expect(await casesOf(app, payment.id)).toEqual([{ kind: 'reversal_remainder', amountKopeks: 45_000, status: 'open' }]);
  }
  expect(await checkLedger(app)).toEqual([]);
});

test('spec 03a 0.5: many reversals of one payment at once never take more than the payment', async () => {
  const { userId, payment } = await aPayment();
  await spend(app, userId, 1_000);
  await times(20, (n) => reversePayment(app, payment, [reversal(n % 2 === 0 ? 12_000 : null)]));
  const reversals = await reversalsOf(payment.id);
  expect(sum(reversals.map(({ amountKopeks }) => amountKopeks))).toBe(AMOUNT);
  expect(sum(reversals.map(({ debitedKopeks }) => debitedKopeks))).toBe(AMOUNT - 1_000);
  expect((await moneyFacts(app, userId)).balance).toBe(0);
  expect((await casesOf(app, payment.id)).map(({ amountKopeks }) => amountKopeks)).toEqual([1_000]);
  expect(await checkLedger(app)).toEqual([]);
});

test('spec 03a 0.5: a reversal and purchases at once: what is taken and what is owed are the amount, the balance is never below zero', async () => {
  for (let round = 0; round < 6; round++) {
    const { userId, payment } = await aPayment();
    const [spent] = await Promise.all([
      times(4, () => spend(app, userId, 20_000)),
      times(3, () => reversePayment(app, payment, [{ ...reversal(null), reversalId: `race-${payment.id}` }])),
    ]);
    const [reversed, ...others] = await reversalsOf(payment.id);
    expect(others).toEqual([]);
    const spentKopeks = 20_000 * spent.filter((outcome) => outcome === 'posted').length;
    expect(reversed).toEqual({ amountKopeks: AMOUNT, debitedKopeks: AMOUNT - spentKopeks });
    expect((await moneyFacts(app, userId)).balance).toBe(0);
    expect(sum((await casesOf(app, payment.id)).map(({ amountKopeks }) => amountKopeks!))).toBe(spentKopeks);
  }
  expect(await checkLedger(app)).toEqual([]);
});

test('spec 03a 0.5: a refund that is requested here and reported by the provider at once is one refund', async () => {
  for (let round = 0; round < 6; round++) {
    const { userId, payment } = await aPayment();
    const reported = reversal(AMOUNT);
    const order = { paymentId: payment.id, amountKopeks: null, reason: 'race', requestedBy: 'test' };
    const requests = settled(3, () => requestRefund(app, order));
    await Promise.all([requests, times(5, () => reversePayment(app, payment, [reported]))]);
    expect(won(await requests).length).toBeLessThanOrEqual(1);
    expect(await reversalsOf(payment.id)).toEqual([{ amountKopeks: AMOUNT, debitedKopeks: AMOUNT }]);
    expect((await moneyFacts(app, userId)).balance).toBe(0);
    expect(await casesOf(app, payment.id)).toEqual([]);
  }
  expect(await checkLedger(app)).toEqual([]);
});

test('spec 03a 0.4: the credit and a reversal of the payment at once leave what was not given back, in any order', async () => {
  for (let round = 0; round < 6; round++) {
    const invoice = await anInvoice();
    const { userId, payment } = invoice;
    const part = reversal(20_000);
    await Promise.all([credit(invoice), times(3, () => reversePayment(app, payment, [part])), credit(invoice)]);
    // A report that came before the credit is settled by it.
    expect(await reversalsOf(payment.id)).toEqual([{ amountKopeks: 20_000, debitedKopeks: 20_000 }]);
    expect(await moneyFacts(app, userId)).toMatchObject({ balance: 30_000, deposits: 1 });
  }
  expect(await checkLedger(app)).toEqual([]);
});

test('spec 10 M1: one invoice paid twice, both charges and the refund of the second reported at once: one credit stays, nothing is open', async () => {
  for (let round = 0; round < 12; round++) {
    const { userId, payment, externalId } = await anInvoice();
    const state = await provider.fetchStatus({ externalId, orderId: null });
    const [first, second] = [`A${unique()}`, `B${unique()}`];
    const back = { reversalId: `race-${unique()}`, kind: 'refund' as const, amountKopeks: round % 3 === 0 ? null : AMOUNT };
    const report = (chargeId: string, change: Partial<PaymentReport> = {}) =>
      creditSeenPayment(app, payment, { ...state, chargeId, ...change });
    const reports = [
      () => report(first),
      () => report(second, { outcome: 'pending', reversals: [back] }),
      () => report(second),
      () => report(second, { outcome: 'pending', reversals: [back] }),
    ];
    await settled(reports.length, (n) => reports[(n + round) % reports.length]!());
    // Whatever came first, what is reported once more changes nothing.
    for (const again of reports) await again();
    const cases = await app.db.sql<{ kind: string }>(
      "SELECT kind FROM payment_cases WHERE payment_id = $1::int AND status = 'open'",
      [payment.id],
    );
    const { chargeId } = (await findPayment(app.db, payment.id))!;
    // The second charge may be the one that was credited before its refund was known: then the first one waits.
    const isFirst = chargeId === first;
    expect((await moneyFacts(app, userId)).balance).toBe(isFirst ? AMOUNT : 0);
    expect(cases.map(({ kind }) => kind)).toEqual(isFirst ? [] : ['second_payment']);
  }
  expect(await checkLedger(app)).toEqual([]);
});

test('spec 10 M1: a second payment that is credited by hand while its refund is reported ends without its money', async () => {
  for (let round = 0; round < 10; round++) {
    const { userId, payment, externalId } = await anInvoice();
    const state = await provider.fetchStatus({ externalId, orderId: null });
    const [first, second] = [`A${unique()}`, `B${unique()}`];
    const report = (chargeId: string, change: Partial<PaymentReport> = {}) =>
      creditSeenPayment(app, payment, { ...state, chargeId, ...change });
    await report(first);
    await report(second);
    const caseId = await lastCaseId(app);
    const back = { reversalId: `race-${unique()}`, kind: 'refund' as const, amountKopeks: null };
    const decision = { resolution: 'credit' as const, userId, kopeks: null, comment: null };
    const moves = [
      () => resolveCase(app, OPERATOR, caseId, decision),
      () => report(second, { outcome: 'pending', reversals: [back] }),
      () => report(second, { outcome: 'pending', reversals: [back] }),
    ];
    const results = await settled<unknown>(moves.length, (n) => moves[(n + round) % moves.length]!());
    for (const error of lost(results)) expect(error).toMatchObject({ status: 409 });
    expect((await moneyFacts(app, userId)).balance).toBe(AMOUNT);
    expect((await casesOf(app, payment.id)).filter(({ status }) => status === 'open')).toEqual([]);
  }
  expect(await checkLedger(app)).toEqual([]);
});
