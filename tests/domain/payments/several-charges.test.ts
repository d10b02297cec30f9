import { beforeEach, describe, expect, test } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { checkLedger } from '../../../src/domain/ledger/check-ledger.ts';
import type { PaymentReport } from '../../../src/domain/payments/ports.ts';
import { resolveCase } from '../../../src/domain/payments/resolve-case.ts';
import { unique } from '../../support/builders.ts';
import { anInvoice, OPERATOR } from '../../support/case-samples.ts';
import { callback, moneyFacts, paymentFacts, runCallbackJobs } from '../../support/payment-samples.ts';
import { ScriptedProvider, withProvider } from '../../support/scripted-provider.ts';
import { testApp } from '../../support/test-app.ts';

let app: App;
let provider: ScriptedProvider;
beforeEach(async () => {
  provider = new ScriptedProvider();
  app = await withProvider((await testApp()).app, provider);
});

type Invoice = Awaited<ReturnType<typeof anInvoice>>;

/** The provider reports a charge of the invoice, and what went back of it. Amounts are kopeks. */
async function report({ externalId }: Invoice, chargeId: string, amountKopeks: number, change: Partial<PaymentReport> = {}) {
  const charge = {
    amountKopeks,
    currency: 'RUB',
    isTest: false,
    reversals: [],
    ...change,
    chargeId: `${chargeId}-${externalId}`,
  };
  provider.set(externalId, 'paid', charge as never);
  await callback(app, externalId);
  await runCallbackJobs(app, externalId);
}
const refund = (amountKopeks: number | null, change: { chargeId?: null } = {}): Partial<PaymentReport> => ({
  reversals: [{ reversalId: `back-${unique()}`, kind: 'refund', amountKopeks, ...change }],
});
const cases = ({ paymentId }: Invoice) =>
  app.db.sql<{ id: number; kind: string; amountKopeks: number | null; resolution: string | null }>(
    'SELECT id, kind, amount_kopeks, resolution FROM payment_cases WHERE payment_id = $1::int ORDER BY id',
    [paymentId],
  );
const open = async (invoice: Invoice) =>
  (await cases(invoice)).filter(({ resolution }) => resolution === null).map(({ kind, amountKopeks }) => [kind, amountKopeks]);
async function creditAll(invoice: Invoice) {
  for (const { id, resolution } of await cases(invoice)) {
    if (resolution !== null) continue;
    await resolveCase(app, OPERATOR, id, { resolution: 'credit', userId: invoice.user.id, kopeks: null, comment: 'ours' });
  }
}
async function decideRefund(invoice: Invoice, kind: string) {
  const { id } = (await cases(invoice)).find((known) => known.kind === kind)!;
  await resolveCase(app, OPERATOR, id, { resolution: 'refund', comment: 'in the cabinet of the provider' });
}
const balanceOf = async ({ user }: Invoice) => (await moneyFacts(app, user.id)).balance;

describe('charges that are not the credit of their invoice keep their money in sight', () => {
  test('two charges that are too little are two cases, and both can be credited', async () => {
    const invoice = await anInvoice(app);
    for (let copy = 0; copy < 2; copy++) {
      await report(invoice, 'A', 20_000);
      await report(invoice, 'B', 30_000);
    }
    expect(await open(invoice)).toEqual([
      ['amount_mismatch', 20_000],
      ['amount_mismatch', 30_000],
    ]);
    await creditAll(invoice);
    expect(await balanceOf(invoice)).toBe(50_000);
    for (const [charge, kopeks] of [
      ['A', 20_000],
      ['B', 30_000],
    ] as const)
      await report(invoice, charge, kopeks);
    expect(await balanceOf(invoice)).toBe(50_000);
    expect(await open(invoice)).toEqual([]);
    expect(await checkLedger(app)).toEqual([]);
  });

  test('a charge that was too little can be credited beside the one that paid the invoice, and each refund is of its charge', async () => {
    const invoice = await anInvoice(app);
    await report(invoice, 'A', 20_000);
    await report(invoice, 'B', 50_000);
    expect(await open(invoice)).toEqual([['amount_mismatch', 20_000]]);
    await creditAll(invoice);
    expect(await balanceOf(invoice)).toBe(70_000);
    await report(invoice, 'A', 20_000, refund(null));
    expect(await balanceOf(invoice)).toBe(50_000);
    expect((await paymentFacts(app, invoice.paymentId)).outcome).toBe('paid');
    await report(invoice, 'B', 50_000, refund(null));
    expect(await balanceOf(invoice)).toBe(0);
    expect(await open(invoice)).toEqual([]);
    expect(await checkLedger(app)).toEqual([]);
  });

  test('a charge that was too little and went back waits no more', async () => {
    const invoice = await anInvoice(app);
    await report(invoice, 'A', 20_000);
    await report(invoice, 'A', 20_000, refund(20_000));
    expect(await open(invoice)).toEqual([]);
    await report(invoice, 'B', 50_000);
    expect(await balanceOf(invoice)).toBe(50_000);
    expect(await checkLedger(app)).toEqual([]);
  });

  test('a charge that was too little can be credited after another one came and went back before its credit', async () => {
    const invoice = await anInvoice(app);
    await report(invoice, 'A', 20_000);
    await report(invoice, 'B', 50_000, refund(null));
    expect((await paymentFacts(app, invoice.paymentId)).outcome).toBe('refunded');
    await creditAll(invoice);
    expect(await balanceOf(invoice)).toBe(20_000);
    await report(invoice, 'B', 50_000);
    expect(await balanceOf(invoice)).toBe(20_000);
    expect(await checkLedger(app)).toEqual([]);
  });

  test('two charges for somebody who has no account any more are two cases', async () => {
    const invoice = await anInvoice(app);
    await app.db.sql("UPDATE users SET referral_code = 'erased:' || id WHERE id = $1::int RETURNING id", [invoice.user.id]);
    for (const charge of ['A', 'B', 'A', 'B']) await report(invoice, charge, 50_000);
    expect(await open(invoice)).toEqual([
      ['no_user', 50_000],
      ['no_user', 50_000],
    ]);
  });
});

describe('money that an administrator gives back in the cabinet of the provider is not taken from the balance', () => {
  test('of a second payment, when the report of the refund names no charge', async () => {
    const invoice = await anInvoice(app);
    await report(invoice, 'A', 50_000);
    await report(invoice, 'B', 50_000);
    await decideRefund(invoice, 'second_payment');
    const unnamed = refund(null, { chargeId: null });
    for (let copy = 0; copy < 2; copy++) await report(invoice, 'A', 50_000, unnamed);
    expect(await balanceOf(invoice)).toBe(50_000);
    expect((await open(invoice)).map(([kind]) => kind)).toEqual(['reversal_unknown']);
  });

  test.each([
    ['as a whole, decided before', true, [20_000]],
    ['in parts, decided before', true, [15_000, 5_000]],
    ['as a whole, while its case waits', false, [20_000]],
  ])('of what was paid beyond an invoice, %s, and a later refund is of the rest', async (_name, isDecided, parts) => {
    const invoice = await anInvoice(app);
    await report(invoice, 'A', 70_000);
    if (isDecided) await decideRefund(invoice, 'overpaid');
    for (const surplus of parts.map((part) => refund(part)))
      for (let copy = 0; copy < 2; copy++) await report(invoice, 'A', 70_000, surplus);
    expect(await balanceOf(invoice)).toBe(50_000);
    expect(await open(invoice)).toEqual([]);
    await report(invoice, 'A', 70_000, refund(50_000));
    expect(await balanceOf(invoice)).toBe(0);
    expect(await checkLedger(app)).toEqual([]);
  });
});
