import { beforeEach, describe, expect, test } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { notifyCase, openCase } from '../../../src/domain/payments/open-case.ts';
import { type CaseDecision, listCases, readCase, readOpenCases, resolveCase } from '../../../src/domain/payments/resolve-case.ts';
import type { CaseKind } from '../../../src/domain/payments/types.ts';
import { aUser } from '../../support/builders.ts';
import { anInvoice, anUnknownPayment, auditOfCase, lastCaseId, OPERATOR } from '../../support/case-samples.ts';
import { callback, casesOf, creditedOnce, moneyFacts, paymentFacts, runCallbackJobs } from '../../support/payment-samples.ts';
import { ScriptedProvider, withProvider } from '../../support/scripted-provider.ts';
import { testApp } from '../../support/test-app.ts';

let app: App;
let provider: ScriptedProvider;
beforeEach(async () => {
  provider = new ScriptedProvider();
  app = await withProvider((await testApp()).app, provider);
  await app.db.sql('DELETE FROM payment_cases RETURNING id');
});

const credit = (userId: number, kopeks: number | null = null): CaseDecision => ({
  resolution: 'credit',
  userId,
  kopeks,
  comment: 'ok',
});
const refund: CaseDecision = { resolution: 'refund', comment: null };
const ignore: CaseDecision = { resolution: 'ignore', comment: 'nothing to do' };
const resolve = (caseId: number, decision: CaseDecision) => resolveCase(app, OPERATOR, caseId, decision);
const deliver = async (externalId: string) => {
  await callback(app, externalId);
  await runCallbackJobs(app, externalId);
};

async function anUnderpaidInvoice() {
  const invoice = await anInvoice(app);
  provider.set(invoice.externalId, 'paid', { amountKopeks: 20_000 });
  await deliver(invoice.externalId);
  const caseId = await lastCaseId(app);
  expect(await casesOf(app, invoice.paymentId)).toEqual([{ kind: 'amount_mismatch', amountKopeks: 20_000, status: 'open' }]);
  return { ...invoice, caseId };
}

describe('credit of a case with a payment', () => {
  test('posts a top-up with everything that belongs to it, marks the payment paid and resolves the case', async () => {
    const { user, paymentId, externalId, caseId } = await anUnderpaidInvoice();
    const resolved = await resolve(caseId, credit(user.id));
    expect(await moneyFacts(app, user.id)).toEqual(creditedOnce(20_000));
    const payment = await paymentFacts(app, paymentId);
    expect(payment).toMatchObject({ outcome: 'paid', isPaid: true, transactionId: resolved.transactionId, externalId });
    expect(resolved).toMatchObject({
      status: 'resolved',
      resolution: 'credit',
      resolvedBy: 'command line',
      comment: 'ok',
      paymentId,
    });
    expect(resolved.details).toMatchObject({ invoiceKopeks: 50_000 });
    const [entry] = await app.db.sql<{ key: string; kopeks: number }>(
      `SELECT a.key, e.kopeks FROM ledger_entries e JOIN ledger_accounts a ON a.id = e.account_id
       WHERE e.transaction_id = $1::int AND a.kind <> 'user_wallet'`,
      [resolved.transactionId],
    );
    expect(entry).toMatchObject({ key: 'provider:sandbox', kopeks: -20_000 });
    expect(await auditOfCase(app, caseId)).toMatchObject([
      {
        actorName: 'command line',
        action: 'payments:edit',
        userId: null,
        status: 'success',
        details: { after: { resolution: 'credit', userId: user.id, transactionId: resolved.transactionId } },
      },
    ]);
    expect(await app.db.sql('SELECT * FROM ledger_check()')).toEqual([]);
  });

  test('a genuine callback that comes afterwards credits nothing, and a reversal takes back what was credited', async () => {
    const { user, paymentId, externalId, caseId } = await anUnderpaidInvoice();
    await resolve(caseId, credit(user.id));
    provider.set(externalId, 'paid', { amountKopeks: 50_000 });
    await deliver(externalId);
    expect(await moneyFacts(app, user.id)).toEqual(creditedOnce(20_000));
    // What completed the invoice is in no balance: an administrator decides.
    const surplus = { kind: 'overpaid', amountKopeks: 30_000, status: 'open' };
    await deliver(externalId);
    expect(await casesOf(app, paymentId)).toMatchObject([{ kind: 'amount_mismatch', status: 'resolved' }, surplus]);
    provider.set(externalId, 'paid', {
      amountKopeks: 50_000,
      reversals: [{ reversalId: 'r1', kind: 'chargeback', amountKopeks: null }],
    });
    await deliver(externalId);
    expect((await moneyFacts(app, user.id)).balance).toBe(0);
    expect(await paymentFacts(app, paymentId)).toMatchObject({ outcome: 'refunded' });
    const open = (await casesOf(app, paymentId)).filter(({ status }) => status === 'open');
    expect(open).toEqual([]);
  });

  test('is refused when a callback credited the payment meanwhile, and then the case can be ignored only', async () => {
    const { user, externalId, caseId } = await anUnderpaidInvoice();
    await app.db.sql("UPDATE payments SET outcome = 'pending' WHERE external_id = $1 RETURNING id", [externalId]);
    provider.set(externalId, 'paid', { amountKopeks: 50_000 });
    await deliver(externalId);
    expect(await moneyFacts(app, user.id)).toEqual(creditedOnce(50_000));
    await expect(resolve(caseId, credit(user.id))).rejects.toMatchObject({ status: 409, code: 'case_credited' });
    await expect(resolve(caseId, refund)).rejects.toMatchObject({ status: 409, code: 'case_credited' });
    expect(await moneyFacts(app, user.id)).toEqual(creditedOnce(50_000));
    expect((await readCase(app, caseId)).found.status).toBe('open');
    expect(await auditOfCase(app, caseId)).toEqual([]);
    expect(await resolve(caseId, ignore)).toMatchObject({ status: 'resolved', resolution: 'ignore', transactionId: null });
  });

  test('of a payer without an account gives the payment to the user who is named', async () => {
    const { user, paymentId, externalId } = await anInvoice(app);
    await app.db.sql('UPDATE payments SET user_id = NULL WHERE id = $1::int RETURNING id', [paymentId]);
    provider.set(externalId, 'paid');
    await deliver(externalId);
    const caseId = await lastCaseId(app);
    expect((await readCase(app, caseId)).found.kind).toBe('no_user');
    await resolve(caseId, credit(user.id));
    expect(await moneyFacts(app, user.id)).toEqual(creditedOnce(50_000));
    await deliver(externalId);
    expect(await moneyFacts(app, user.id)).toEqual(creditedOnce(50_000));
  });

  test('is refused when the provider returned the money', async () => {
    const { user, paymentId, caseId } = await anUnderpaidInvoice();
    await app.db.sql("UPDATE payments SET outcome = 'refunded' WHERE id = $1::int RETURNING id", [paymentId]);
    await expect(resolve(caseId, credit(user.id))).rejects.toMatchObject({ status: 409, code: 'case_reversed' });
    expect((await moneyFacts(app, user.id)).deposits).toBe(0);
  });
});

describe('credit of money without an invoice', () => {
  test('makes a payment of it, so that the same money is credited once and its reversal is found', async () => {
    const user = await aUser(app);
    const { caseId, externalId } = await anUnknownPayment(app, { orderId: 'of-another-shop' });
    const resolved = await resolve(caseId, credit(user.id));
    expect(await moneyFacts(app, user.id)).toEqual(creditedOnce(30_000));
    expect(await paymentFacts(app, resolved.paymentId!)).toMatchObject({
      isPaid: true,
      outcome: 'paid',
      externalId,
      orderId: 'of-another-shop',
    });
    provider.invoices.set(externalId, {
      externalId,
      orderId: 'of-another-shop',
      status: 'succeeded',
      outcome: 'paid',
      amountKopeks: 30_000,
      currency: 'RUB',
    });
    await deliver(externalId);
    expect(await moneyFacts(app, user.id)).toEqual(creditedOnce(30_000));
    provider.set(externalId, 'paid', { reversals: [{ reversalId: 'back', kind: 'refund', amountKopeks: null }] });
    await deliver(externalId);
    expect((await moneyFacts(app, user.id)).balance).toBe(0);
    expect(await readOpenCases(app)).toEqual({ open: 0, oldest: null });
    expect(await app.db.sql('SELECT * FROM ledger_check()')).toEqual([]);
  });

  test('finds the invoice where it became known meanwhile, credited or not', async () => {
    const { user, paymentId, externalId } = await anInvoice(app);
    const { caseId } = await anUnknownPayment(app, { externalId });
    await resolve(caseId, credit(user.id, 50_000));
    expect(await paymentFacts(app, paymentId)).toMatchObject({ isPaid: true });
    const other = await anInvoice(app);
    provider.set(other.externalId, 'paid');
    const { caseId: late } = await anUnknownPayment(app, { externalId: other.externalId });
    await deliver(other.externalId);
    await expect(resolve(late, credit(user.id))).rejects.toMatchObject({ code: 'case_credited' });
    expect((await moneyFacts(app, user.id)).balance).toBe(50_000);
  });

  test('a movement with the provider id of the money refuses the credit, whatever it belongs to', async () => {
    const { user, paymentId, externalId } = await anInvoice(app);
    provider.set(externalId, 'paid');
    await deliver(externalId);
    await app.db.sql('UPDATE payments SET external_id = NULL WHERE id = $1::int RETURNING id', [paymentId]);
    const { caseId } = await anUnknownPayment(app, { externalId });
    await expect(resolve(caseId, credit(user.id))).rejects.toMatchObject({ code: 'case_credited' });
    expect(await moneyFacts(app, user.id)).toEqual(creditedOnce(50_000));
  });

  test('what was paid beyond a credited invoice goes to the balance beside it', async () => {
    const { user, paymentId, externalId } = await anInvoice(app);
    provider.set(externalId, 'paid', { amountKopeks: 60_000 });
    await deliver(externalId);
    const caseId = await lastCaseId(app);
    expect((await readCase(app, caseId)).found).toMatchObject({ kind: 'overpaid', amountKopeks: 10_000 });
    const resolved = await resolve(caseId, credit(user.id));
    expect((await moneyFacts(app, user.id)).balance).toBe(60_000);
    expect(resolved.paymentId).toBe(paymentId);
    const [movement] = await app.db.sql<{ externalId: string }>('SELECT external_id FROM transactions WHERE id = $1::int', [
      resolved.transactionId,
    ]);
    expect(movement!.externalId).toBe(`case:${caseId}`);
  });
});

describe('decisions', () => {
  async function aCase(kind: CaseKind, currency: string | null = 'RUB', amountKopeks: number | null = 30_000) {
    const payment = { id: null, method: 'sandbox', userId: null };
    await openCase(app, { kind, payment, reference: `${kind}-${currency}-${amountKopeks}`, amountKopeks, currency });
    return lastCaseId(app);
  }

  test('a case is resolved once', async () => {
    const user = await aUser(app);
    for (const first of [credit(user.id), refund, ignore]) {
      const { caseId } = await anUnknownPayment(app);
      await resolve(caseId, first);
      for (const second of [credit(user.id), refund, ignore]) {
        await expect(resolve(caseId, second)).rejects.toMatchObject({ status: 409, code: 'case_resolved' });
      }
      expect(await auditOfCase(app, caseId)).toHaveLength(1);
    }
    expect((await moneyFacts(app, user.id)).deposits).toBe(1);
  });

  test('a refund and an ignored case move no money', async () => {
    const { user, caseId, paymentId } = await anUnderpaidInvoice();
    expect(await resolve(caseId, refund)).toMatchObject({
      resolution: 'refund',
      transactionId: null,
      resolvedAt: expect.any(Date),
    });
    expect((await moneyFacts(app, user.id)).balance).toBe(0);
    expect(await paymentFacts(app, paymentId)).toMatchObject({ isPaid: false, transactionId: null });
  });

  test('refuses unknown cases and users, amounts that cannot be, and a blank reason', async () => {
    const user = await aUser(app);
    const { caseId } = await anUnknownPayment(app);
    for (const id of [caseId + 1_000, 2 ** 31, 0]) await expect(resolve(id, refund)).rejects.toMatchObject({ status: 404 });
    for (const id of [user.id + 100_000, 2 ** 31])
      await expect(resolve(caseId, credit(id))).rejects.toMatchObject({ status: 404 });
    for (const kopeks of [0, -1, 1.5, 2_000_000_001]) {
      await expect(resolve(caseId, credit(user.id, kopeks))).rejects.toMatchObject({ code: 'invalid_amount' });
    }
    await expect(resolve(caseId, { resolution: 'ignore', comment: ' ' })).rejects.toMatchObject({ code: 'comment_required' });
    await expect(resolve(caseId, { resolution: 'ignore', comment: 'x'.repeat(501) })).rejects.toMatchObject({ status: 422 });
    expect((await readCase(app, caseId)).found.status).toBe('open');
    expect((await moneyFacts(app, user.id)).deposits).toBe(0);
  });

  test('another currency and a missing amount need an amount in kopeks', async () => {
    const user = await aUser(app);
    for (const caseId of [await aCase('unknown_payment', 'USD'), await aCase('unknown_payment', 'RUB', null)]) {
      await expect(resolve(caseId, credit(user.id))).rejects.toMatchObject({ code: 'amount_required' });
      await resolve(caseId, credit(user.id, 700));
    }
    expect((await moneyFacts(app, user.id)).balance).toBe(1_400);
  });

  test.each(['reversal_unknown', 'reversal_remainder', 'test_payment'] as const)('%s can only be ignored', async (kind) => {
    const user = await aUser(app);
    const caseId = await aCase(kind);
    for (const decision of [credit(user.id), refund]) {
      await expect(resolve(caseId, decision)).rejects.toMatchObject({ status: 400, code: 'case_without_money' });
    }
    await resolve(caseId, ignore);
  });

  test('open cases are listed oldest first, page by page, and counted', async () => {
    const ids: number[] = [];
    for (let n = 0; n < 5; n++) ids.push((await anUnknownPayment(app)).caseId);
    await resolve(ids[1]!, ignore);
    const page = (offset: number) => listCases(app, { status: 'open', limit: 2, offset });
    expect((await page(0)).cases.map(({ id }) => id)).toEqual([ids[0], ids[2]]);
    expect((await page(2)).cases.map(({ id }) => id)).toEqual([ids[3], ids[4]]);
    expect((await page(4)).cases).toEqual([]);
    expect((await page(0)).total).toBe(4);
    expect((await listCases(app, { status: null, limit: 10, offset: 0 })).cases.map(({ id }) => id)).toEqual([...ids].reverse());
    expect((await listCases(app, { status: 'resolved', limit: 10, offset: 0 })).total).toBe(1);
    expect(await readOpenCases(app)).toEqual({ open: 4, oldest: (await readCase(app, ids[0]!)).found.createdAt });
  });

  test('the notice to the administrators names the command', async () => {
    const sent: string[] = [];
    const messenger = { ...app.ports.messenger, isConfigured: () => true };
    const { caseId } = await anUnknownPayment(app);
    await app.db.sql("DELETE FROM jobs.job WHERE name = 'messenger.send'");
    const noticed = await withChat({ ...app, ports: { ...app.ports, messenger } });
    await notifyCase(noticed, { caseId });
    const rows = await app.db.sql<{ data: { html?: string } }>("SELECT data FROM jobs.job WHERE data::text LIKE '%cases show%'");
    sent.push(...rows.map((row) => JSON.stringify(row.data)));
    expect(sent).toHaveLength(1);
    expect(sent[0]).toContain(`npm run cli -- cases show ${caseId}`);
  });
});

/** The app with a chat of administrators. */
async function withChat(from: App): Promise<App> {
  const values: Record<string, unknown> = { ADMIN_NOTIFICATIONS_ENABLED: true, ADMIN_NOTIFICATIONS_CHAT_ID: '-1001' };
  const get = (key: string) => (key in values ? values[key] : from.settings.get(key as never));
  return { ...from, settings: { ...from.settings, get: get as App['settings']['get'] } };
}
