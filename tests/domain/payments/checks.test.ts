import { beforeEach, describe, expect, test } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { checkMyPayment, checkPendingPayments } from '../../../src/domain/payments/check-payments.ts';
import { topupBalance } from '../../../src/domain/payments/topup-balance.ts';
import { aUser } from '../../support/builders.ts';
import { creditedOnce, moneyFacts, paymentFacts } from '../../support/payment-samples.ts';
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

describe('checks', () => {
  test('the background check credits paid payments, skips failing ones, and asks about each once a round', async () => {
    const [paid, failing, waiting] = [await anInvoice(), await anInvoice(), await anInvoice()];
    provider.set(paid.externalId, 'paid');
    provider.invoices.delete(failing.externalId);
    t.clock.advance(1_000);
    provider.asked = 0;
    await checkPendingPayments(app);
    expect(await moneyFacts(app, paid.user.id)).toEqual(creditedOnce(50_000));
    expect((await paymentFacts(app, waiting.paymentId)).outcome).toBe('pending');
    expect((await paymentFacts(app, failing.paymentId)).outcome).toBe('pending');
    const [row] = await app.db.sql<{ waiting: number }>(
      "SELECT count(*)::int AS waiting FROM payments WHERE method = 'sandbox' AND last_checked_at = $1::timestamptz",
      [t.clock.now()],
    );
    expect(provider.asked).toBe(row!.waiting);
  });

  test('the manual check reports what changed, and answers without an error when it is not possible', async () => {
    const { user, paymentId, externalId, actor } = await anInvoice();
    expect(await checkMyPayment(app, actor, 'sandbox', paymentId)).toMatchObject({
      success: true,
      statusChanged: false,
      oldStatus: 'pending',
      newStatus: 'pending',
    });
    provider.fetchFaults = ['unavailable'];
    expect(await checkMyPayment(app, actor, 'sandbox', paymentId)).toMatchObject({
      success: false,
      statusChanged: false,
      payment: { isPaid: false },
    });
    provider.set(externalId, 'paid');
    expect(await checkMyPayment(app, actor, 'sandbox', paymentId)).toMatchObject({
      success: true,
      statusChanged: true,
      oldStatus: 'pending',
      newStatus: 'succeeded',
      payment: { isPaid: true, statusEmoji: '✅', isCheckable: false },
    });
    expect(await checkMyPayment(app, actor, 'sandbox', paymentId)).toMatchObject({ success: false });
    expect(await moneyFacts(app, user.id)).toEqual(creditedOnce(50_000));
  });
});
