import { beforeEach, describe, expect, test } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { seedPaymentMethods } from '../../../src/domain/payments/payment-methods.ts';
import { topupBalance } from '../../../src/domain/payments/topup-balance.ts';
import { aUser } from '../../support/builders.ts';
import { callback, creditedOnce, moneyFacts, paymentFacts, runCallbackJobs } from '../../support/payment-samples.ts';
import { ScriptedProvider, withProvider } from '../../support/scripted-provider.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

let t: TestApp;
let app: App;
let provider: ScriptedProvider;
beforeEach(async () => {
  t = await testApp();
  provider = new ScriptedProvider();
  app = await withProvider(t.app, provider);
});

const request = { amountKopeks: 50_000, method: 'sandbox', option: null };
const actorOf = (user: { id: number }) => ({ kind: 'user', userId: user.id }) as const;
const paymentsOf = async (userId: number) =>
  app.db.sql<{ id: number; outcome: string; isPaid: boolean }>(
    'SELECT id, outcome, is_paid FROM payments WHERE user_id = $1::int ORDER BY id',
    [userId],
  );

describe('topupBalance', () => {
  test('spec 03 H4, H16: stores a record with a random order id before it asks the provider, then stores the answer', async () => {
    const user = await aUser(app, { email: 'payer@example.com' });
    const original = provider.createInvoice;
    let seen: unknown;
    provider.createInvoice = async (invoice) => {
      seen = await paymentFacts(app, invoice.paymentId);
      return original(invoice);
    };
    const topup = await topupBalance(app, actorOf(user), request, { idempotencyKey: null });
    const [invoice] = provider.created;
    expect(seen).toMatchObject({ outcome: 'pending', isPaid: false, externalId: null, orderId: invoice!.orderId });
    expect(invoice!.orderId).toMatch(/^[0-9a-f]{30}$/);
    expect(invoice).toMatchObject({
      amountKopeks: 50_000,
      payerEmail: 'payer@example.com',
      returnUrls: {
        result: 'https://cabinet.example.com/balance/top-up/result?method=sandbox',
        success: 'https://cabinet.example.com/balance/top-up/result?method=sandbox&status=success',
        failed: 'https://cabinet.example.com/balance/top-up/result?method=sandbox&status=failed',
      },
      metadata: { user_id: user.id, user_messenger_id: user.messengerId, amount_kopeks: 50_000, type: 'balance_topup' },
    });
    expect(invoice!.description).toContain(`500 ₽ (ID ${user.messengerId})`);
    expect(topup).toEqual({
      paymentId: invoice!.paymentId,
      paymentUrl: `https://pay.example.com/${invoice!.orderId}`,
      amountKopeks: 50_000,
    });
    expect(await paymentFacts(app, topup.paymentId)).toMatchObject({
      externalId: `ext-${invoice!.orderId}`,
      status: 'pending',
      outcome: 'pending',
    });
    expect(await moneyFacts(app, user.id)).toMatchObject({ balance: 0, deposits: 0 });
  });

  test('spec 10 O4: the invoice of a provider has the description that the operator wrote for it', async () => {
    const wata = Object.assign(new ScriptedProvider(), { method: 'wata' });
    const named = await testApp({ environment: { WATA_PAYMENT_DESCRIPTION: 'Services', PAYMENT_SERVICE_NAME: 'Shop' } });
    const scripted = await withProvider(named.app, wata);
    await seedPaymentMethods(scripted);
    await scripted.db.sql("UPDATE payment_method_configs SET is_enabled = true WHERE method_id = 'wata' RETURNING method_id");
    const user = await aUser(scripted);
    await topupBalance(scripted, actorOf(user), { ...request, method: 'wata' }, { idempotencyKey: null });
    expect(wata.created.map(({ description }) => description)).toEqual([`Shop - Services 500 ₽ (ID ${user.messengerId})`]);
  });

  test('spec 10 O4: a hidden button of PAL24 is no way to pay, also where no choice is shown', async () => {
    const pal24 = Object.assign(new ScriptedProvider(), { method: 'pal24' });
    const scripted = await withProvider((await testApp({ environment: { PAL24_SBP_BUTTON_VISIBLE: 'false' } })).app, pal24);
    await seedPaymentMethods(scripted);
    const user = await aUser(scripted);
    const ask = (option: string | null) =>
      topupBalance(scripted, actorOf(user), { ...request, method: 'pal24', option }, { idempotencyKey: null });
    for (const subOptions of ['{"card": true, "sbp": true}', null]) {
      await scripted.db.sql(
        "UPDATE payment_method_configs SET is_enabled = true, sub_options = $1::jsonb WHERE method_id = 'pal24' RETURNING method_id",
        [subOptions],
      );
      await expect(ask('sbp')).rejects.toMatchObject({ status: 400 });
      await ask(null);
      expect(pal24.created.pop()).toMatchObject({ option: 'card' });
    }
    expect(pal24.created).toEqual([]);
  });

  test('one key gives one invoice and the same URL, and another body under it is 422', async () => {
    const user = await aUser(app);
    const first = await topupBalance(app, actorOf(user), request, { idempotencyKey: 'key-1' });
    const repeat = await topupBalance(app, actorOf(user), { ...request }, { idempotencyKey: 'key-1' });
    expect(repeat).toEqual(first);
    expect(provider.created).toHaveLength(1);
    await expect(
      topupBalance(app, actorOf(user), { ...request, amountKopeks: 60_000 }, { idempotencyKey: 'key-1' }),
    ).rejects.toMatchObject({
      status: 422,
    });
    expect(await paymentsOf(user.id)).toHaveLength(1);
    const other = await aUser(app);
    expect((await topupBalance(app, actorOf(other), request, { idempotencyKey: 'key-1' })).paymentId).not.toBe(first.paymentId);
  });

  test('checks run in their order and store no record', async () => {
    const user = await aUser(app);
    const refusal = (change: object) => topupBalance(app, actorOf(user), { ...request, ...change }, { idempotencyKey: null });
    await app.db.sql('UPDATE users SET restriction_topup = true WHERE id = $1::int RETURNING id', [user.id]);
    await expect(refusal({ method: 'nonsense' })).rejects.toMatchObject({
      status: 403,
      detail: 'Balance top-up is restricted for this account',
    });
    await app.db.sql('UPDATE users SET restriction_topup = false WHERE id = $1::int RETURNING id', [user.id]);
    for (const method of ['nonsense', 'yookassa', 'messenger_stars', '']) {
      await expect(refusal({ method, amountKopeks: 1 })).rejects.toMatchObject({
        status: 400,
        detail: 'Invalid or unavailable payment method',
      });
    }
    await expect(refusal({ amountKopeks: 999 })).rejects.toMatchObject({ status: 400, detail: 'Minimum amount is 10.00 RUB' });
    await expect(refusal({ amountKopeks: 100_000_001 })).rejects.toMatchObject({
      status: 400,
      detail: 'Maximum amount is 1000000.00 RUB',
    });
    await expect(topupBalance(app, actorOf({ id: 2_000_000_000 }), request, { idempotencyKey: null })).rejects.toMatchObject({
      status: 404,
    });
    expect(await paymentsOf(user.id)).toEqual([]);
    expect(provider.created).toEqual([]);
  });

  test.each([
    ['unavailable', 502, 'Failed to create Sandbox payment'],
    ['rejected', 500, 'Failed to create Sandbox payment'],
    ['not_configured', 400, 'Sandbox payment method is unavailable'],
    ['crash', 500, 'Failed to create payment. Please try again later.'],
  ] as const)('a provider that fails as %s leaves a failed record and a free key', async (fault, status, detail) => {
    const user = await aUser(app);
    provider.createFaults = [fault];
    await expect(topupBalance(app, actorOf(user), request, { idempotencyKey: 'retry' })).rejects.toMatchObject({
      status,
      detail,
    });
    expect(await paymentsOf(user.id)).toMatchObject([{ outcome: 'failed', isPaid: false }]);
    expect((await topupBalance(app, actorOf(user), request, { idempotencyKey: 'retry' })).paymentUrl).toContain('https://');
    expect(await paymentsOf(user.id)).toMatchObject([{ outcome: 'failed' }, { outcome: 'pending' }]);
  });

  test('an invoice whose answer was lost is found by its order id when it is paid', async () => {
    const user = await aUser(app);
    provider.createFaults = ['after'];
    await expect(topupBalance(app, actorOf(user), request, { idempotencyKey: null })).rejects.toMatchObject({ status: 502 });
    const [externalId] = [...provider.invoices.keys()];
    provider.set(externalId!, 'paid');
    await callback(app, externalId!);
    await runCallbackJobs(app, externalId!);
    expect(await moneyFacts(app, user.id)).toEqual(creditedOnce(50_000));
  });

  test('an answer without a web address is no payment URL', async () => {
    const user = await aUser(app);
    provider.paymentUrl = 'javascript:alert(1)//';
    await expect(topupBalance(app, actorOf(user), request, { idempotencyKey: null })).rejects.toMatchObject({
      status: 500,
      detail: 'Payment URL not received',
    });
    expect(await paymentsOf(user.id)).toMatchObject([{ outcome: 'failed' }]);
  });

  test('a payment that is paid before the provider has answered keeps its credit', async () => {
    const user = await aUser(app);
    const original = provider.createInvoice;
    provider.createInvoice = async (invoice) => {
      const made = await original(invoice);
      provider.set(made.externalId, 'paid');
      await callback(app, made.externalId);
      await runCallbackJobs(app, made.externalId);
      return made;
    };
    const topup = await topupBalance(app, actorOf(user), request, { idempotencyKey: null });
    expect(await paymentFacts(app, topup.paymentId)).toMatchObject({ outcome: 'paid', isPaid: true, status: 'succeeded' });
    expect(await moneyFacts(app, user.id)).toEqual(creditedOnce(50_000));
  });

  test('ten a minute, then 429, but a repeat gets the stored answer', async () => {
    const user = await aUser(app);
    // Starts at the beginning of a window, so that the eleventh call cannot fall into the next one.
    t.clock.set(new Date(Math.ceil(t.clock.now().getTime() / 60_000) * 60_000));
    const first = await topupBalance(app, actorOf(user), request, { idempotencyKey: 'first' });
    for (let call = 1; call < 10; call++) await topupBalance(app, actorOf(user), request, { idempotencyKey: null });
    await expect(topupBalance(app, actorOf(user), request, { idempotencyKey: null })).rejects.toMatchObject({ status: 429 });
    expect(await topupBalance(app, actorOf(user), request, { idempotencyKey: 'first' })).toEqual(first);
    t.clock.advance(60_000);
    expect((await topupBalance(app, actorOf(user), request, { idempotencyKey: null })).paymentId).toBeGreaterThan(0);
  });
});
