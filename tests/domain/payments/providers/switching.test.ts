import { afterEach, describe, expect, test } from 'vitest';
import { checkLedger } from '../../../../src/domain/ledger/check-ledger.ts';
import { checkMyPayment, checkPendingPayments } from '../../../../src/domain/payments/check-payments.ts';
import { methodDefaults } from '../../../../src/domain/payments/payment-methods.ts';
import { topupBalance } from '../../../../src/domain/payments/topup-balance.ts';
import { aUser } from '../../../support/builders.ts';
import { moneyFacts } from '../../../support/payment-samples.ts';
import { sampledProviders } from '../../../support/providers/all-cases.ts';
import type { ProviderCase } from '../../../support/providers/provider-case.ts';
import { aProviderFixture, factsOf, type ProviderFixture } from '../../../support/providers/provider-fixture.ts';
import { answerRealAddress, switchOff, switchOn } from '../../../support/providers/real-provider.ts';

/**
 * Providers without the sandbox, by the settings that an administrator changes while the service runs (spec 00, Outside effects). The fake
 * answers at the provider's own address.
 */
let fixture: ProviderFixture | null = null;
let stopAnswering: () => void = () => undefined;
afterEach(async () => {
  stopAnswering();
  await fixture?.app.db.sql('DELETE FROM system_settings');
  await fixture?.close();
  fixture = null;
});

const AMOUNT = 50_000;
const AUTO_CHECK = { environment: { PAYMENT_VERIFICATION_AUTO_CHECK_ENABLED: 'true' } };

async function aRealFixture(provider: ProviderCase): Promise<ProviderFixture> {
  fixture = await aProviderFixture(provider, { ...AUTO_CHECK, isReal: true });
  stopAnswering = answerRealAddress(provider, fixture.sandbox.server.url);
  return fixture;
}

/** A top-up that the cabinet refuses, since the method is not offered. */
async function expectNoNewPayments({ app, server, method }: ProviderFixture, path: string): Promise<void> {
  const user = await aUser(app, { email: `refused-${Math.random()}@example.com` });
  const topup = topupBalance(
    app,
    { kind: 'user', userId: user.id },
    { amountKopeks: AMOUNT, method, option: null },
    { idempotencyKey: null, ip: '203.0.113.7' },
  );
  await expect(topup).rejects.toMatchObject({ status: 400, detail: 'Invalid or unavailable payment method' });
  await expect(
    app.ports.payments.byMethod(method)!.createInvoice({
      paymentId: 1,
      orderId: 'order-while-off',
      amountKopeks: AMOUNT,
      description: 'Top-up',
      metadata: {},
      returnUrls: { result: null, success: null, failed: null },
    }),
  ).rejects.toMatchObject({ name: 'ProviderError' });
  const info = await server.inject({ method: 'GET', url: path });
  if (info.statusCode === 200) expect(info.json()).toMatchObject({ enabled: false });
}

describe.each(sampledProviders())('%s', (method, provider) => {
  const path = `/${method.replace('_', '-')}-webhook`;

  test('switched on at run time it takes payments without a restart', async () => {
    const prepared = await aRealFixture(provider);
    await expectNoNewPayments(prepared, path);
    // No such path, unless payments of this provider are stored, as those of other tests are.
    expect([404, 503]).toContain((await prepared.server.inject({ method: 'POST', url: path })).statusCode);
    await switchOn(prepared, provider);
    await prepared.open();
    for (const callback of await prepared.act('pay')) {
      for (let copy = 0; copy < 2; copy++) expect(await prepared.deliver(callback)).toMatchObject(provider.acknowledges);
    }
    expect(await factsOf(prepared)).toMatchObject({ balance: AMOUNT, deposits: 1, payment: { isPaid: true } });
  });

  test('switched off at run time it credits the payments under way and takes no new ones', async () => {
    const prepared = await aRealFixture(provider);
    const { app } = prepared;
    await switchOn(prepared, provider);
    // Reported, asked about by the payer, and asked about by the job.
    const [reported, asked, polled] = [await prepared.open(), await prepared.open(), await prepared.open()];
    await switchOff(prepared, provider);
    await expectNoNewPayments(prepared, path);

    prepared.current = reported;
    for (const callback of await prepared.act('pay')) {
      expect(await prepared.deliver(callback)).toMatchObject(provider.acknowledges);
    }
    expect(await moneyFacts(app, reported.user.id)).toMatchObject({ balance: AMOUNT, deposits: 1 });

    // Tribute has nothing that could be asked about.
    if (!provider.pays) {
      prepared.current = asked;
      await prepared.act('pay');
      const actor = { kind: 'user', userId: asked.user.id } as const;
      expect(await checkMyPayment(app, actor, method, asked.paymentId)).toMatchObject({
        success: true,
        payment: { isPaid: true },
      });
      expect(await moneyFacts(app, asked.user.id)).toMatchObject({ balance: AMOUNT, deposits: 1 });
    }
    if (methodDefaults(method)!.isPolled) {
      prepared.current = polled;
      await prepared.act('pay');
      await checkPendingPayments(app);
      expect(await moneyFacts(app, polled.user.id)).toMatchObject({ balance: AMOUNT, deposits: 1 });
    }
    expect(await checkLedger(app)).toEqual([]);
  });
});
