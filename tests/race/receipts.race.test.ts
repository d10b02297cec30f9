import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ReceiptSandbox } from '../../packages/sandbox/src/nalogo/receipt-sandbox.ts';
import type { App } from '../../src/core/app.ts';
import { MINUTE_MS } from '../../src/core/clock.ts';
import { findMissingReceipts, queueReceipt } from '../../src/domain/receipts/receipt-queue.ts';
import { times } from '../support/parallel.ts';
import {
  aCreditedTopup,
  aQueuedReceipt,
  incomesOf,
  receiptFixture,
  receiptsOf,
  reverse,
  round,
  shownReceipt,
  statesOf,
} from '../support/receipt-samples.ts';
import type { TestClock } from '../support/test-app.ts';
import { serverUrl } from '../support/test-database.ts';

let app: App;
let clock: TestClock;
let nalogo: ReceiptSandbox;
beforeAll(() => {
  if (!serverUrl) throw new Error('Races need a PostgreSQL server: set TEST_DATABASE_URL');
});
beforeEach(async () => {
  ({ app, clock, nalogo } = await receiptFixture());
});

/** Removes the lease of the queue from whoever has it, as after its end. */
const endLease = () => app.db.sql("DELETE FROM service_state WHERE key = 'receipts:worker' RETURNING key");

describe('several instances', () => {
  test('queue one receipt of a payment', async () => {
    await findMissingReceipts(app);
    const paid = await aCreditedTopup(app);
    await Promise.all([times(6, () => queueReceipt(app, paid)), findMissingReceipts(app)]);
    expect(await statesOf(app, paid)).toEqual(['queued']);
  });

  test('make one receipt of each payment, although all work at once', async () => {
    const paid = await times(8, () => aQueuedReceipt(app));
    await times(5, () => round(app));
    for (const one of paid) {
      expect(await statesOf(app, one)).toEqual(['created']);
      expect(await incomesOf(app, nalogo, one)).toHaveLength(1);
    }
  });

  test('make one receipt, although the lease of the first one ended while it was sending', async () => {
    const [paid, next] = [await aQueuedReceipt(app), await aQueuedReceipt(app)];
    const second = async (): Promise<void> => {
      await endLease();
      await round(app);
    };
    nalogo.faults.next.push({ call: 'POST /income', fault: 'hook', hook: second });
    await round(app);
    for (const one of [paid, next]) {
      expect(await statesOf(app, one)).toEqual(['created']);
      expect(await incomesOf(app, nalogo, one)).toHaveLength(1);
    }
  });

  test('store one id, although a second one looked the receipt up before the first one got its answer', async () => {
    const paid = await aQueuedReceipt(app);
    const second = async (): Promise<void> => {
      await endLease();
      clock.advance(10 * MINUTE_MS);
      await round(app);
    };
    nalogo.faults.next.push({ call: 'POST /income', fault: 'hook', hook: second });
    await round(app);
    const [income, ...others] = await incomesOf(app, nalogo, paid);
    expect(others).toEqual([]);
    expect(await receiptsOf(app, paid)).toMatchObject([{ state: 'created', uuid: income!.uuid }]);
    expect(await shownReceipt(app, paid)).toBe(income!.uuid);
  });

  test('cancel a receipt once and make one for the rest, although money comes back while both work', async () => {
    const paid = await aQueuedReceipt(app);
    await round(app);
    await Promise.all([reverse(app, paid, 10_000), reverse(app, paid, 5_000), round(app), round(app)]);
    for (let run = 0; run < 6; run++) {
      await Promise.all([queueReceipt(app, paid), round(app), round(app)]);
      clock.advance(MINUTE_MS);
    }
    const incomes = await incomesOf(app, nalogo, paid);
    const valid = incomes.filter(({ cancellation }) => cancellation === null);
    expect(valid.map(({ totalAmount }) => totalAmount)).toEqual(['349.90']);
    expect(nalogo.calls.filter((call) => call === 'POST /cancel')).toHaveLength(incomes.length - 1);
    expect(await shownReceipt(app, paid)).toBe(valid[0]!.uuid);
  });
});
