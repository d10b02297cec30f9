import type { App } from '../../core/app.ts';
import { countWaiting } from './repo.ts';
import { receiptDeadline } from './rules.ts';

/** What waits for the tax service. Times are UTC. */
export interface ReceiptHealth {
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
