import { beforeEach, describe, expect, test } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { inTransaction } from '../../../src/core/db/transaction.ts';
import { postMovement } from '../../../src/domain/ledger/post-movement.ts';
import { topupBalance } from '../../../src/domain/payments/topup-balance.ts';
import { aUser, unique } from '../../support/builders.ts';
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
        ...{ userId: user.id, type: 'withdrawal', amountKopeks: -45_000, description: 'spent', paymentMethod: null },
        contra: { kind: 'manual_adjustment' },
      }),
    );
    provider.set(externalId, 'paid', refunded(null));
    await Promise.all([deliver(externalId), deliver(externalId)]);
    expect((await moneyFacts(app, user.id)).balance).toBe(0);
    expect(await paymentFacts(app, paymentId)).toMatchObject({ outcome: 'refunded' });
    expect(await casesOf(app, paymentId)).toEqual([{ kind: 'reversal_remainder', amountKopeks: 45_000, status: 'open' }]);
  });

  test('spec 03a 0.4: that fails after the credit changes nothing; one that was given back before the credit is not credited', async () => {
    const [paid, early] = [await anInvoice(), await anInvoice()];
    provider.set(paid.externalId, 'paid');
    await deliver(paid.externalId);
    provider.set(paid.externalId, 'failed');
    await deliver(paid.externalId);
    expect(await moneyFacts(app, paid.user.id)).toEqual(creditedOnce(50_000));
    expect((await paymentFacts(app, paid.paymentId)).outcome).toBe('paid');
    provider.set(early.externalId, 'paid', refunded(null));
    await deliver(early.externalId);
    expect(await moneyFacts(app, early.user.id)).toMatchObject({ balance: 0, deposits: 0 });
    expect((await paymentFacts(app, early.paymentId)).outcome).toBe('refunded');
    provider.set(early.externalId, 'paid', { reversals: [] });
    await deliver(early.externalId);
    expect(await moneyFacts(app, early.user.id)).toMatchObject({ balance: 0, deposits: 0 });
  });
});
