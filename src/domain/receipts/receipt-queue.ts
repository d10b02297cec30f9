import type { App } from '../../core/app.ts';
import { addDays, addMs } from '../../core/clock.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { forEachPage } from '../../core/jobs/for-each-page.ts';
import { initState, lockState, readState, writeState } from '../../core/service-state.ts';
import { paymentText } from '../payments/payment-texts.ts';
import { notifyDrained, notifyFailing } from './notify-admins.ts';
import type { ReceiptError, ReceiptFailure } from './ports.ts';
import {
  changeReceipt,
  countWaiting,
  findReceiptPayment,
  hasUnfinished,
  insertReceipt,
  listToCorrect,
  listWithoutReceipt,
  lockLastReceipt,
  sumReversed,
} from './repo.ts';
import { NOTICE_MS, REFUSED_SIGN_IN_MS, receiptDeadline, receiptMark, receiptName } from './rules.ts';
import type { Receipt, ReceiptPayment } from './types.ts';

/**
 * Queues the receipt of a credited payment, and corrects it after money was returned (queue `receipts.queue`, spec 03 section 2.8). A payment
 * without a receipt is left alone. Any number of calls at once make one receipt.
 */
export async function queueReceipt(app: App, { paymentId }: { paymentId: number }): Promise<void> {
  await inTransaction(app, async (t) => {
    const payment = await findPayment(t, paymentId);
    if (!payment || !(await matchReceipt(t, payment))) return;
    // While the service is down, each further payment would make another failing call; the rounds of the queue try it.
    if ((await readQueueState(t)).failingSince !== null) return;
    await t.jobs.send('receipts.work', {}, { singletonKey: 'receipts.work' });
  });
}

/**
 * Makes the receipt of a payment say what is left of the payment: queues the first one, lowers or cancels one that was not sent yet, has one
 * that exists cancelled, and queues one for the rest. A receipt whose fate is not known yet waits. In the caller's transaction.
 * @returns whether there is something new for the queue
 */
export async function matchReceipt(t: App, payment: ReceiptPayment): Promise<boolean> {
  const now = t.clock.now();
  const receipt = await lockLastReceipt(t.db, payment.id);
  // Read under the lock: what is returned later sends a job of its own.
  const leftKopeks = payment.amountKopeks - (await sumReversed(t.db, payment.id));
  if (!receipt) return leftKopeks > 0 && t.ports.receipts.isConfigured() && addReceipt(t, payment, 1, leftKopeks);
  if (receipt.amountKopeks <= leftKopeks) return false;
  switch (receipt.state) {
    case 'queued':
    case 'failed':
      if (leftKopeks > 0)
        await changeReceipt(t.db, receipt, { state: 'queued', nextAttemptAt: now, amountKopeks: leftKopeks }, now);
      else await changeReceipt(t.db, receipt, { state: 'cancelled', nextAttemptAt: null, cancelledAt: now }, now);
      return leftKopeks > 0;
    case 'created':
      return changeReceipt(t.db, receipt, { state: 'cancel_requested', nextAttemptAt: now, cancelSentAt: null }, now);
    case 'cancelled':
      return leftKopeks > 0 && addReceipt(t, payment, receipt.sequence + 1, leftKopeks);
    default:
      return false;
  }
}

function addReceipt(t: App, payment: ReceiptPayment, sequence: Receipt['sequence'], amountKopeks: number): Promise<boolean> {
  const mark = receiptMark(payment.orderId, sequence);
  // The receipt is for the tax office, whatever the payer's language is.
  const description = paymentText(t, 'PAYMENT_BALANCE_DESCRIPTION', 'ru');
  return insertReceipt(t.db, {
    ...{ paymentId: payment.id, sequence, mark, amountKopeks, operationAt: payment.operationAt },
    name: receiptName(description, payment.purpose === 'guest_purchase' ? null : payment.messengerId, mark),
    now: t.clock.now(),
  });
}

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

/** Payments in a provider's test mode have receipts in the sandbox only, where the tax service is a fake. */
function includesTestPayments({ ports }: Pick<App, 'ports'>): boolean {
  return ports.instance.sandboxKinds().includes('payments');
}

/** The credited payment, if it has a receipt; else null. */
export function findPayment(t: App, paymentId: number): Promise<ReceiptPayment | null> {
  return findReceiptPayment(t.db, paymentId, { now: t.clock.now(), withTest: includesTestPayments(t) });
}

const KEY = 'receipts:queue';

/** What is stored; timestamps as ISO 8601. */
interface StoredState {
  failingSince: string | null;
  failure: ReceiptFailure | null;
  notifiedAt: string | null;
  pausedUntil: string | null;
  /** When the last receipt was sent, looked up or cancelled. */
  lastStepAt: string | null;
}

export async function readQueueState({ db }: Pick<App, 'db'>) {
  const stored = (await readState<Partial<StoredState>>(db, KEY)) ?? {};
  return {
    failingSince: dateOf(stored.failingSince),
    failure: stored.failure ?? null,
    pausedUntil: dateOf(stored.pausedUntil),
    lastStepAt: dateOf(stored.lastStepAt),
  };
}

/**
 * Notes that the queue stopped, and tells the administrators, at most once an hour. After a refused sign-in the queue pauses: frequent ones
 * get the account blocked.
 */
export async function recordFailure(app: App, { failure, message }: ReceiptError): Promise<void> {
  app.log.warn({ failure, reason: message }, 'receipts wait: the tax service could not be used');
  await inTransaction(app, async (t) => {
    const now = t.clock.now();
    const stored = await lockState<StoredState>(t.db, KEY);
    const isTime = !stored.notifiedAt || addMs(new Date(stored.notifiedAt), NOTICE_MS) <= now;
    if (isTime) await notifyFailing(t, failure);
    await writeState(t.db, KEY, {
      ...stored,
      failure,
      failingSince: stored.failingSince ?? now.toISOString(),
      notifiedAt: isTime ? now.toISOString() : stored.notifiedAt,
      pausedUntil: failure === 'credentials' ? addMs(now, REFUSED_SIGN_IN_MS).toISOString() : null,
      lastStepAt: now.toISOString(),
    });
  });
}

/** Notes that the queue works; when nothing waits any more after a failure, the administrators are notified once. */
export async function recordSuccess(app: App): Promise<void> {
  await inTransaction(app, async (t) => {
    const stored = await lockState<StoredState>(t.db, KEY);
    const isDrained = stored.failingSince != null && !(await hasUnfinished(t.db));
    if (isDrained) await notifyDrained(t);
    const cleared = isDrained ? { failingSince: null, failure: null, notifiedAt: null } : {};
    await writeState(t.db, KEY, { ...stored, ...cleared, pausedUntil: null, lastStepAt: t.clock.now().toISOString() });
  });
}

function dateOf(text: string | null | undefined): Date | null {
  return text ? new Date(text) : null;
}

/** What waits for the tax service. Times are UTC. */
interface ReceiptHealth {
  /** Receipts that are not created, or not cancelled, yet. */
  waiting: number;
  /** Of them those that a person has to look after: refused, or there twice. */
  needPerson: number;
  /** Time of the oldest payment whose receipt is not created; null = all are. */
  oldestAt: Date | null;
  /** Whether the last day for a receipt has passed: the 9th of the next month in Moscow. */
  isLate: boolean;
}

export async function readReceiptHealth({ db, clock }: Pick<App, 'db' | 'clock'>): Promise<ReceiptHealth> {
  const groups = await countWaiting(db);
  const sum = (list: typeof groups) => list.reduce((total, group) => total + group.total, 0);
  // The last day is that of the receipt, not of its cancellation.
  const toCreate = groups.filter(({ state }) => state !== 'cancel_requested');
  const oldest = toCreate.map((group) => group.oldest.getTime()).sort((one, other) => one - other)[0];
  const oldestAt = oldest === undefined ? null : new Date(oldest);
  return {
    waiting: sum(groups),
    needPerson: sum(groups.filter(({ state }) => state === 'failed' || state === 'duplicate')),
    oldestAt,
    isLate: oldestAt !== null && receiptDeadline(oldestAt) <= clock.now(),
  };
}
