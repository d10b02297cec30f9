import type { App } from '../../core/app.ts';
import { addDays } from '../../core/clock.ts';
import { forEachPage } from '../../core/jobs/for-each-page.ts';
import { initState, writeState } from '../../core/service-state.ts';
import { includesTestPayments } from './find-payment.ts';
import { queueReceipt } from './queue-receipt.ts';
import { listToCorrect, listWithoutReceipt } from './repo.ts';

const SINCE_KEY = 'receipts:since';
/** Further back nothing is looked for: by then its month is reported. */
const SEARCHED_DAYS = 40;

/**
 * Queues receipts whose job was lost (queue `receipts.find-missing`): of credited payments without one, and corrections after returned money.
 * Payments from before receipts were switched on belong to what made the receipts then.
 */
export async function findMissingReceipts(app: App): Promise<void> {
  const now = app.clock.now();
  if (!app.ports.receipts.isConfigured()) return writeState(app.db, SINCE_KEY, null);
  const enabledAt = await enabledSince(app, now);
  const since = addDays(now, -SEARCHED_DAYS);
  const withTest = includesTestPayments(app);
  const paidSince = enabledAt > since ? enabledAt : since;
  await queueEach(app, (afterId, limit) => listWithoutReceipt(app.db, { paidSince, withTest, afterId, limit }));
  await queueEach(app, (afterId, limit) => listToCorrect(app.db, { since, afterId, limit }));
}

function queueEach(app: App, list: (afterId: number, limit: number) => Promise<number[]>): Promise<void> {
  return forEachPage<number>(app, {
    list: (after, limit) => list(after ?? 0, limit),
    each: (paymentId) => queueReceipt(app, { paymentId }),
    failure: (paymentId) => ['a receipt could not be queued', { paymentId }],
  });
}

/** When receipts were switched on, as the first round since then saw it. */
async function enabledSince(app: App, now: Date): Promise<Date> {
  const stored = await initState<string | null>(app.db, SINCE_KEY, now.toISOString());
  if (stored !== null) return new Date(stored);
  await writeState(app.db, SINCE_KEY, now.toISOString());
  return now;
}
