import { beforeEach, describe, expect, test } from 'vitest';
import type { ReceiptSandbox } from '../../../packages/sandbox/src/nalogo/receipt-sandbox.ts';
import type { App } from '../../../src/core/app.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../src/core/clock.ts';
import { readReceiptHealth } from '../../../src/domain/receipts/receipt-queue.ts';
import { aQueuedReceipt, incomesOf, notices, type Paid, receiptFixture, round, statesOf } from '../../support/receipt-samples.ts';
import { type TestClock, testApp } from '../../support/test-app.ts';

let app: App;
let clock: TestClock;
let nalogo: ReceiptSandbox;
beforeEach(async () => {
  ({ app, clock, nalogo } = await receiptFixture());
});

const signIns = () => nalogo.calls.filter((call) => call.startsWith('POST /auth')).map((call) => call.replace('POST /auth/', ''));

describe('a tax service that is down', () => {
  test('for hours loses nothing: one call a round, a notice an hour, all receipts afterwards, one notice then', async () => {
    nalogo.faults.isDown = true;
    const paid: Paid[] = [];
    for (let hour = 0; hour < 6; hour++) {
      paid.push(await aQueuedReceipt(app));
      for (let run = 0; run < 12; run++) {
        const before = nalogo.calls.length;
        await round(app);
        expect(nalogo.calls.length - before).toBe(1);
        clock.advance(5 * MINUTE_MS);
      }
    }
    const failing = await notices(app);
    expect(failing).toHaveLength(6);
    expect(failing.at(-1)).toContain('Waiting: 6');
    expect(failing.at(-1)).toContain('cannot be reached');
    nalogo.faults.isDown = false;
    for (let run = 0; run < 3; run++) await round(app);
    for (const one of paid) {
      expect(await statesOf(app, one)).toEqual(['created']);
      expect(await incomesOf(app, nalogo, one)).toHaveLength(1);
    }
    expect((await notices(app)).slice(6)).toEqual(['✅ All waiting tax receipts have been created.']);
    expect(signIns().filter((call) => call === 'lkfl')).toHaveLength(73);
  });

  test('for days: the operation keeps the time of its payment, and a late receipt is reported', async () => {
    clock.set(new Date('2026-10-31T22:00:00.000Z'));
    nalogo.faults.isDown = true;
    const paid = await aQueuedReceipt(app);
    await round(app);
    // Paid on 1 November in Moscow, so the last day is 9 December.
    clock.set(new Date('2026-12-09T20:59:00.000Z'));
    expect(await readReceiptHealth(app)).toMatchObject({ waiting: 1, isLate: false, needPerson: 0 });
    clock.set(new Date('2026-12-09T21:00:00.000Z'));
    expect(await readReceiptHealth(app)).toMatchObject({ isLate: true });
    nalogo.faults.isDown = false;
    await round(app);
    expect((await incomesOf(app, nalogo, paid))[0]!.operationTime).toBe('2026-11-01T01:00:00+03:00');
    expect(await readReceiptHealth(app)).toMatchObject({ waiting: 0, isLate: false });
  });

  test('a further payment makes no further call while it fails, but one at once while it works', async () => {
    const kicks = () => app.db.sql("SELECT id FROM jobs.job WHERE name = 'receipts.work' AND state = 'created'");
    await aQueuedReceipt(app);
    expect(await kicks()).toHaveLength(1);
    nalogo.faults.isDown = true;
    await round(app);
    await app.db.sql("DELETE FROM jobs.job WHERE name = 'receipts.work' RETURNING id");
    await aQueuedReceipt(app);
    expect(await kicks()).toEqual([]);
  });
});

describe('the sign-in', () => {
  test('spec 03a 15: tokens are shared and refreshed, so that the password is used once', async () => {
    for (let hour = 0; hour < 5; hour++) {
      await aQueuedReceipt(app);
      const instance = await testApp({ environment: { NALOGO_ENABLED: 'true', NALOGO_QUEUE_RECEIPT_DELAY: '0' }, clock });
      await round(instance.app);
      clock.advance(HOUR_MS);
    }
    expect(signIns()).toEqual(['lkfl', 'token', 'token', 'token', 'token']);
  });

  test('the stored tokens are not readable, and the device id has 21 characters and stays', async () => {
    await aQueuedReceipt(app);
    await round(app);
    const states = await app.db.sql<{ key: string; value: unknown }>(
      "SELECT key, value FROM service_state WHERE key IN ('receipts:session', 'receipts:device') ORDER BY key",
    );
    const [device, session] = states;
    expect(device!.value).toMatch(/^[a-z0-9]{21}$/);
    const tokens = await nalogo.tokens();
    expect(tokens.length).toBeGreaterThan(0);
    const stored = Buffer.from((session!.value as { tokens: string }).tokens, 'base64').toString('latin1');
    expect(tokens.filter((token) => stored.includes(token))).toEqual([]);
    clock.advance(DAY_MS);
    await aQueuedReceipt(app);
    await round(app);
    expect(
      (await app.db.sql<{ value: unknown }>("SELECT value FROM service_state WHERE key = 'receipts:device'"))[0]!.value,
    ).toBe(device!.value);
  });

  test('a refused sign-in pauses the queue for an hour, so that the account is not blocked', async () => {
    const paid = await aQueuedReceipt(app);
    nalogo.faults.next.push({ call: 'POST /auth/lkfl', fault: 'unauthorized' });
    await round(app);
    for (let run = 0; run < 11; run++) {
      clock.advance(5 * MINUTE_MS);
      await round(app);
    }
    expect(signIns()).toEqual(['lkfl']);
    expect((await notices(app))[0]).toContain('refuses the sign-in');
    clock.advance(5 * MINUTE_MS);
    await round(app);
    expect(await statesOf(app, paid)).toEqual(['created']);
  });
});

describe('the pace', () => {
  test('receipts are claimed one by one, also where the statistics of the database say that the table has one row', async () => {
    await aQueuedReceipt(app);
    await round(app);
    // With one row, the claim's join might carry out its select once for each receipt, and claim them all.
    await app.db.sql('ANALYZE receipts');
    const paid = [await aQueuedReceipt(app), await aQueuedReceipt(app), await aQueuedReceipt(app)];
    await round(app);
    for (const one of paid) expect(await statesOf(app, one)).toEqual(['created']);
  });

  test('receipts are NALOGO_QUEUE_RECEIPT_DELAY seconds apart, also those of different runs', async () => {
    const slow = await receiptFixture({ NALOGO_QUEUE_RECEIPT_DELAY: '3' });
    for (let one = 0; one < 3; one++) await aQueuedReceipt(slow.app);
    expect(await round(slow.app)).toEqual([3_000, 3_000, 3_000]);
    await aQueuedReceipt(slow.app);
    expect((await round(slow.app))[0]).toBe(3_000);
    slow.clock.advance(60_000);
    await aQueuedReceipt(slow.app);
    expect(await round(slow.app)).toEqual([3_000]);
  });
});
