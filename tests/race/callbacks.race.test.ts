import { beforeAll, describe, expect, test } from 'vitest';
import type { App } from '../../src/core/app.ts';
import { checkLedger } from '../../src/domain/ledger/check-ledger.ts';
import { checkMyPayment, checkPendingPayments } from '../../src/domain/payments/check-payments.ts';
import { creditPayment } from '../../src/domain/payments/credit-payment.ts';
import { processCallback } from '../../src/domain/payments/process-callback.ts';
import { topupBalance } from '../../src/domain/payments/topup-balance.ts';
import { aUser } from '../support/builders.ts';
import { callback, callbackJobs, creditedOnce, moneyFacts, paymentFacts } from '../support/payment-samples.ts';
import { ScriptedProvider, withProvider } from '../support/scripted-provider.ts';
import { testApp } from '../support/test-app.ts';
import { serverUrl } from '../support/test-database.ts';

let app: App;
const provider = new ScriptedProvider();
beforeAll(async () => {
  if (!serverUrl) throw new Error('Races need a PostgreSQL server: set TEST_DATABASE_URL');
  const t = await testApp({ environment: { PAYMENT_VERIFICATION_AUTO_CHECK_ENABLED: 'true' } });
  app = await withProvider(t.app, provider);
});

async function anInvoice(userId: number) {
  const { paymentId } = await topupBalance(
    app,
    { kind: 'user', userId },
    { amountKopeks: 50_000, method: 'sandbox', option: null },
    { idempotencyKey: null },
  );
  return { paymentId, externalId: (await paymentFacts(app, paymentId)).externalId! };
}

/** Resolves for all callers together, once `count` of them wait. */
function gate(count: number): () => Promise<void> {
  let waiting = 0;
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return () => {
    waiting += 1;
    if (waiting >= count) open();
    return opened;
  };
}

/** Another process of the service: each asks the provider about a few callbacks at a time. */
const anotherInstance = (): App => {
  const payments = { ...app.ports.payments, byMethod: () => Object.create(provider) as ScriptedProvider };
  return { ...app, ports: { ...app.ports, payments } };
};

describe('one payment', () => {
  test('fifty copies of a callback at once: one row, one job, one credit', async () => {
    const user = await aUser(app);
    const { externalId } = await anInvoice(user.id);
    provider.set(externalId, 'paid');
    const replies = await Promise.all(
      Array.from({ length: 50 }, () => callback(app, externalId, { eventId: `same-${externalId}` })),
    );
    expect(replies.every((reply) => reply?.status === 200)).toBe(true);
    expect(await callbackJobs(app, externalId)).toHaveLength(1);
  });

  test('fifty different callbacks processed at once, all confirmed as paid: one credit', async () => {
    const user = await aUser(app);
    const { externalId, paymentId } = await anInvoice(user.id);
    provider.set(externalId, 'paid');
    await Promise.all(Array.from({ length: 50 }, () => callback(app, externalId)));
    const jobs = await callbackJobs(app, externalId);
    expect(jobs).toHaveLength(50);
    // All calls query the provider before one of them writes.
    provider.whileAsked = gate(50);
    await Promise.all(jobs.map((callbackId) => processCallback(anotherInstance(), { callbackId })));
    provider.whileAsked = async () => undefined;
    expect(await moneyFacts(app, user.id)).toEqual(creditedOnce(50_000));
    expect(await paymentFacts(app, paymentId)).toMatchObject({ outcome: 'paid', isPaid: true });
    const results = await app.db.sql<{ result: string; n: number }>(
      'SELECT result, count(*)::int AS n FROM provider_callbacks WHERE external_id = $1 GROUP BY result ORDER BY n',
      [externalId],
    );
    expect(results).toEqual([
      { result: 'credited', n: 1 },
      { result: 'already_credited', n: 49 },
    ]);
  });

  test('callback, manual check and background check at once: one credit', async () => {
    const user = await aUser(app);
    const { externalId, paymentId } = await anInvoice(user.id);
    provider.set(externalId, 'paid');
    await callback(app, externalId);
    const [callbackId] = await callbackJobs(app, externalId);
    const actor = { kind: 'user', userId: user.id } as const;
    await Promise.all([
      processCallback(app, { callbackId: callbackId! }),
      checkPendingPayments(app),
      ...Array.from({ length: 10 }, () => checkMyPayment(app, actor, 'sandbox', paymentId)),
      checkPendingPayments(app),
    ]);
    expect(await moneyFacts(app, user.id)).toEqual(creditedOnce(50_000));
  });

  test('an older state and the payment at once end paid, whichever is written first', async () => {
    const user = await aUser(app);
    for (let round = 1; round <= 5; round++) {
      const { externalId, paymentId } = await anInvoice(user.id);
      const old = await provider.fetchStatus({ externalId: externalId, orderId: null });
      provider.set(externalId, 'paid');
      const paid = await provider.fetchStatus({ externalId: externalId, orderId: null });
      const states = [old, paid, old, old, paid, old];
      const results = await Promise.all(states.map((state) => creditPayment(app, paymentId, state)));
      expect(results.filter((result) => result === 'credited')).toHaveLength(1);
      expect(await paymentFacts(app, paymentId)).toMatchObject({ outcome: 'paid', isPaid: true, status: 'succeeded' });
      expect((await moneyFacts(app, user.id)).balance).toBe(50_000 * round);
    }
  });
});

describe('many at once', () => {
  test('one key ten times is one invoice, and the others get its answer or 409', async () => {
    const user = await aUser(app);
    const before = provider.created.length;
    const call = () =>
      topupBalance(
        app,
        { kind: 'user', userId: user.id },
        { amountKopeks: 7_000, method: 'sandbox', option: null },
        { idempotencyKey: 'race' },
      );
    const results = await Promise.allSettled(Array.from({ length: 10 }, call));
    expect(provider.created.length - before).toBe(1);
    const answers = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value.paymentUrl] : []));
    expect(new Set(answers).size).toBe(1);
    for (const result of results) if (result.status === 'rejected') expect(result.reason).toMatchObject({ status: 409 });
  });

  test('forty invoices of four users credited at once: no deadlock, exact balances, a clean ledger', async () => {
    const users = await Promise.all(Array.from({ length: 4 }, () => aUser(app)));
    const invoices = await Promise.all(users.flatMap((user) => Array.from({ length: 10 }, () => anInvoice(user.id))));
    for (const { externalId } of invoices) {
      provider.set(externalId, 'paid');
      await callback(app, externalId);
    }
    const jobs = (await Promise.all(invoices.map(({ externalId }) => callbackJobs(app, externalId)))).flat();
    await Promise.all(jobs.map((callbackId) => processCallback(app, { callbackId })));
    for (const user of users)
      expect(await moneyFacts(app, user.id)).toMatchObject({ balance: 500_000, deposits: 10, notifications: 10, jobs: 10 });
    expect(await checkLedger(app)).toEqual([]);
  });
});
