import { beforeEach, describe, expect, test } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { addDays, DAY_MS } from '../../../src/core/clock.ts';
import { inTransaction } from '../../../src/core/db/transaction.ts';
import { checkLedger } from '../../../src/domain/ledger/check-ledger.ts';
import { postMovement } from '../../../src/domain/ledger/post-movement.ts';
import { requestRefund, runSendRefund, sendRefund } from '../../../src/domain/payments/refunds.ts';
import { resolveCase } from '../../../src/domain/payments/resolve-case.ts';
import { runAfterReversal } from '../../../src/domain/payments/reversals.ts';
import { topupBalance } from '../../../src/domain/payments/topup-balance.ts';
import { aUser } from '../../support/builders.ts';
import { callback, moneyFacts, paymentFacts, runCallbackJobs } from '../../support/payment-samples.ts';
import { aSubscription } from '../../support/provisioning-setup.ts';
import { RefundingProvider } from '../../support/refunding-provider.ts';
import { withProvider } from '../../support/scripted-provider.ts';
import { storeRow } from '../../support/stored-rows.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

let t: TestApp;
let app: App;
let provider: RefundingProvider;
const open = async (environment: Record<string, string> = {}) => {
  t = await testApp({ environment });
  provider = new RefundingProvider();
  app = await withProvider(t.app, provider);
};
beforeEach(() => open());

async function aPayment() {
  const user = await aUser(app);
  const { paymentId } = await topupBalance(
    app,
    { kind: 'user', userId: user.id },
    { amountKopeks: 50_000, method: 'sandbox', option: null },
    { idempotencyKey: null },
  );
  const externalId = (await paymentFacts(app, paymentId)).externalId!;
  provider.set(externalId, 'paid');
  await callback(app, externalId);
  await runCallbackJobs(app, externalId);
  return { user, paymentId, externalId };
}

/** A payment of 1 ruble more than its invoice; the ruble was credited by the decision about its case. @returns the record of the ruble */
async function anOverpayment() {
  const user = await aUser(app);
  const request = { amountKopeks: 50_000, method: 'sandbox', option: null };
  const made = await topupBalance(app, { kind: 'user', userId: user.id }, request, { idempotencyKey: null });
  const externalId = (await paymentFacts(app, made.paymentId)).externalId!;
  provider.set(externalId, 'paid', { amountKopeks: 50_100 });
  await callback(app, externalId);
  await runCallbackJobs(app, externalId);
  const [found] = await app.db.sql<{ id: number }>(
    "SELECT id FROM payment_cases WHERE kind = 'overpaid' AND payment_id = $1::int",
    [made.paymentId],
  );
  const decision = { resolution: 'credit', userId: user.id, kopeks: null, comment: null } as const;
  const { transactionId } = await resolveCase(app, { kind: 'system', name: 'test' }, found!.id, decision);
  const [row] = await app.db.sql<{ id: number }>('SELECT id FROM payments WHERE transaction_id = $1::int', [transactionId]);
  return { user, paymentId: row!.id };
}

const order = (paymentId: number, amountKopeks: number | null = null) => ({
  paymentId,
  amountKopeks,
  reason: 'asked for it',
  requestedBy: 'test',
});

const balanceOf = async (userId: number) => (await moneyFacts(app, userId)).balance;

const spend = (userId: number, kopeks: number) =>
  inTransaction(app, (inner) =>
    postMovement(inner, {
      userId,
      type: 'withdrawal',
      amountKopeks: -kopeks,
      description: 'spent',
      paymentMethod: null,
      contra: { kind: 'manual_adjustment' },
    }),
  );

/** What the administrators are notified of, by kind; one waiting job each. */
async function faultsOf(refundId: number): Promise<string[]> {
  const sql = "SELECT data ->> 'kind' AS kind FROM jobs.job WHERE name = 'ops.report-fault' AND data ->> 'source' = $1";
  return (await app.db.sql<{ kind: string }>(sql, [String(refundId)])).map(({ kind }) => kind);
}

describe('a refund by an administrator (03a section 0.5)', () => {
  test('debits the balance at once, is carried out by the job, and is not debited again when the provider reports it', async () => {
    const { user, paymentId, externalId } = await aPayment();
    const { refundId, debitedKopeks } = await requestRefund(app, order(paymentId, 20_000));
    expect([debitedKopeks, await balanceOf(user.id)]).toEqual([20_000, 30_000]);
    const audit = await app.db.sql('SELECT actor_name, action, details FROM admin_audit_log WHERE resource_id = $1', [
      `payment ${paymentId}`,
    ]);
    expect(audit).toMatchObject([
      {
        actorName: 'test',
        action: 'payments:edit',
        details: {
          command: `payments refund ${paymentId}`,
          after: { amountKopeks: 20_000, debitedKopeks: 20_000, reason: 'asked for it' },
        },
      },
    ]);
    await sendRefund(app, { reversalId: refundId });
    await sendRefund(app, { reversalId: refundId });
    expect(provider.refunds).toHaveLength(1);
    await callback(app, externalId);
    await runCallbackJobs(app, externalId);
    expect(await balanceOf(user.id)).toBe(30_000);
    expect(await paymentFacts(app, paymentId)).toMatchObject({ outcome: 'paid' });
    const rest = await requestRefund(app, order(paymentId));
    await sendRefund(app, { reversalId: rest.refundId });
    expect([await balanceOf(user.id), (await paymentFacts(app, paymentId)).outcome]).toEqual([0, 'refunded']);
    expect(await checkLedger(app)).toEqual([]);
  });

  test('reported by the provider before its answer came is the same refund', async () => {
    const { user, paymentId, externalId } = await aPayment();
    const { refundId } = await requestRefund(app, order(paymentId));
    provider.faults = ['after'];
    await expect(sendRefund(app, { reversalId: refundId })).rejects.toThrow('the answer was lost');
    await callback(app, externalId);
    await runCallbackJobs(app, externalId);
    await sendRefund(app, { reversalId: refundId });
    expect(provider.refunds).toHaveLength(1);
    expect([await balanceOf(user.id), (await paymentFacts(app, paymentId)).outcome]).toEqual([0, 'refunded']);
  });

  test('whose answer was lost is found by reading the payment, not requested twice', async () => {
    const { paymentId } = await aPayment();
    const { refundId } = await requestRefund(app, order(paymentId));
    provider.faults = ['after'];
    await expect(sendRefund(app, { reversalId: refundId })).rejects.toThrow('the answer was lost');
    await sendRefund(app, { reversalId: refundId });
    expect(provider.refunds).toHaveLength(1);
    expect((await paymentFacts(app, paymentId)).outcome).toBe('refunded');
  });

  test('that the provider refuses gives the debit back, and may be requested again', async () => {
    const { user, paymentId } = await aPayment();
    const { refundId } = await requestRefund(app, order(paymentId));
    await expect(requestRefund(app, order(paymentId))).rejects.toMatchObject({ status: 409 });
    provider.faults = ['unavailable', 'rejected'];
    await expect(sendRefund(app, { reversalId: refundId })).rejects.toThrow('scripted');
    expect(await balanceOf(user.id)).toBe(0);
    await sendRefund(app, { reversalId: refundId });
    expect(await balanceOf(user.id)).toBe(50_000);
    const again = await requestRefund(app, order(paymentId));
    await sendRefund(app, { reversalId: again.refundId });
    expect([await balanceOf(user.id), (await paymentFacts(app, paymentId)).outcome]).toEqual([0, 'refunded']);
    expect(await checkLedger(app)).toEqual([]);
  });

  test('that the provider refuses because it gave the money back already, unreported, is that refund: the debit stays', async () => {
    const { user, paymentId, externalId } = await aPayment();
    const invoice = provider.invoices.get(externalId)!;
    invoice.reversals = [{ reversalId: 'by-cabinet', kind: 'refund', amountKopeks: null }];
    const { refundId } = await requestRefund(app, order(paymentId));
    provider.faults = ['rejected'];
    await sendRefund(app, { reversalId: refundId });
    expect([await balanceOf(user.id), (await paymentFacts(app, paymentId)).outcome]).toEqual([0, 'refunded']);
    await callback(app, externalId);
    await runCallbackJobs(app, externalId);
    expect(await balanceOf(user.id)).toBe(0);
    expect(await checkLedger(app)).toEqual([]);
  });

  test('that the provider refuses while the payment cannot be read is not given up: its debit goes back only when it is certain', async () => {
    const { user, paymentId } = await aPayment();
    const { refundId } = await requestRefund(app, order(paymentId));
    provider.faults = ['rejected'];
    provider.fetchFaults = ['unavailable'];
    await expect(sendRefund(app, { reversalId: refundId })).rejects.toThrow('scripted');
    expect(await balanceOf(user.id)).toBe(0);
    provider.faults = ['rejected'];
    const { asked } = provider;
    await sendRefund(app, { reversalId: refundId });
    expect(await balanceOf(user.id)).toBe(50_000);
    // A provider may answer one question in 30 seconds.
    expect(provider.asked - asked).toBe(1);
  });

  test('of money beyond an invoice, which a case credited, is refused: the provider knows no payment by its ids', async () => {
    const { user, paymentId } = await anOverpayment();
    await expect(requestRefund(app, order(paymentId))).rejects.toMatchObject({ status: 400, code: 'refund_unsupported' });
    expect(await balanceOf(user.id)).toBe(50_100);
  });

  test('of such money that was requested before ends with the answer of the provider, though the payment cannot be read', async () => {
    const { user, paymentId } = await anOverpayment();
    await app.db.sql(`SELECT outcome FROM request_refund($1::int, NULL, 'test', 'test', '{"ru": "x"}', $2::timestamptz)`, [
      paymentId,
      app.clock.now(),
    ]);
    const [refund] = await app.db.sql<{ id: number }>('SELECT id FROM payment_reversals WHERE payment_id = $1::int', [paymentId]);
    expect(await balanceOf(user.id)).toBe(50_000);
    provider.faults = ['unavailable', 'rejected'];
    await expect(sendRefund(app, { reversalId: refund!.id })).rejects.toThrow('scripted');
    await sendRefund(app, { reversalId: refund!.id });
    expect(await balanceOf(user.id)).toBe(50_100);
    expect(await checkLedger(app)).toEqual([]);
  });

  test('that the provider carries out later is asked about, and ends then', async () => {
    const { paymentId, externalId } = await aPayment();
    const { refundId } = await requestRefund(app, order(paymentId));
    provider.faults = ['pending'];
    await sendRefund(app, { reversalId: refundId });
    await sendRefund(app, { reversalId: refundId });
    expect((await paymentFacts(app, paymentId)).outcome).toBe('paid');
    const [request] = provider.refunds;
    const reversal = { reversalId: `refund-${request!.idempotencyKey}`, kind: 'refund' as const, amountKopeks: 50_000 };
    provider.set(externalId, 'paid', { reversals: [reversal] });
    await sendRefund(app, { reversalId: refundId });
    expect(provider.refunds).toHaveLength(1);
    expect((await paymentFacts(app, paymentId)).outcome).toBe('refunded');
  });

  test('is asked for on and on while the provider is away, and alarms', async () => {
    const { paymentId } = await aPayment();
    const { refundId } = await requestRefund(app, order(paymentId));
    /** Hours that its jobs wait, in the order of the jobs. */
    const waits = async () =>
      (
        await app.db.sql<{ hours: number }>(
          `SELECT round(extract(epoch FROM start_after - created_on) / 3600)::int AS hours FROM jobs.job
           WHERE name = 'payments.send-refund' AND data ->> 'reversalId' = $1 ORDER BY created_on, ctid`,
          [String(refundId)],
        )
      ).map(({ hours }) => hours);
    provider.faults = ['unavailable', 'unavailable', 'pending'];
    const alarms: unknown[] = [];
    const log = { ...app.log, error: (facts: { alarm?: string }) => void alarms.push(facts.alarm) } as unknown as App['log'];
    app = { ...app, log };
    await expect(runSendRefund(app, { reversalId: refundId }, false)).rejects.toThrow('scripted');
    expect(await waits()).toEqual([0]);
    await runSendRefund(app, { reversalId: refundId }, true);
    expect(await waits()).toEqual([0, 6]);
    t.clock.advance(DAY_MS);
    await runSendRefund(app, { reversalId: refundId }, false);
    expect(await waits()).toEqual([0, 6, 6]);
    expect(alarms).toEqual(['payment_refund_stuck', 'payment_refund_stuck']);
    expect(await faultsOf(refundId)).toEqual(['refund_stuck']);
  });

  test('of more than is left, of an uncredited or unknown payment is refused', async () => {
    const { paymentId } = await aPayment();
    await expect(requestRefund(app, order(paymentId, 50_001))).rejects.toMatchObject({ status: 409 });
    await expect(requestRefund(app, order(2_000_000_000))).rejects.toMatchObject({ status: 404 });
    const user = await aUser(app);
    const request = { amountKopeks: 50_000, method: 'sandbox', option: null };
    const pending = await topupBalance(app, { kind: 'user', userId: user.id }, request, { idempotencyKey: null });
    await expect(requestRefund(app, order(pending.paymentId))).rejects.toMatchObject({ status: 409 });
    expect(provider.refunds).toEqual([]);
  });

  test.each([
    ['keep', 30],
    ['shorten', 15],
    ['end', 0],
  ] as const)('of spent money with the rule %s leaves %i of 30 days', async (rule, days) => {
    await open({ REFUND_SUBSCRIPTION_RULE: rule });
    const { user, paymentId } = await aPayment();
    const tariff = await storeRow(app, 'Tariff', { name: 'T', periodPrices: { '30': 100000 } });
    const subscription = await aSubscription(app, { user, days: 30 });
    await app.db.sql('UPDATE subscriptions SET tariff_id = $2::int WHERE id = $1::int RETURNING id', [
      subscription.id,
      tariff.id,
    ]);
    await spend(user.id, 50_000);
    const { refundId, debitedKopeks } = await requestRefund(app, order(paymentId));
    expect(debitedKopeks).toBe(0);
    await sendRefund(app, { reversalId: refundId });
    await runAfterReversal(app, { reversalId: refundId });
    await runAfterReversal(app, { reversalId: refundId });
    const [row] = await app.db.sql<{ endDate: Date; status: string }>(
      'SELECT end_date, status FROM subscriptions WHERE id = $1::int',
      [subscription.id],
    );
    expect(row).toMatchObject({ endDate: addDays(t.clock.now(), days), status: days === 0 ? 'expired' : 'active' });
  });

  test('of a case: money that was credited to nobody is given back by the provider, and no balance or subscription changes', async () => {
    await open({ REFUND_SUBSCRIPTION_RULE: 'end' });
    const user = await aUser(app);
    const subscription = await aSubscription(app, { user, days: 30 });
    const request = { amountKopeks: 50_000, method: 'sandbox', option: null };
    const { paymentId } = await topupBalance(app, { kind: 'user', userId: user.id }, request, { idempotencyKey: null });
    const externalId = (await paymentFacts(app, paymentId)).externalId!;
    provider.set(externalId, 'paid', { amountKopeks: 49_000 });
    await callback(app, externalId);
    await runCallbackJobs(app, externalId);
    const [found] = await app.db.sql<{ id: number }>('SELECT id FROM payment_cases WHERE payment_id = $1::int', [paymentId]);
    const decision = { resolution: 'refund', comment: null } as const;
    expect(await resolveCase(app, { kind: 'system', name: 'test' }, found!.id, decision)).toMatchObject({
      isProviderAsked: true,
    });
    const [refund] = await app.db.sql<{ id: number }>('SELECT id FROM payment_reversals WHERE payment_id = $1::int', [paymentId]);
    await sendRefund(app, { reversalId: refund!.id });
    await runAfterReversal(app, { reversalId: refund!.id });
    expect(provider.refunds).toMatchObject([{ externalId, amountKopeks: 49_000, isWhole: true }]);
    expect(await moneyFacts(app, user.id)).toMatchObject({ balance: 0, deposits: 0 });
    const [row] = await app.db.sql('SELECT status FROM subscriptions WHERE id = $1::int', [subscription.id]);
    expect(row).toEqual({ status: 'active' });
    expect(await checkLedger(app)).toEqual([]);
  });
});
