import { createHash } from 'node:crypto';
import { addMs, DAY_MS, HOUR_MS, MINUTE_MS } from '../../core/clock.ts';
import type { ListedReceipt } from './ports.ts';

/** A receipt that is not listed this long after it was sent was not made, and is sent again (03a section 15). */
export const UNCLEAR_MS = 10 * MINUTE_MS;
/** Wait before an unclear receipt is looked up the first time, and again. */
export const LOOK_UP_MS = MINUTE_MS;
/** Wait before a receipt is tried again that the service refused, or that it has twice. */
export const REFUSED_MS = DAY_MS;
export const DUPLICATE_MS = HOUR_MS;
/** Frequent sign-ins with a password get the account blocked, so after a refused one nothing is tried for this long. */
export const REFUSED_SIGN_IN_MS = HOUR_MS;
/** Between two notices to the administrators while receipts fail. */
export const NOTICE_MS = HOUR_MS;

const MAX_NAME = 256;
/** The service's time zone has had no daylight saving time since 2014. */
const MOSCOW_OFFSET_MS = 3 * HOUR_MS;

/**
 * The mark of a receipt, by which it is found at the service when its answer was lost. It depends on nothing but the order id and the number
 * of the receipt, so that it stays the same when the database is restored from a backup.
 */
export function receiptMark(orderId: string, sequence: number): string {
  const digest = createHash('sha256').update(`receipt:${orderId}`).digest('hex').slice(0, 12);
  return sequence === 1 ? digest : `${digest}-${sequence}`;
}

/** The name on the receipt: at most 256 characters, the mark at its end. */
export function receiptName(description: string, messengerId: number | null, mark: string): string {
  const end = `${messengerId === null ? '' : ` (ID ${messengerId})`} #${mark}`;
  return `${description.trim().slice(0, MAX_NAME - end.length)}${end}`;
}

/** What a list of the service says about the receipt with this mark. */
export function matchesOf(
  mark: string,
  listed: readonly ListedReceipt[],
): { valid: ListedReceipt[]; cancelled: ListedReceipt[] } {
  const matching = listed.filter(({ name }) => name.endsWith(` #${mark}`));
  return {
    valid: matching.filter(({ isCancelled }) => !isCancelled),
    cancelled: matching.filter(({ isCancelled }) => isCancelled),
  };
}

/** The first time at which a receipt is late: it has to exist by the end of the 9th of the next month in Moscow. */
export function receiptDeadline(operationAt: Date): Date {
  const moscow = addMs(operationAt, MOSCOW_OFFSET_MS);
  return new Date(Date.UTC(moscow.getUTCFullYear(), moscow.getUTCMonth() + 1, 10) - MOSCOW_OFFSET_MS);
}
