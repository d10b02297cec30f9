import { beforeEach, describe, expect, test } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { inTransaction } from '../../../src/core/db/transaction.ts';
import { checkLedger } from '../../../src/domain/ledger/check-ledger.ts';
import { postMovement } from '../../../src/domain/ledger/post-movement.ts';
import type { PaymentReport, ProviderReversal } from '../../../src/domain/payments/ports.ts';
import { resolveCase } from '../../../src/domain/payments/resolve-case.ts';
import { topupBalance } from '../../../src/domain/payments/topup-balance.ts';
import { aUser, unique } from '../../support/builders.ts';
import { OPERATOR } from '../../support/case-samples.ts';
import { callback, casesOf, creditedOnce, moneyFacts, paymentFacts, runCallbackJobs } from '../../support/payment-samples.ts';
import { ScriptedProvider, withProvider } from '../../support/scripted-provider.ts';
import { testApp } from '../../support/test-app.ts';

let app: App;
let provider: ScriptedProvider;
beforeEach(async () => {
  provider = new ScriptedProvider();
  app = await withProvider((await testApp()).app, provider);
});

async function anInvoice() {
  const user = await aUser(app);
  const { paymentId } = await topupBalance(
    app,
    { kind: 'user', userId: user.id },
    { amountKopeks: 50_000, method: 'sandbox', option: null },
    { idempotencyKey: null },
  );
  return { user, paymentId, externalId: (await paymentFacts(app, paymentId)).externalId! };
}

describe('a paid invoice', () => {
  const refunded = (amountKopeks: number | null, reversalId = `refund-${unique()}`) => ({
    reversals: [{ reversalId, kind: 'refund' as const, amountKopeks }],
  });
  const deliver = async (externalId: string) => {
    await callback(app, externalId);
    await runCallbackJobs(app, externalId);
  };

  test('spec 03a 0.5: that is refunded afterwards is taken back from the balance, once', async () => {
    const { user, paymentId, externalId } = await anInvoice();
    provider.set(externalId, 'paid');
    await deliver(externalId);
    provider.set(externalId, 'paid', refunded(20_000, 'first'));
    await deliver(externalId);
    await deliver(externalId);
    expect(await moneyFacts(app, user.id)).toMatchObject({ balance: 30_000, deposits: 1 });
    expect(await paymentFacts(app, paymentId)).toMatchObject({ outcome: 'paid', isPaid: true });
    provider.set(externalId, 'paid', { reversals: [...refunded(20_000, 'first').reversals, ...refunded(30_000).reversals] });
    await deliver(externalId);
    expect((await moneyFacts(app, user.id)).balance).toBe(0);
    expect(await paymentFacts(app, paymentId)).toMatchObject({ outcome: 'refunded', isPaid: true });
    expect(await casesOf(app, paymentId)).toEqual([]);
  });

  test('spec 03a 0.5: a reversal of spent money takes what is left, and the rest is a case', async () => {
    const { user, paymentId, externalId } = await anInvoice();
    provider.set(externalId, 'paid');
    await deliver(externalId);
    await inTransaction(app, (tx) =>
      postMovement(tx, {
        userId: user.id,
        type: 'withdrawal',
        amountKopeks: -45_000,
        description: 'spent',
        paymentMethod: null,
        contra: { kind: 'manual_adjustment' },
      }),
    );
    provider.set(externalId, 'paid', refunded(null));
    await Promise.all([deliver(externalId), deliver(externalId)]);
    expect((await moneyFacts(app, user.id)).balance).toBe(0);
    expect(await paymentFacts(app, paymentId)).toMatchObject({ outcome: 'refunded' });
    expect(await casesOf(app, paymentId)).toEqual([{ kind: 'reversal_remainder', amountKopeks: 45_000, status: 'open' }]);
  });

  test('spec 03a 0.4: that fails after the credit changes nothing', async () => {
    const paid = await anInvoice();
    provider.set(paid.externalId, 'paid');
    await deliver(paid.externalId);
    provider.set(paid.externalId, 'failed');
    await deliver(paid.externalId);
    expect(await moneyFacts(app, paid.user.id)).toEqual(creditedOnce(50_000));
    expect((await paymentFacts(app, paid.paymentId)).outcome).toBe('paid');
  });

  test('spec 03a 0.4: that was given back before the credit is not credited', async () => {
    const early = await anInvoice();
    provider.set(early.externalId, 'paid', refunded(null));
    await deliver(early.externalId);
    expect(await moneyFacts(app, early.user.id)).toMatchObject({ balance: 0, deposits: 0 });
    expect((await paymentFacts(app, early.paymentId)).outcome).toBe('refunded');
    provider.set(early.externalId, 'paid', { reversals: [] });
    await deliver(early.externalId);
    expect(await moneyFacts(app, early.user.id)).toMatchObject({ balance: 0, deposits: 0 });
  });
});

/** Spec 10 M1, M2 and M8: what a reversal is about, by the facts of the report alone. Every amount is kopeks. */
describe('money of one invoice that came and went back', () => {
  interface Invoice {
    user: { id: number };
    paymentId: number;
    externalId: string;
  }
  /** The provider reports a charge of the invoice, and what went back of it. */
  const report = async ({ externalId }: Invoice, chargeId: string | null, change: Partial<PaymentReport> = {}) => {
    provider.set(externalId, 'paid', {
      amountKopeks: 50_000,
      currency: 'RUB',
      isTest: false,
      reversals: [],
      ...change,
      chargeId: chargeId && `${chargeId}-${externalId}`,
    } as never);
    await callback(app, externalId);
    await runCallbackJobs(app, externalId);
  };
  const back = (amountKopeks: number | null, change: Partial<ProviderReversal> = {}): Partial<PaymentReport> => ({
    reversals: [{ reversalId: `back-${unique()}`, kind: 'refund', amountKopeks, ...change }],
  });
  const cases = (paymentId: number) =>
    app.db.sql<{ id: number; kind: string; resolution: string | null }>(
      'SELECT id, kind, resolution FROM payment_cases WHERE payment_id = $1::int ORDER BY id',
      [paymentId],
    );
  const openKinds = async (paymentId: number) =>
    (await cases(paymentId)).filter(({ resolution }) => resolution === null).map(({ kind }) => kind);
  const caseOf = async (paymentId: number, kind: string) => (await cases(paymentId)).find((known) => known.kind === kind)!;
  const creditByHand = async ({ user, paymentId }: Invoice, kind: string) => {
    const { id } = await caseOf(paymentId, kind);
    return resolveCase(app, OPERATOR, id, { resolution: 'credit', userId: user.id, kopeks: null, comment: 'ours' });
  };
  const balanceOf = async ({ user }: Invoice) => (await moneyFacts(app, user.id)).balance;
  const paidTwice = async () => {
    const invoice: Invoice = await anInvoice();
    await report(invoice, 'A');
    await report(invoice, 'B');
    expect(await openKinds(invoice.paymentId)).toEqual(['second_payment']);
    return invoice;
  };
  test('two refunds that name no charge, before any charge is reported: the second may be of another charge, and is a case', async () => {
    const invoice: Invoice = await anInvoice();
    const [first, second] = [back(50_000, { chargeId: null }), back(50_000, { chargeId: null })];
    for (let copy = 0; copy < 2; copy++) await report(invoice, null, first);
    expect(await openKinds(invoice.paymentId)).toEqual([]);
    for (let copy = 0; copy < 2; copy++) await report(invoice, null, second);
    expect(await openKinds(invoice.paymentId)).toEqual(['reversal_unknown']);
    expect(await balanceOf(invoice)).toBe(0);
  });

  const overpaid = async (amountKopeks = 70_000) => {
    const invoice: Invoice = await anInvoice();
    await report(invoice, 'A', { amountKopeks });
    expect(await openKinds(invoice.paymentId)).toEqual(['overpaid']);
    return invoice;
  };

  test('spec 10 M1: paid twice, the refund of either charge is of that charge', async () => {
    const [first, second] = [await paidTwice(), await paidTwice()];
    await report(first, 'B', back(null));
    expect(await balanceOf(first)).toBe(50_000);
    expect(await openKinds(first.paymentId)).toEqual([]);
    expect(await caseOf(first.paymentId, 'second_payment')).toMatchObject({ resolution: 'reversed' });
    await expect(creditByHand(first, 'second_payment')).rejects.toMatchObject({ status: 409, code: 'case_resolved' });
    await report(second, 'A', back(null));
    expect(await balanceOf(second)).toBe(0);
    expect(await openKinds(second.paymentId)).toEqual(['second_payment']);
    await creditByHand(second, 'second_payment');
    expect(await balanceOf(second)).toBe(50_000);
  });

  describe('spec 10 M1: paid twice, a refund that names no charge is of one of both', () => {
    const unnamed = () => back(null, { chargeId: null });
    const repeats = async (invoice: Invoice, refund: Partial<PaymentReport>) => {
      for (const charge of ['A', 'B', null]) {
        await report(invoice, charge, charge === null ? { ...refund, outcome: 'pending' } : {});
        expect(await balanceOf(invoice)).toBe(50_000);
      }
      expect(await checkLedger(app)).toEqual([]);
    };

    test('reported before both charges: the first that comes is not credited, the other one is', async () => {
      const [invoice, refund] = [await anInvoice(), unnamed()];
      await report(invoice, null, { ...refund, outcome: 'pending' });
      await report(invoice, 'B');
      await report(invoice, 'B');
      expect(await balanceOf(invoice)).toBe(0);
      await report(invoice, 'A');
      await repeats(invoice, refund);
    });

    test('reported with the first charge: that one is not credited, the other one is', async () => {
      const [invoice, refund] = [await anInvoice(), unnamed()];
      await report(invoice, 'A', refund);
      expect(await balanceOf(invoice)).toBe(0);
      await report(invoice, 'B');
      expect(await balanceOf(invoice)).toBe(50_000);
      await repeats(invoice, refund);
    });

    test('reported after both charges: it is a case, and stays one after the second charge was credited', async () => {
      const [invoice, refund] = [await paidTwice(), unnamed()];
      await report(invoice, 'A', refund);
      expect(await openKinds(invoice.paymentId)).toEqual(['second_payment', 'reversal_unknown']);
      await creditByHand(invoice, 'second_payment');
      await report(invoice, 'A', refund);
      expect(await balanceOf(invoice)).toBe(100_000);
      expect(await openKinds(invoice.paymentId)).toEqual(['reversal_unknown']);
    });
  });

  test('spec 10 M1: a second payment that was credited by hand is taken back when it goes back, and the first is not', async () => {
    const invoice = await paidTwice();
    await creditByHand(invoice, 'second_payment');
    expect(await balanceOf(invoice)).toBe(100_000);
    const part = back(20_000);
    for (let copy = 0; copy < 2; copy++) await report(invoice, 'B', part);
    expect(await balanceOf(invoice)).toBe(80_000);
    await report(invoice, 'B', back(30_000));
    expect(await balanceOf(invoice)).toBe(50_000);
    expect(await paymentFacts(app, invoice.paymentId)).toMatchObject({ outcome: 'paid' });
    expect(await checkLedger(app)).toEqual([]);
  });

  test('spec 10 M1: a second payment of which a part went back is credited by hand without that part', async () => {
    const invoice = await paidTwice();
    await report(invoice, 'B', back(20_000));
    expect(await openKinds(invoice.paymentId)).toEqual(['second_payment']);
    await creditByHand(invoice, 'second_payment');
    expect(await balanceOf(invoice)).toBe(80_000);
    expect(await checkLedger(app)).toEqual([]);
  });

  test('spec 10 M1: where the report names no charge, a waiting second payment makes it a case and nothing moves', async () => {
    const invoice = await paidTwice();
    await report(invoice, 'A', back(null, { chargeId: null }));
    expect(await balanceOf(invoice)).toBe(50_000);
    expect((await openKinds(invoice.paymentId)).toSorted()).toEqual(['reversal_unknown', 'second_payment']);
    // Without one it can only be the credit.
    const plain: Invoice = await anInvoice();
    await report(plain, 'A');
    await report(plain, 'A', back(null, { chargeId: null }));
    expect(await balanceOf(plain)).toBe(0);
  });

  test('spec 10 M1: charges that went back before anything was credited credit nothing, and another one does', async () => {
    const invoice: Invoice = await anInvoice();
    for (const chargeId of ['X', 'Y']) await report(invoice, chargeId, { ...back(null), outcome: 'pending' });
    for (const chargeId of ['Y', 'X']) await report(invoice, chargeId);
    expect(await balanceOf(invoice)).toBe(0);
    await report(invoice, 'A');
    for (const chargeId of ['X', 'Y']) await report(invoice, chargeId);
    expect(await moneyFacts(app, invoice.user.id)).toMatchObject({ balance: 50_000, deposits: 1 });
    expect(await paymentFacts(app, invoice.paymentId)).toMatchObject({ outcome: 'paid' });
    expect(await openKinds(invoice.paymentId)).toEqual([]);
    expect(await checkLedger(app)).toEqual([]);
  });

  test.each([
    ['another currency', { currency: 'USD' }],
    ['the test mode', { isTest: true }],
    ['another merchant', { merchantId: 'another' }],
    ['another order', { orderId: 'another' }],
  ])('spec 10 M2: a reversal in %s moves nothing and is a case', async (_name, change) => {
    const invoice: Invoice = await anInvoice();
    await app.db.sql("UPDATE payments SET merchant_id = 'ours' WHERE id = $1::int RETURNING id", [invoice.paymentId]);
    await report(invoice, 'A', { merchantId: 'ours' });
    await report(invoice, 'A', { merchantId: 'ours', outcome: 'pending', ...back(null), ...change });
    expect(await balanceOf(invoice)).toBe(50_000);
    expect(await openKinds(invoice.paymentId)).toEqual(['reversal_unknown']);
    await expect(creditByHand(invoice, 'reversal_unknown')).rejects.toMatchObject({ status: 400 });
  });

  test('spec 10 M1: of a record that was made before charges and merchants were stored, what is known decides', async () => {
    const invoice: Invoice = await anInvoice();
    await report(invoice, 'A');
    await app.db.sql('UPDATE payments SET charge_id = NULL, merchant_id = NULL WHERE id = $1::int RETURNING id', [
      invoice.paymentId,
    ]);
    await report(invoice, 'A', { ...back(20_000), merchantId: 'ours' });
    expect(await balanceOf(invoice)).toBe(30_000);
  });

  test('spec 10 M8: money beyond an invoice waits no more when the whole payment went back', async () => {
    for (const parts of [[null], [70_000], [50_000, 20_000], [60_000, 10_000]]) {
      const invoice = await overpaid();
      for (const part of parts) {
        const reported = back(part);
        for (let copy = 0; copy < 2; copy++) await report(invoice, 'A', { ...reported, amountKopeks: 70_000 });
      }
      expect(await balanceOf(invoice)).toBe(0);
      expect(await caseOf(invoice.paymentId, 'overpaid')).toMatchObject({ resolution: 'reversed' });
      expect(await openKinds(invoice.paymentId)).toEqual([]);
    }
  });

  test('spec 10 M8: of money beyond an invoice that went back in part, only the rest is credited', async () => {
    const partly = await overpaid();
    await report(partly, 'A', { ...back(55_000), amountKopeks: 70_000 });
    expect(await balanceOf(partly)).toBe(0);
    await creditByHand(partly, 'overpaid');
    expect(await balanceOf(partly)).toBe(15_000);
    expect(await checkLedger(app)).toEqual([]);
  });

  test('spec 10 M8: money beyond an invoice that was credited before it went back is taken back', async () => {
    const before = await overpaid();
    await creditByHand(before, 'overpaid');
    expect(await balanceOf(before)).toBe(70_000);
    const whole = back(70_000);
    for (let copy = 0; copy < 2; copy++) await report(before, 'A', { ...whole, amountKopeks: 70_000 });
    expect(await balanceOf(before)).toBe(0);
    expect(await checkLedger(app)).toEqual([]);
  });
});
