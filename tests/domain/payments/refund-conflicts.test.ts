import { beforeEach, describe, expect, test } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { checkLedger } from '../../../src/domain/ledger/check-ledger.ts';
import { openCase } from '../../../src/domain/payments/open-case.ts';
import type { ProviderReversal } from '../../../src/domain/payments/ports.ts';
import { requestRefund, sendRefund } from '../../../src/domain/payments/refunds.ts';
import { type CaseDecision, resolveCase } from '../../../src/domain/payments/resolve-case.ts';
import { unique } from '../../support/builders.ts';
import { anInvoice, lastCaseId, OPERATOR } from '../../support/case-samples.ts';
import { callback, casesOf, moneyFacts, runCallbackJobs } from '../../support/payment-samples.ts';
import { RefundingProvider } from '../../support/refunding-provider.ts';
import { withProvider } from '../../support/scripted-provider.ts';
import { testApp } from '../../support/test-app.ts';

/** Two ways of giving back the money of one payment that meet (spec 03a sections 0.4 and 0.5). */
const AMOUNT = 50_000;

let app: App;
let provider: RefundingProvider;
beforeEach(async () => {
  provider = new RefundingProvider();
  app = await withProvider((await testApp()).app, provider);
});

const balanceOf = async (userId: number) => (await moneyFacts(app, userId)).balance;

async function report(
  externalId: string,
  change: Parameters<RefundingProvider['set']>[2] = {},
  outcome: 'paid' | 'underpaid' = 'paid',
) {
  provider.set(externalId, outcome, change);
  await callback(app, externalId);
  await runCallbackJobs(app, externalId);
}

async function aCreditedPayment() {
  const invoice = await anInvoice(app, AMOUNT);
  await report(invoice.externalId);
  return invoice;
}

const order = (paymentId: number, amountKopeks: number | null = null) => ({
  paymentId,
  amountKopeks,
  reason: 'asked for it',
  requestedBy: 'test',
});

const reversal = (kind: ProviderReversal['kind'], amountKopeks: number | null): ProviderReversal => ({
  reversalId: `${kind}-${unique()}`,
  kind,
  amountKopeks,
});

const reversalsOf = (paymentId: number) =>
  app.db.sql<{ kind: string; status: string; amountKopeks: number; debitedKopeks: number }>(
    'SELECT kind, status, amount_kopeks, debited_kopeks FROM payment_reversals WHERE payment_id = $1::int ORDER BY id',
    [paymentId],
  );

describe('while a requested refund waits for the provider', () => {
  test('a chargeback of the same money counts although the provider then refuses the refund: nothing goes back to the balance', async () => {
    const { user, paymentId, externalId } = await aCreditedPayment();
    const { refundId } = await requestRefund(app, order(paymentId));
    await report(externalId, { reversals: [reversal('chargeback', null)] });
    expect(await balanceOf(user.id)).toBe(0);
    provider.faults = ['rejected'];
    await sendRefund(app, { reversalId: refundId });
    expect(await balanceOf(user.id)).toBe(0);
    expect(await reversalsOf(paymentId)).toEqual([
      { kind: 'refund', status: 'failed', amountKopeks: AMOUNT, debitedKopeks: 0 },
      { kind: 'chargeback', status: 'done', amountKopeks: AMOUNT, debitedKopeks: AMOUNT },
    ]);
    expect(await casesOf(app, paymentId)).toEqual([]);
    expect(await checkLedger(app)).toEqual([]);
  });

  test('a part that somebody gave back in the cabinet of the provider stays taken when the refund of the whole is refused', async () => {
    const { user, paymentId, externalId } = await aCreditedPayment();
    const { refundId } = await requestRefund(app, order(paymentId));
    await report(externalId, { reversals: [reversal('refund', 20_000)] });
    expect(await balanceOf(user.id)).toBe(0);
    provider.faults = ['rejected'];
    await sendRefund(app, { reversalId: refundId });
    expect(await balanceOf(user.id)).toBe(30_000);
    // The administrators are notified, spec 06 section 14.
    const faults = await app.db.sql("SELECT data FROM jobs.job WHERE name = 'ops.report-fault' AND data ->> 'source' = $1", [
      String(refundId),
    ]);
    expect(faults).toMatchObject([{ data: { kind: 'refund_refused' } }]);
    expect(await checkLedger(app)).toEqual([]);
  });

  test('parts that together are the payment are both taken', async () => {
    const { user, paymentId, externalId } = await aCreditedPayment();
    const { refundId } = await requestRefund(app, order(paymentId, 20_000));
    await report(externalId, { reversals: [reversal('chargeback', 30_000)] });
    expect(await balanceOf(user.id)).toBe(0);
    await sendRefund(app, { reversalId: refundId });
    expect(await balanceOf(user.id)).toBe(0);
    expect((await reversalsOf(paymentId)).map(({ debitedKopeks }) => debitedKopeks)).toEqual([20_000, 30_000]);
    expect(await casesOf(app, paymentId)).toEqual([]);
  });

  test('and is reported with another amount before its answer comes, what was really given back counts once', async () => {
    const { user, paymentId, externalId } = await aCreditedPayment();
    const { refundId } = await requestRefund(app, order(paymentId, 20_000));
    provider.faults = ['after'];
    await expect(sendRefund(app, { reversalId: refundId })).rejects.toThrow('the answer was lost');
    const [carriedOut] = provider.invoices.get(externalId)!.reversals!;
    await report(externalId, { reversals: [{ ...carriedOut!, amountKopeks: 19_500 }] });
    await sendRefund(app, { reversalId: refundId });
    expect(await balanceOf(user.id)).toBe(AMOUNT - 19_500);
    expect(await reversalsOf(paymentId)).toMatchObject([{ status: 'failed' }, { status: 'done', amountKopeks: 19_500 }]);
    expect(await checkLedger(app)).toEqual([]);
  });

  test('a provider that carries out both has given back more than was paid: the surplus is a case', async () => {
    const { user, paymentId, externalId } = await aCreditedPayment();
    const { refundId } = await requestRefund(app, order(paymentId));
    await report(externalId, { reversals: [reversal('chargeback', null)] });
    await sendRefund(app, { reversalId: refundId });
    expect(await balanceOf(user.id)).toBe(0);
    expect(await casesOf(app, paymentId)).toEqual([{ kind: 'reversal_remainder', amountKopeks: AMOUNT, status: 'open' }]);
    expect(await checkLedger(app)).toEqual([]);
  });
});

describe('money that was credited to nobody', () => {
  const resolve = (decision: CaseDecision, caseId?: number) =>
    lastCaseId(app).then((last) => resolveCase(app, OPERATOR, caseId ?? last, decision));
  const requestedRefund = async (paymentId: number) => {
    const [row] = await app.db.sql<{ id: number }>('SELECT id FROM payment_reversals WHERE payment_id = $1::int', [paymentId]);
    return row!.id;
  };

  test('whose refund is requested and whose rest is paid meanwhile: the refund is taken from the credit', async () => {
    const { user, paymentId, externalId } = await anInvoice(app, AMOUNT);
    await report(externalId, { amountKopeks: 49_000 });
    await resolve({ resolution: 'refund', comment: null });
    await report(externalId, { amountKopeks: AMOUNT });
    expect(await balanceOf(user.id)).toBe(1_000);
    await sendRefund(app, { reversalId: await requestedRefund(paymentId) });
    expect(await balanceOf(user.id)).toBe(1_000);
    expect(await checkLedger(app)).toEqual([]);
  });

  test('the same, when the provider refuses the refund: the debit goes back', async () => {
    const { user, paymentId, externalId } = await anInvoice(app, AMOUNT);
    await report(externalId, { amountKopeks: 49_000 });
    await resolve({ resolution: 'refund', comment: null });
    await report(externalId, { amountKopeks: AMOUNT });
    provider.faults = ['rejected'];
    await sendRefund(app, { reversalId: await requestedRefund(paymentId) });
    expect(await balanceOf(user.id)).toBe(AMOUNT);
  });

  test.each([
    ['carried out before', true],
    ['carried out after', false],
  ])(
    'whose refund is %s another charge pays the invoice: nothing of that one is taken, and it can be refunded itself',
    async (_name, isBefore) => {
      const { user, paymentId, externalId } = await anInvoice(app, AMOUNT);
      const [tooLittle, whole] = [
        { amountKopeks: 20_000, chargeId: `A-${externalId}` },
        { amountKopeks: AMOUNT, chargeId: `B-${externalId}` },
      ];
      await report(externalId, tooLittle);
      await resolve({ resolution: 'refund', comment: null });
      const send = async () => sendRefund(app, { reversalId: await requestedRefund(paymentId) });
      if (isBefore) await send();
      await report(externalId, { ...whole, reversals: [] });
      if (!isBefore) await send();
      expect(provider.refunds).toMatchObject([{ chargeId: tooLittle.chargeId, amountKopeks: 20_000, isWhole: true }]);
      await report(externalId, { ...tooLittle, reversals: [reversal('refund', 20_000)] });
      expect(await balanceOf(user.id)).toBe(AMOUNT);
      expect(await casesOf(app, paymentId)).not.toContainEqual(expect.objectContaining({ status: 'open' }));
      await requestRefund(app, order(paymentId));
      expect(await balanceOf(user.id)).toBe(0);
      expect(await checkLedger(app)).toEqual([]);
    },
  );

  test('and partly given back: a case credits it less what went back', async () => {
    const { user, externalId } = await anInvoice(app, AMOUNT);
    await report(externalId, { amountKopeks: 49_000, reversals: [reversal('refund', 20_000)] });
    await resolve({ resolution: 'credit', userId: user.id, kopeks: null, comment: null });
    expect(await balanceOf(user.id)).toBe(29_000);
    expect(await checkLedger(app)).toEqual([]);
  });

  test('whose refund is under way is neither credited nor refunded by another case of the same payment', async () => {
    const { user, paymentId, externalId } = await anInvoice(app, AMOUNT);
    await report(externalId, { amountKopeks: 49_000 });
    const first = await lastCaseId(app);
    await openCase(app, {
      kind: 'no_user',
      payment: { id: paymentId, method: 'sandbox', userId: user.id },
      amountKopeks: 49_000,
      currency: 'RUB',
    });
    const second = await lastCaseId(app);
    await resolve({ resolution: 'refund', comment: null }, first);
    const credit = { resolution: 'credit', userId: user.id, kopeks: null, comment: null } as const;
    for (const decision of [credit, { resolution: 'refund', comment: null } as const]) {
      await expect(resolve(decision, second)).rejects.toMatchObject({ status: 409, code: 'case_refunding' });
    }
    expect(await balanceOf(user.id)).toBe(0);
    await resolve({ resolution: 'ignore', comment: 'the refund is under way' }, second);
  });
});
