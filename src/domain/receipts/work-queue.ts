import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { App } from '../../core/app.ts';
import { addMs, MINUTE_MS, SECOND_MS } from '../../core/clock.ts';
import { claimStateLease, releaseStateLease } from '../../core/service-state.ts';
import { cancelReceipt } from './cancel-receipt.ts';
import { issueReceipt, lookUpReceipt } from './issue-receipt.ts';
import { ReceiptError, type ReceiptService } from './ports.ts';
import { readQueueState, recordFailure, recordSuccess } from './queue-state.ts';
import { openReceiptSession } from './receipt-session.ts';
import { type ClaimedReceipt, claimDueReceipt, hasDue } from './repo.ts';
import { UNCLEAR_MS } from './rules.ts';

const LEASE_KEY = 'receipts:worker';
/** Longer than one step takes, which makes up to six calls of 30 seconds. */
const LEASE_MS = 5 * MINUTE_MS;
/** Receipts in one run; the rest gets a run of its own. */
const BATCH = 40;

export interface RunOptions {
  signal: AbortSignal;
  /** Waits between two receipts; tests pass one that only records. */
  wait?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/**
 * Works through the receipts that are due, one after the other and with the pause of `NALOGO_QUEUE_RECEIPT_DELAY` (queue `receipts.work`,
 * spec 03 section 2.8). It stops at the first failure; nothing is dropped, the next round goes on. One instance works at a time; should
 * two, because one was halted, each receipt is still claimed by one.
 */
export async function workReceipts(app: App, { signal, wait = pause }: RunOptions): Promise<void> {
  if (!app.ports.receipts.isConfigured() || !(await hasDue(app.db, app.clock.now()))) return;
  const { pausedUntil, lastStepAt } = await readQueueState(app);
  if (pausedUntil !== null && pausedUntil > app.clock.now()) return;
  const instance = randomUUID();
  if (!(await claimStateLease(app.db, LEASE_KEY, { instance }, LEASE_MS))) return;
  try {
    const service = app.ports.receipts.open(await openReceiptSession(app));
    let [last, steps] = [lastStepAt, 0];
    for (; steps < BATCH && !signal.aborted; steps++) {
      await waitForTurn(app, last, signal, wait);
      await claimStateLease(app.db, LEASE_KEY, { instance }, LEASE_MS);
      const now = app.clock.now();
      const claimed = await claimDueReceipt(app.db, now, addMs(now, UNCLEAR_MS));
      if (!claimed) break;
      if (!(await runStep(app, service, claimed))) return;
      last = app.clock.now();
    }
    if (steps === 0) return;
    await recordSuccess(app);
    if (steps === BATCH) await app.jobs.send('receipts.work', {}, { singletonKey: 'receipts.work' });
  } finally {
    await releaseStateLease(app.db, LEASE_KEY, instance);
  }
}

/** @returns false when the run has to stop */
async function runStep(app: App, service: ReceiptService, receipt: ClaimedReceipt): Promise<boolean> {
  try {
    if (receipt.state === 'cancel_requested') await cancelReceipt(app, service, receipt);
    else if (receipt.stateBefore === 'queued' || receipt.stateBefore === 'failed') await issueReceipt(app, service, receipt);
    else await lookUpReceipt(app, service, receipt);
    return true;
  } catch (error) {
    if (!(error instanceof ReceiptError)) throw error;
    // A receipt that the service refuses has told the administrators itself, and waits for a day; the queue works.
    if (error.failure !== 'rejected') await recordFailure(app, error);
    return false;
  }
}

async function waitForTurn(
  app: App,
  last: Date | null,
  signal: AbortSignal,
  wait: NonNullable<RunOptions['wait']>,
): Promise<void> {
  if (last === null) return;
  const spacing = app.settings.get('NALOGO_QUEUE_RECEIPT_DELAY') * SECOND_MS;
  const left = addMs(last, spacing).getTime() - app.clock.now().getTime();
  if (left > 0) await wait(Math.min(left, spacing), signal);
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => undefined);
}
