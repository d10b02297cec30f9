/** Payments whose callbacks may have been lost: asked for after an outage and at the end of their invoices (spec 10 F2). */
import { beforeEach, describe, expect, test } from 'vitest';
import { checkMissedCallbacks } from '../../../src/cli/doctor/content-checks.ts';
import type { App } from '../../../src/core/app.ts';
import { addMs, HOUR_MS } from '../../../src/core/clock.ts';
import { checkAfterOutage, checkPendingPayments } from '../../../src/domain/payments/check-payments.ts';
import { beat, readLastOutage, startHeartbeat } from '../../../src/domain/payments/heartbeat.ts';
import { topupBalance } from '../../../src/domain/payments/topup-balance.ts';
import { aUser } from '../../support/builders.ts';
import { eventually } from '../../support/eventually.ts';
import { creditedOnce, moneyFacts, paymentFacts } from '../../support/payment-samples.ts';
import { ScriptedProvider, withProvider } from '../../support/scripted-provider.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

const lostSession = () => Object.assign(new Error('terminating connection'), { code: '57P01' });

let t: TestApp;
let app: App;
let provider: ScriptedProvider;
beforeEach(async () => {
  t = await testApp({ environment: { PAYMENT_VERIFICATION_AUTO_CHECK_ENABLED: 'true' } });
  provider = new ScriptedProvider();
  app = await withProvider(t.app, provider);
});

async function anInvoice() {
  const user = await aUser(app);
  const order = { amountKopeks: 50_000, method: 'sandbox', option: null };
  const { paymentId } = await topupBalance(app, { kind: 'user', userId: user.id }, order, { idempotencyKey: null });
  return { user, paymentId, externalId: (await paymentFacts(app, paymentId)).externalId! };
}

describe('spec 10 F2: switched off', () => {
  let offApp: App;
  beforeEach(async () => {
    // What other tests left open would be asked for, too.
    await app.db.sql("UPDATE payments SET outcome = 'failed' WHERE outcome = 'pending' RETURNING id");
    offApp = await withProvider((await testApp({ clock: t.clock })).app, provider);
  });
  const check = async () => {
    provider.asked = 0;
    await checkPendingPayments(offApp);
    return provider.asked;
  };

  test('each open invoice is asked for once, when it expires, and the one that was paid is credited', async () => {
    const [unpaid, paid, soon] = [await anInvoice(), await anInvoice(), await anInvoice()];
    provider.set(paid.externalId, 'paid');
    const soonEnds = addMs(t.clock.now(), HOUR_MS);
    await app.db.sql('UPDATE payments SET expires_at = $2::timestamptz WHERE id = $1 RETURNING id', [soon.paymentId, soonEnds]);
    expect(await check()).toBe(0);
    t.clock.advance(HOUR_MS);
    expect(await check()).toBe(1);
    expect(await check()).toBe(0);
    t.clock.advance(23 * HOUR_MS);
    expect(await check()).toBe(2);
    expect(await moneyFacts(app, paid.user.id)).toEqual(creditedOnce(50_000));
    t.clock.advance(1);
    expect(await check()).toBe(0);
    for (const { paymentId } of [unpaid, soon]) expect((await paymentFacts(app, paymentId)).outcome).toBe('expired');
  });

  test('an invoice whose provider gives no answer is asked for again, and expires after a second day', async () => {
    const { paymentId } = await anInvoice();
    provider.fetchFaults = ['unavailable', 'unavailable', 'unavailable'];
    t.clock.advance(24 * HOUR_MS + 1);
    for (let round = 0; round < 2; round++) {
      expect(await check()).toBe(1);
      expect((await paymentFacts(app, paymentId)).outcome).toBe('pending');
    }
    t.clock.advance(24 * HOUR_MS);
    await check();
    expect((await paymentFacts(app, paymentId)).outcome).toBe('expired');
  });

  test('after an outage each invoice that was open in it is asked for once, whatever became of its callback', async () => {
    const [before, paid] = [await anInvoice(), await anInvoice()];
    const from = t.clock.now();
    provider.set(paid.externalId, 'paid');
    t.clock.advance(10 * 60_000);
    const outage = { from, to: t.clock.now() };
    t.clock.advance(1_000);
    const after = await anInvoice();
    provider.fetchFaults = ['unavailable'];
    await expect(checkAfterOutage(offApp, outage, [])).rejects.toThrow('1 payments of an outage');
    provider.asked = 0;
    await checkAfterOutage(offApp, outage, []);
    await checkAfterOutage(offApp, outage, []);
    expect(provider.asked).toBe(1);
    expect(await moneyFacts(app, paid.user.id)).toEqual(creditedOnce(50_000));
    for (const { paymentId } of [before, after]) expect((await paymentFacts(app, paymentId)).outcome).toBe('pending');
  });

  test('a provider that is away is not asked for all of them, and for each of them later', async () => {
    for (let index = 0; index < 20; index++) await anInvoice();
    const outage = { from: t.clock.now(), to: addMs(t.clock.now(), 1_000) };
    t.clock.advance(2_000);
    provider.asked = 0;
    provider.fetchFaults = Array.from({ length: 20 }, () => 'unavailable' as const);
    await expect(checkAfterOutage(offApp, outage, [])).rejects.toThrow('20 payments of an outage');
    // Eight in a row, and those that three other workers had begun.
    expect(provider.asked).toBeGreaterThanOrEqual(8);
    expect(provider.asked).toBeLessThanOrEqual(11);
    provider.fetchFaults = [];
    provider.asked = 0;
    await checkAfterOutage(offApp, outage, []);
    expect(provider.asked).toBe(20);
  });

  test('an invoice whose answer could not be stored stays open, and is found by its order id', async () => {
    const user = await aUser(app);
    const sql: App['db']['sql'] = (text, values) =>
      text.includes('coalesce(external_id') ? Promise.reject(lostSession()) : app.db.sql(text, values);
    const cut: App = { ...app, db: { ...app.db, sql } };
    const order = { amountKopeks: 50_000, method: 'sandbox', option: null };
    const started = topupBalance(cut, { kind: 'user', userId: user.id }, order, { idempotencyKey: null });
    await expect(started).rejects.toMatchObject({ code: '57P01' });
    const { orderId, paymentId } = provider.created.at(-1)!;
    expect(await paymentFacts(app, paymentId)).toMatchObject({ outcome: 'pending', externalId: null });
    provider.set(`ext-${orderId}`, 'paid');
    t.clock.advance(24 * HOUR_MS);
    await check();
    expect(await moneyFacts(app, user.id)).toEqual(creditedOnce(50_000));
  });
});

describe('spec 10 F2: the heartbeat of all instances', () => {
  const outages = async () =>
    (await app.db.sql<{ data: object }>("SELECT data FROM jobs.job WHERE name = 'payments.check-after-outage'")).length;
  const silentFor = (seconds: number) =>
    app.db.sql(
      `UPDATE service_state SET updated_at = now() - $1::int * interval '1 second' WHERE key = 'payments:alive' RETURNING key`,
      [seconds],
    );
  beforeEach(async () => {
    await app.db.sql("DELETE FROM jobs.job WHERE name = 'payments.check-after-outage' RETURNING id");
    await app.db.sql("DELETE FROM service_state WHERE key LIKE 'payments:%' RETURNING key");
  });

  test('the first one, and one after a short pause, are no outage, while the span of a long one is checked, once for all instances', async () => {
    await beat(app, null);
    await silentFor(10);
    await beat(app, null);
    expect(await outages()).toBe(0);
    await silentFor(300);
    await Promise.all([beat(app, null), beat(app, null), beat(app, null)]);
    expect(await outages()).toBe(1);
    const { from, to, reason } = (await readLastOutage(app))!;
    expect(reason).toBe('no_instance');
    expect(new Date(to)).toEqual(t.clock.now());
    expect(Math.round((Date.parse(to) - Date.parse(from)) / 1_000)).toBe(300);
  });

  test('a refused callback is reported with the next beat, also one that was refused while a beat was under way', async () => {
    await beat(app, null);
    let release: () => void = () => undefined;
    const blocked = new Promise<void>((resolve) => {
      release = resolve;
    });
    let isWaiting = false;
    const sql: App['db']['sql'] = async (text, values) => {
      if (text.startsWith('UPDATE service_state SET updated_at = now()')) {
        isWaiting = true;
        await blocked;
      }
      return app.db.sql(text, values);
    };
    const first = startHeartbeat({ ...app, db: { ...app.db, sql } });
    await eventually(() => expect(isWaiting).toBe(true));
    first.callbackRefused();
    release();
    await first.round();
    expect(await outages()).toBe(1);
    await first.round();
    first.stop();
    expect(await outages()).toBe(1);
    expect(await readLastOutage(app)).toMatchObject({ reason: 'callbacks_refused' });
  });

  test('doctor says what is on, and when callbacks may have been lost last', async () => {
    const finding = async (isOn: boolean) =>
      checkMissedCallbacks(app, { get: () => isOn } as unknown as Parameters<typeof checkMissedCallbacks>[1]);
    expect((await finding(false)).detail).toBe(
      'the periodic check is off (PAYMENT_VERIFICATION_AUTO_CHECK_ENABLED); invoices are asked for at their end and after an outage; there was none',
    );
    await beat(app, null);
    await silentFor(300);
    await beat(app, null);
    const { from, to } = (await readLastOutage(app))!;
    expect(await finding(true)).toMatchObject({
      verdict: 'ok',
      detail: `the periodic check is on (PAYMENT_VERIFICATION_AUTO_CHECK_ENABLED); invoices are asked for at their end and after an outage; the last one was from ${from} to ${to} (no_instance)`,
    });
  });

  test('callbacks that were refused while an instance lived are an outage, too', async () => {
    await beat(app, null);
    await beat(app, 4_000);
    expect(await outages()).toBe(1);
    expect(await readLastOutage(app)).toMatchObject({
      reason: 'callbacks_refused',
      from: addMs(t.clock.now(), -4_000).toISOString(),
    });
  });
});
