import { afterEach, describe, expect, test } from 'vitest';
import { providerTimeoutMs } from '../../../../src/composition/payment-providers.ts';
import type { App } from '../../../../src/core/app.ts';
import { inTransaction } from '../../../../src/core/db/transaction.ts';
import { checkLedger } from '../../../../src/domain/ledger/check-ledger.ts';
import { checkMyPayment } from '../../../../src/domain/payments/check-payments.ts';
import { type ElapsedTimers, recordTimers } from '../../../support/elapsed-timers.ts';
import { moneyFacts } from '../../../support/payment-samples.ts';
import { sampledProviders } from '../../../support/providers/all-cases.ts';
import { cryptobotCase } from '../../../support/providers/cryptobot-case.ts';
import { aProviderFixture, type ProviderFixture } from '../../../support/providers/provider-fixture.ts';
import { riopayCase } from '../../../support/providers/riopay-case.ts';

/** A provider that accepts connections and does not answer, in a service with another one that does. No test waits for real time. */
let fixture: ProviderFixture | null = null;
let timers: ElapsedTimers | null = null;
afterEach(async () => {
  timers?.stop();
  timers = null;
  await fixture?.close();
  fixture = null;
});

const AMOUNT = 50_000;

/** Whether something under way holds a lock of these rows; one that is held fails at once. */
async function expectNoLocks(app: App, userIds: readonly number[]): Promise<void> {
  await inTransaction(app, async (t) => {
    await t.db.sql('SELECT id FROM users WHERE id = ANY($1::int[]) ORDER BY id FOR UPDATE NOWAIT', [userIds]);
    await t.db.sql('SELECT id FROM payments WHERE user_id = ANY($1::int[]) ORDER BY id FOR UPDATE NOWAIT', [userIds]);
  });
}

describe.each(sampledProviders())('%s', (method, provider) => {
  test('while it does not answer nothing else waits, and its callers are refused after its time-out', async () => {
    const neighbour = method === 'cryptobot' ? riopayCase : cryptobotCase;
    const prepared = await aProviderFixture(provider, { neighbour });
    fixture = prepared;
    const { app } = prepared;
    // In operation before: one payment is credited, the next one is paid and about to be reported.
    for (const callback of await prepared.act('pay')) await prepared.deliver(callback);
    const waiting = await prepared.open();
    const reports = await prepared.act('pay');
    const asked = await prepared.open();

    const stall = prepared.stall();
    timers = recordTimers('core/http/outbound.ts');
    const topup = prepared.open().then(
      () => null,
      (error: unknown) => error,
    );
    const check = provider.pays ? null : checkMyPayment(app, { kind: 'user', userId: asked.user.id }, method, asked.paymentId);
    // Tribute is never called: its top-up is a page, and what is paid there is reported.
    if (!provider.pays) await expect.poll(() => stall.requests()).toBeGreaterThan(0);

    // The other provider: an invoice with its callback, and one that its payer asks about.
    const reported = await prepared.open(AMOUNT, neighbour);
    for (const callback of await prepared.act('pay')) {
      expect(await prepared.deliver(callback, neighbour)).toMatchObject(neighbour.acknowledges);
    }
    expect(await moneyFacts(app, reported.user.id)).toMatchObject({ balance: AMOUNT, deposits: 1 });
    const polled = await prepared.open(AMOUNT, neighbour);
    await prepared.act('pay');
    const answer = await checkMyPayment(app, { kind: 'user', userId: polled.user.id }, neighbour.method, polled.paymentId);
    expect(answer).toMatchObject({ success: true, payment: { isPaid: true } });
    // Its own callbacks are stored and acknowledged without any question.
    for (const report of reports) expect(await prepared.store(report)).toMatchObject(provider.acknowledges);

    // The callers still wait, without a lock and without a connection of the pool.
    await expectNoLocks(app, [waiting.user.id, asked.user.id, reported.user.id, polled.user.id]);
    await expect.poll(() => prepared.t.database.poolCounters()).toMatchObject({ inUse: 0, waiting: 0 });

    if (check) {
      let hasEnded = false;
      const ended = Promise.all([topup, check]).finally(() => {
        hasEnded = true;
      });
      // Calls that are made one after the other reach their time-out one after the other.
      await expect
        .poll(() => {
          timers!.elapse(providerTimeoutMs(method));
          return hasEnded;
        })
        .toBe(true);
      const [refusal, unanswered] = await ended;
      expect(refusal).toMatchObject({ status: 502, code: 'payment_creation_failed' });
      expect(unanswered).toMatchObject({ success: false, statusChanged: false });
    }
    stall.end();
    await prepared.process();
    expect(await moneyFacts(app, waiting.user.id)).toMatchObject({ balance: AMOUNT, deposits: 1 });
    expect(await checkLedger(app)).toEqual([]);
  });
});
