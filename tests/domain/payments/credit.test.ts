import { beforeEach, describe, expect, test } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { HOUR_MS } from '../../../src/core/clock.ts';
import { checkLedger } from '../../../src/domain/ledger/check-ledger.ts';
import { checkMyPayment, checkPendingPayments } from '../../../src/domain/payments/check-payments.ts';
import { creditPayment } from '../../../src/domain/payments/credit-payment.ts';
import { topupTitles } from '../../../src/domain/payments/payment-texts.ts';
import { processCallback } from '../../../src/domain/payments/process-callback.ts';
import { topupBalance } from '../../../src/domain/payments/topup-balance.ts';
import { aUser } from '../../support/builders.ts';
import {
  callback,
  callbackJobs,
  callbackResults,
  casesOf,
  creditedOnce,
  moneyFacts,
  paymentFacts,
  runCallbackJobs,
} from '../../support/payment-samples.ts';
import { recordedEvents } from '../../support/recorded-events.ts';
import { ScriptedProvider, withProvider } from '../../support/scripted-provider.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

let t: TestApp;
let app: App;
let provider: ScriptedProvider;
beforeEach(async () => {
  t = await testApp({ environment: { PAYMENT_VERIFICATION_AUTO_CHECK_ENABLED: 'true' } });
  provider = new ScriptedProvider();
  app = await withProvider(t.app, provider);
});

async function anInvoice(amountKopeks = 50_000, fields: Parameters<typeof aUser>[1] = {}) {
  const user = await aUser(app, fields);
  const { paymentId } = await topupBalance(
    app,
    { kind: 'user', userId: user.id },
    { amountKopeks, method: 'sandbox', option: null },
    { idempotencyKey: null },
  );
  const externalId = (await paymentFacts(app, paymentId)).externalId!;
  return { user, paymentId, externalId, actor: { kind: 'user', userId: user.id } as const };
}

describe('a paid invoice', () => {
  test('is credited once, with everything that belongs to it, however often and by whatever way it is reported', async () => {
    const { user, paymentId, externalId, actor } = await anInvoice();
    provider.set(externalId, 'paid');
    for (const eventId of ['a', 'a', 'b', 'a', 'c'])
      expect(await callback(app, externalId, { eventId: eventId + externalId })).toMatchObject({ status: 200 });
    expect(await callbackJobs(app, externalId)).toHaveLength(3);
    await runCallbackJobs(app, externalId);
    await runCallbackJobs(app, externalId);
    await checkPendingPayments(app);
    await checkMyPayment(app, actor, 'sandbox', paymentId);
    expect(await moneyFacts(app, user.id)).toEqual(creditedOnce(50_000));
    expect(await callbackResults(app, externalId)).toEqual(['credited', 'already_credited', 'already_credited']);
    expect(await paymentFacts(app, paymentId)).toMatchObject({ outcome: 'paid', isPaid: true, status: 'succeeded' });
    expect(await checkLedger(app)).toEqual([]);
  });

  test('has a ledger row with the time of its invoice, and a feed row with both balances', async () => {
    const { user, paymentId, externalId } = await anInvoice(12_345);
    const invoiceTime = t.clock.now();
    t.clock.advance(3 * HOUR_MS);
    provider.set(externalId, 'paid');
    await callback(app, externalId);
    await runCallbackJobs(app, externalId);
    const [row] = await app.db.sql(
      `SELECT x.type, x.amount_kopeks, x.payment_method, x.external_id, x.description, x.created_at, x.completed_at, s.extra
       FROM payments p JOIN transactions x ON x.id = p.transaction_id JOIN subscription_events s ON s.transaction_id = x.id
       WHERE p.id = $1::int`,
      [paymentId],
    );
    expect(row).toMatchObject({
      type: 'deposit',
      amountKopeks: 12_345,
      paymentMethod: 'sandbox',
      externalId: externalId,
      description: 'Пополнение баланса (Sandbox)',
      createdAt: invoiceTime,
      completedAt: t.clock.now(),
      extra: { status: 'first', balance_before: 0, balance_after: 12_345, referrer_info: null, promo_group_name: 'Default' },
    });
    expect(await recordedEvents(app, 'balance.topup', user.id)).toMatchObject([
      {
        amount_kopeks: 12_345,
        amount_rubles: 123.45,
        new_balance_kopeks: 12_345,
        new_balance_rubles: 123.45,
        description: 'Sandbox',
      },
    ]);
    expect((await moneyFacts(app, user.id)).flag).toBe(true);
  });

  test.each([
    ['en', 'Balance top-up', 'Internet service'],
    ['ru', 'Пополнение баланса', 'Интернет-сервис'],
    ['de', 'Пополнение баланса', 'Интернет-сервис'],
  ])('08 C3: invoice and ledger row are in the language of the payer: %s', async (language, title, serviceName) => {
    const { paymentId, externalId } = await anInvoice(10_000, { language });
    provider.set(externalId, 'paid');
    await callback(app, externalId);
    await runCallbackJobs(app, externalId);
    const [row] = await app.db.sql<{ invoice: string; description: string }>(
      `SELECT p.description AS invoice, x.description FROM payments p JOIN transactions x ON x.id = p.transaction_id WHERE p.id = $1::int`,
      [paymentId],
    );
    expect(row!.description).toBe(`${title} (Sandbox)`);
    expect(row!.invoice).toContain(serviceName);
    expect(row!.invoice).toContain(`${title} 100`);
  });

  test("08 C3: the operator's own words stand in every language", async () => {
    const changed = await testApp({ environment: { PAYMENT_BALANCE_DESCRIPTION: 'Deposit' } });
    expect(topupTitles(changed.app, 'sandbox')).toEqual({ ru: 'Deposit (Sandbox)', en: 'Deposit (Sandbox)' });
  });

  test('of a referred user leaves the first-top-up flag to the referral bonus', async () => {
    const { user, externalId } = await anInvoice();
    await app.db.sql('UPDATE users SET referred_by_id = $2::int WHERE id = $1::int RETURNING id', [
      user.id,
      (await aUser(app)).id,
    ]);
    provider.set(externalId, 'paid');
    await callback(app, externalId);
    await runCallbackJobs(app, externalId);
    expect(await moneyFacts(app, user.id)).toEqual({ ...creditedOnce(50_000), flag: false });
  });

  test.each([
    ['one kopek less', { amountKopeks: 49_999 }],
    ['another currency', { currency: 'USD' }],
  ])('with %s is a mismatch: nothing is credited, until the provider says otherwise', async (_name, change) => {
    const { user, paymentId, externalId } = await anInvoice();
    provider.set(externalId, 'paid', change);
    await callback(app, externalId);
    await runCallbackJobs(app, externalId);
    expect(await moneyFacts(app, user.id)).toMatchObject({ balance: 0, deposits: 0, notifications: 0, jobs: 0 });
    expect(await paymentFacts(app, paymentId)).toMatchObject({ outcome: 'amount_mismatch', isPaid: false });
    provider.set(externalId, 'failed');
    await callback(app, externalId);
    await runCallbackJobs(app, externalId);
    expect((await paymentFacts(app, paymentId)).outcome).toBe('amount_mismatch');
    provider.set(externalId, 'paid', { amountKopeks: 50_000, currency: 'RUB' });
    await callback(app, externalId);
    await runCallbackJobs(app, externalId);
    expect(await moneyFacts(app, user.id)).toEqual(creditedOnce(50_000));
  });

  test('spec 03a 0.2: with one kopek more is credited with the amount of the invoice, and the rest is a case', async () => {
    const { user, paymentId, externalId } = await anInvoice();
    provider.set(externalId, 'paid', { amountKopeks: 50_001 });
    await callback(app, externalId);
    await callback(app, externalId);
    await runCallbackJobs(app, externalId);
    expect(await moneyFacts(app, user.id)).toEqual(creditedOnce(50_000));
    expect(await casesOf(app, paymentId)).toEqual([{ kind: 'overpaid', amountKopeks: 1, status: 'open' }]);
  });

  test('keeps surplus, fee and saved card when the process ends right after the credit', async () => {
    const { user, paymentId, externalId } = await anInvoice();
    const card = { first6: '220000', last4: '4242', type: 'MIR'.repeat(30), expiryMonth: '12', expiryYear: '2031' };
    const state = {
      externalId,
      orderId: (await paymentFacts(app, paymentId)).orderId!,
      currency: 'RUB',
      status: 'succeeded',
      paidAt: null,
      raw: null,
      outcome: 'paid' as const,
      amountKopeks: 50_700,
      feeKopeks: 1_750,
      savedMethod: { providerMethodId: `card-${externalId}`, methodType: 'bank_card', title: null, card },
    };
    const ending = {
      ...app,
      jobs: {
        ...app.jobs,
        wake: () => {
          throw new Error('the process ends here');
        },
      },
    };
    await expect(creditPayment(ending, paymentId, state)).rejects.toThrow('the process ends here');
    expect(await creditPayment(app, paymentId, state)).toBe('already_credited');
    expect(await moneyFacts(app, user.id)).toEqual(creditedOnce(50_000));
    expect(await casesOf(app, paymentId)).toEqual([{ kind: 'overpaid', amountKopeks: 700, status: 'open' }]);
    expect(await app.db.prisma.payment.findUnique({ where: { id: paymentId } })).toMatchObject({ feeKopeks: 1_750n });
    expect(await app.db.prisma.savedPaymentMethod.findMany({ where: { userId: user.id } })).toMatchObject([
      { cardLast4: '4242', isActive: true, provider: 'sandbox' },
    ]);
  });

  test('is credited after a failure and after it expired', async () => {
    const [failed, expired] = [await anInvoice(), await anInvoice()];
    provider.set(failed.externalId, 'failed');
    await callback(app, failed.externalId);
    await runCallbackJobs(app, failed.externalId);
    expect((await paymentFacts(app, failed.paymentId)).outcome).toBe('failed');
    t.clock.advance(24 * HOUR_MS + 1);
    await checkPendingPayments(app);
    expect((await paymentFacts(app, failed.paymentId)).outcome).toBe('failed');
    expect((await paymentFacts(app, expired.paymentId)).outcome).toBe('expired');
    for (const { user, externalId } of [failed, expired]) {
      provider.set(externalId, 'paid');
      await callback(app, externalId);
      await runCallbackJobs(app, externalId);
      expect(await moneyFacts(app, user.id)).toEqual(creditedOnce(50_000));
    }
  });

  test('stays paid when an older state arrives later', async () => {
    const { user, paymentId, externalId } = await anInvoice();
    const old = await provider.fetchStatus({ externalId: externalId, orderId: null });
    provider.set(externalId, 'paid');
    const paid = await provider.fetchStatus({ externalId: externalId, orderId: null });
    expect(await creditPayment(app, paymentId, paid)).toBe('credited');
    expect(await creditPayment(app, paymentId, old)).toBe('already_credited');
    expect(await paymentFacts(app, paymentId)).toMatchObject({ outcome: 'paid', isPaid: true, status: 'succeeded' });
    expect(await moneyFacts(app, user.id)).toEqual(creditedOnce(50_000));
  });
});

describe('callbacks', () => {
  test('a forged one is refused and not stored', async () => {
    const { externalId } = await anInvoice();
    expect(await callback(app, externalId, { signature: 'guessed' })).toMatchObject({ status: 401 });
    expect(await callbackResults(app, externalId)).toEqual([]);
  });

  test('a genuine one about an unpaid invoice credits nothing: the provider is asked, and asked again later', async () => {
    const { user, externalId } = await anInvoice();
    await callback(app, externalId);
    for (let run = 1; run <= 4; run++) {
      await runCallbackJobs(app, externalId);
      expect(await callbackResults(app, externalId)).toEqual([null]);
      expect(await callbackJobs(app, externalId)).toHaveLength(run + 1);
    }
    await runCallbackJobs(app, externalId);
    expect(await callbackResults(app, externalId)).toEqual(['pending']);
    expect((await moneyFacts(app, user.id)).balance).toBe(0);
  });

  test('one about an unknown payment changes nothing', async () => {
    await callback(app, 'ext-nobody');
    await runCallbackJobs(app, 'ext-nobody');
    expect(await callbackResults(app, 'ext-nobody')).toEqual(['rejected']);
    provider.invoices.set('ext-foreign', {
      externalId: 'ext-foreign',
      orderId: 'not-ours',
      status: 'succeeded',
      outcome: 'paid',
      amountKopeks: 1,
      currency: 'RUB',
    });
    await callback(app, 'ext-foreign');
    await runCallbackJobs(app, 'ext-foreign');
    expect(await callbackResults(app, 'ext-foreign')).toEqual(['unknown_payment']);
  });

  test('an answer about another order credits no user', async () => {
    const { user, externalId } = await anInvoice();
    provider.set(externalId, 'paid', { orderId: 'another-order' });
    await callback(app, externalId);
    await runCallbackJobs(app, externalId);
    expect(await callbackResults(app, externalId)).toEqual(['order_mismatch']);
    expect((await moneyFacts(app, user.id)).balance).toBe(0);
  });

  test('an unavailable provider makes the job fail, and its next run credits', async () => {
    const { user, externalId } = await anInvoice();
    provider.set(externalId, 'paid');
    provider.fetchFaults = ['unavailable', 'rejected', 'not_configured'];
    await callback(app, externalId);
    const [callbackId] = await callbackJobs(app, externalId);
    for (let run = 0; run < 3; run++) await expect(processCallback(app, { callbackId: callbackId! })).rejects.toThrow('scripted');
    expect(await moneyFacts(app, user.id)).toMatchObject({ balance: 0, deposits: 0 });
    await processCallback(app, { callbackId: callbackId! });
    expect(await moneyFacts(app, user.id)).toEqual(creditedOnce(50_000));
  });

  test('spec 03 H4, H5: a crash before the commit leaves nothing, and the next run credits once', async () => {
    const { user, paymentId, externalId } = await anInvoice();
    provider.set(externalId, 'paid');
    await callback(app, externalId);
    const [callbackId] = await callbackJobs(app, externalId);
    const record = await app.db.prisma.payment.findUnique({ where: { id: paymentId } });
    const dying: App = {
      ...app,
      db: {
        ...app.db,
        // The one statement of the credit is carried out and then rolled back.
        sql: <Row extends object>(text: string, values?: readonly unknown[]) =>
          text.includes('credit_topup')
            ? app.db.begin!<Row[]>(async (_tx, sql) => {
                expect(await sql(text, values)).toMatchObject([{ outcome: 'credited' }]);
                throw new Error('the process died');
              })
            : app.db.sql<Row>(text, values),
      },
    };
    await expect(processCallback(dying, { callbackId: callbackId! })).rejects.toThrow('the process died');
    expect(await moneyFacts(app, user.id)).toMatchObject({
      balance: 0,
      deposits: 0,
      feed: 0,
      notifications: 0,
      activities: 0,
      jobs: 0,
      flag: false,
    });
    expect(record).toMatchObject({ outcome: 'pending', isPaid: false, paidAt: null, transactionId: null });
    expect(await app.db.prisma.payment.findUnique({ where: { id: paymentId } })).toEqual(record);
    await processCallback(app, { callbackId: callbackId! });
    expect(await moneyFacts(app, user.id)).toEqual(creditedOnce(50_000));
  });

  test('headers with credentials are not stored', async () => {
    const { externalId } = await anInvoice();
    await callback(app, externalId);
    const [row] = await app.db.sql<{ headers: object }>('SELECT headers FROM provider_callbacks WHERE external_id = $1', [
      externalId,
    ]);
    expect(Object.keys(row!.headers).sort()).toEqual(['content-type', 'x-signature']);
  });

  test('a route exists while the provider is configured or has payments', async () => {
    const { externalId } = await anInvoice();
    provider.configured = false;
    expect(await callback(app, externalId)).toMatchObject({ status: 200 });
    const empty = await withProvider(t.app, new ScriptedProvider());
    await empty.db.sql("UPDATE payments SET method = 'elsewhere' WHERE method = 'sandbox' RETURNING id");
    const off = await testApp();
    const silent = new ScriptedProvider();
    const offApp = await withProvider(off.app, silent);
    silent.configured = false;
    expect(await callback(offApp, 'ext-1')).toBeNull();
  });
});
