import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { callbackRoute, registerCallbackRoutes } from '../../../src/composition/callback-routes.ts';
import { createHttpServer } from '../../../src/composition/http-server.ts';
import type { App } from '../../../src/core/app.ts';
import { HOUR_MS } from '../../../src/core/clock.ts';
import { createMetrics } from '../../../src/core/metrics.ts';
import { checkLedger } from '../../../src/domain/ledger/check-ledger.ts';
import { MessengerError, type StarsTransfer } from '../../../src/domain/messaging/ports.ts';
import { receiveStarsUpdate } from '../../../src/domain/payments/credit-stars.ts';
import { processCallback } from '../../../src/domain/payments/process-callback.ts';
import { reconcileStars } from '../../../src/domain/payments/reconcile-stars.ts';
import { createStarsInvoice } from '../../../src/domain/payments/stars-invoices.ts';
import { aUser, unique } from '../../support/builders.ts';
import { creditedOnce, moneyFacts } from '../../support/payment-samples.ts';
import { observeRefusal } from '../../support/refusal-recorder.ts';
import { storeRow } from '../../support/stored-rows.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { workerSandbox } from '../../support/test-sandbox.ts';

let t: TestApp;
beforeAll(async () => {
  t = await testApp();
});
beforeEach(async () => {
  await t.app.db.sql("DELETE FROM service_state WHERE key = 'payments:stars-transfers' RETURNING key");
});
afterEach(async () => {
  (await workerSandbox()).servers.messenger.knobs.losesStarsUpdates = false;
});

/** The messenger with this list of transfers. @param asked gets the offset of every page */
function withTransfers(list: readonly StarsTransfer[], asked: number[] = [], botId = 1): App {
  const messenger = {
    ...t.app.ports.messenger,
    getMe: async () => ({ messengerId: botId, username: 'bot', firstName: 'Bot' }),
    listStarsTransfers: async (offset: number, limit: number) => {
      asked.push(offset);
      return list.slice(offset, offset + limit);
    },
  };
  return { ...t.app, ports: { ...t.app.ports, messenger } };
}

async function processAll(): Promise<void> {
  const waiting = await t.app.db.sql<{ id: number }>(
    "SELECT id FROM provider_callbacks WHERE provider = 'messenger_stars' AND processed_at IS NULL ORDER BY id",
  );
  for (const { id } of waiting) await processCallback(t.app, { callbackId: id });
}

/** One round of the job with the jobs that it sends. */
async function round(app: App): Promise<void> {
  await reconcileStars(app);
  await processAll();
}

async function anInvoice() {
  const user = await aUser(t.app);
  const invoice = await createStarsInvoice(t.app, { kind: 'user', userId: user.id }, 15_000, null);
  const payment = (change: Partial<StarsTransfer> = {}): StarsTransfer => ({
    kind: 'payment',
    chargeId: `charge-${unique()}`,
    payerMessengerId: user.messengerId,
    payload: invoice.payload,
    stars: invoice.stars,
    at: t.app.clock.now(),
    ...change,
  });
  return { user, invoice, payment };
}

const other = (): StarsTransfer => ({
  kind: 'other',
  chargeId: `gift-${unique()}`,
  payerMessengerId: null,
  payload: null,
  stars: 1,
  at: t.app.clock.now(),
});

const storedUpdates = async (chargeId: string) =>
  (await t.app.db.sql("SELECT id FROM provider_callbacks WHERE provider = 'messenger_stars' AND external_id = $1", [chargeId]))
    .length;

describe('a payment whose update was lost (03a section 1)', () => {
  test('is credited once, by the list of the messenger, and so is its refund', async () => {
    const { servers, callbacks } = await workerSandbox();
    const { app } = t;
    const { fastify } = await createHttpServer({
      observeRefusal,
      app,
      metrics: createMetrics(),
      callbackRoute: callbackRoute(app),
      extend: (server) => registerCallbackRoutes(server, app),
    });
    // The messenger asks before the payment; what it says afterwards is lost.
    callbacks.url = await fastify.listen({ host: '127.0.0.1', port: 0 });
    const { user, invoice } = await anInvoice();
    servers.messenger.knobs.losesStarsUpdates = true;
    const paid = await servers.messenger.payStars(invoice.payload, { id: user.messengerId, first_name: 'Payer' });
    expect(paid).toMatchObject({ status: 'paid' });
    callbacks.url = null;
    await fastify.close();
    expect((await moneyFacts(t.app, user.id)).balance).toBe(0);
    for (let run = 0; run < 3; run++) await round(t.app);
    expect(await moneyFacts(t.app, user.id)).toEqual(creditedOnce(15_000));

    await t.app.ports.messenger.refundStars(user.messengerId, paid!.chargeId!);
    for (let run = 0; run < 3; run++) await round(t.app);
    expect((await moneyFacts(t.app, user.id)).balance).toBe(0);
    expect(await checkLedger(t.app)).toEqual([]);
  });

  test('is credited once when its update comes late after all, and not looked at when it came before', async () => {
    const late = await anInvoice();
    const early = await anInvoice();
    const [lost, reported] = [late.payment(), early.payment()];
    const updateOf = ({ chargeId, payload, stars }: StarsTransfer, payerMessengerId: number) =>
      ({ updateId: unique(), kind: 'stars_paid', chargeId, payload: payload!, stars, payerMessengerId }) as const;
    await receiveStarsUpdate(t.app, updateOf(reported, early.user.messengerId), '{}');
    await round(withTransfers([lost, reported]));
    await receiveStarsUpdate(t.app, updateOf(lost, late.user.messengerId), '{}');
    await processAll();
    for (const { user } of [late, early]) expect(await moneyFacts(t.app, user.id)).toEqual(creditedOnce(15_000));
    expect(await storedUpdates(reported.chargeId)).toBe(1);
    expect(await storedUpdates(lost.chargeId)).toBe(1);
  });

  test('of no invoice here is a case, if it was paid since the reading began, while what is older was the software’s before', async () => {
    const { payment } = await anInvoice();
    const [before, during] = [-HOUR_MS, 1_000].map((ms) =>
      payment({ payload: `trial_${unique()}`, at: new Date(t.app.clock.now().getTime() + ms) }),
    ) as [StarsTransfer, StarsTransfer];
    const unknown = payment({ payload: 'of-another-shop', at: during.at });
    const refund = { ...payment({ payload: 'unknown', at: before.at }), kind: 'refund' as const };
    await round(withTransfers([before, refund, during, unknown]));
    expect(await storedUpdates(before.chargeId)).toBe(0);
    expect(await storedUpdates(refund.chargeId)).toBe(0);
    expect(await storedUpdates(during.chargeId)).toBe(1);
    const cases = await t.app.db.sql("SELECT kind FROM payment_cases WHERE reference = $1 AND method = 'messenger_stars'", [
      unknown.chargeId,
    ]);
    expect(cases).toEqual([{ kind: 'unknown_payment' }]);
  });

  test('is found although it was paid before the reading began, when its invoice is stored here', async () => {
    const { user, payment } = await anInvoice();
    await round(withTransfers([payment({ at: new Date(t.app.clock.now().getTime() - HOUR_MS) })]));
    expect(await moneyFacts(t.app, user.id)).toEqual(creditedOnce(15_000));
  });

  test('that was recorded without its update, as an import does, is known', async () => {
    const { payment } = await anInvoice();
    const old = payment({ payload: 'balance_1_1' });
    const { id: userId } = await aUser(t.app);
    await storeRow(t.app, 'Payment', {
      method: 'messenger_stars',
      userId,
      orderId: `imported-${unique()}`,
      externalId: old.chargeId,
      amountKopeks: 100,
      status: 'paid',
      outcome: 'paid',
    });
    await round(withTransfers([old]));
    expect(await storedUpdates(old.chargeId)).toBe(0);
  });
});

describe('the list', () => {
  test('is read page by page, from where the last run ended, with an overlap', async () => {
    const { user, payment } = await anInvoice();
    const list = [...Array.from({ length: 250 }, other), payment()];
    const asked: number[] = [];
    await round(withTransfers(list, asked));
    expect(asked).toEqual([0, 100, 200]);
    expect(await moneyFacts(t.app, user.id)).toEqual(creditedOnce(15_000));
    await round(withTransfers([...list, other()], asked));
    expect(asked.slice(3)).toEqual([151, 251]);
  });

  test('of another bot is read from its beginning', async () => {
    const asked: number[] = [];
    await round(withTransfers(Array.from({ length: 150 }, other), asked));
    const { user, payment } = await anInvoice();
    await round(withTransfers([payment()], asked, 2));
    expect(asked).toEqual([0, 100, 0]);
    expect(await moneyFacts(t.app, user.id)).toEqual(creditedOnce(15_000));
  });

  test('that ends in the middle is continued there', async () => {
    const { user, payment } = await anInvoice();
    const list = [...Array.from({ length: 220 }, other), payment()];
    const down = withTransfers(list);
    const { listStarsTransfers } = down.ports.messenger;
    down.ports.messenger.listStarsTransfers = async (offset, limit) => {
      if (offset >= 200) throw new MessengerError({ kind: 'unavailable' }, 'no answer');
      return listStarsTransfers(offset, limit);
    };
    await expect(reconcileStars(down)).rejects.toMatchObject({ name: 'MessengerError' });
    const asked: number[] = [];
    await round(withTransfers(list, asked));
    expect(asked).toEqual([100, 200]);
    expect(await moneyFacts(t.app, user.id)).toEqual(creditedOnce(15_000));
  });

  test('is not asked for without a messenger', async () => {
    const asked: number[] = [];
    const app = withTransfers([], asked);
    const stars = { ...app.ports.payments.byMethod('messenger_stars')!, hasCredentials: () => false };
    await reconcileStars({ ...app, ports: { ...app.ports, payments: { ...app.ports.payments, byMethod: () => stars } } });
    expect(asked).toEqual([]);
  });
});
