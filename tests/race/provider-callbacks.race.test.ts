import { afterEach, describe, expect, test } from 'vitest';
import { checkLedger } from '../../src/domain/ledger/check-ledger.ts';
import { checkMyPayment, checkPendingPayments } from '../../src/domain/payments/check-payments.ts';
import { processCallback } from '../../src/domain/payments/process-callback.ts';
import { dyingAt } from '../support/dying-app.ts';
import { creditedOnce, moneyFacts } from '../support/payment-samples.ts';
import { PROVIDER_CASES } from '../support/providers/all-cases.ts';
import type { RawCallback } from '../support/providers/provider-case.ts';
import { aProviderFixture, type ProviderFixture } from '../support/providers/provider-fixture.ts';
import { serverUrl } from '../support/test-database.ts';

/** One payment of every provider, reported by many at once and by processes that end in the middle: one credit. */
let fixture: ProviderFixture | null = null;
afterEach(async () => {
  await fixture?.close();
  fixture = null;
});

const AMOUNT = 50_000;
/** With an invoice, and without one (Tribute). */
const CREDIT = /credit_topup|credit_uninvoiced/;
const AUTO_CHECK = { environment: { PAYMENT_VERIFICATION_AUTO_CHECK_ENABLED: 'true' } };

const start = async (provider: (typeof PROVIDER_CASES)[number]): Promise<ProviderFixture> => {
  if (!serverUrl) throw new Error('Races need a PostgreSQL server: set TEST_DATABASE_URL');
  fixture = await aProviderFixture(provider, AUTO_CHECK);
  return fixture;
};

/** Only stores a callback, as the HTTP server does. */
const store = ({ server }: ProviderFixture, { path, headers, body }: RawCallback) =>
  server.inject({ method: 'POST', url: path, headers, payload: body });

async function waitingCallbacks({ app, method }: ProviderFixture): Promise<number[]> {
  const rows = await app.db.sql<{ id: number }>(
    'SELECT id FROM provider_callbacks WHERE provider = $1 AND processed_at IS NULL ORDER BY id',
    [method],
  );
  return rows.map(({ id }) => id);
}

describe.each(PROVIDER_CASES.map((provider) => [provider.method, provider] as const))('%s', (method, provider) => {
  test('fifty copies of the callback, checks of the user and of the job at once: one credit', async () => {
    const prepared = await start(provider);
    const { app, current } = prepared;
    const callbacks = await prepared.act('pay');
    const actor = { kind: 'user', userId: current.user.id } as const;
    // Without an invoice there is nothing that a user could ask about.
    const asks = Array.from({ length: provider.pays ? 0 : 5 }, () => checkMyPayment(app, actor, method, current.paymentId));
    const copies = Array.from({ length: 50 }, (_, copy) => callbacks[copy % callbacks.length]!);
    const replies = await Promise.all([...copies.map((copy) => store(prepared, copy)), ...asks, checkPendingPayments(app)]);
    for (const reply of replies.slice(0, 50)) expect(reply).toMatchObject({ statusCode: provider.acknowledges.status });
    const ids = await waitingCallbacks(prepared);
    await Promise.all([...ids, ...ids, ...ids].map((callbackId) => processCallback(app, { callbackId })));
    expect(await moneyFacts(app, current.user.id)).toEqual(creditedOnce(AMOUNT));
    expect(await checkLedger(app)).toEqual([]);
  });

  test.each([
    ['before the credit', CREDIT, 'before'],
    ['after the credit, before the callback is marked', CREDIT, 'after'],
    ['after the callback was taken', /attempts \+ 1/, 'after'],
    ['while the callback is marked', /processed_at = \$2/, 'before'],
  ] as const)('a process that ends %s: the next one credits once', async (_name, part, when) => {
    const prepared = await start(provider);
    const { app, current } = prepared;
    for (const callback of await prepared.act('pay')) await store(prepared, callback);
    const ends: unknown[] = [];
    for (const callbackId of await waitingCallbacks(prepared)) {
      await processCallback(dyingAt(app, part, when), { callbackId }).catch((error: unknown) => ends.push(error));
    }
    expect(ends).toContainEqual(new Error('killed'));
    for (const callbackId of await waitingCallbacks(prepared)) await processCallback(app, { callbackId });
    expect(await moneyFacts(app, current.user.id)).toEqual(creditedOnce(AMOUNT));
    expect(await checkLedger(app)).toEqual([]);
  });

  test('a process that ends before it has answered: the provider repeats, one credit', async () => {
    const prepared = await start(provider);
    const { app, current } = prepared;
    const callbacks = await prepared.act('pay');
    for (const callback of callbacks) await store(prepared, callback);
    await prepared.process();
    for (const callback of callbacks) {
      expect(await prepared.deliver(callback)).toMatchObject(provider.acknowledges);
    }
    expect(await moneyFacts(app, current.user.id)).toEqual(creditedOnce(AMOUNT));
  });
});
