/**
 * Where a reader of events is. Transactions commit in another order than ids are given, so "everything up to id 100" would skip an event
 * with a lower id that is committed later. A position is therefore a snapshot of the database: the set of transactions that were committed
 * when it was taken (spec 08 L1, S4 to S6). Snapshots of one database include each other in the order in which they were taken.
 */
import { SECOND_MS } from '../clock.ts';

/** The transactions that a snapshot contains: those with numbers (`event_transaction_number()`) below `next`, except `running`. */
export interface EventSnapshot {
  readonly next: number;
  readonly running: readonly number[];
}

/**
 * A place in the order of delivery. Events are delivered in rounds: a round consists of the events that the snapshot `target` contains and
 * the snapshot `base` does not, by id. Delivered are all events of `base`, and those of the round up to and including `throughId`.
 */
export interface EventPosition {
  readonly base: EventSnapshot;
  readonly target: EventSnapshot;
  readonly throughId: number;
}

export function contains(snapshot: EventSnapshot, transactionNumber: number): boolean {
  return transactionNumber < snapshot.next && !snapshot.running.includes(transactionNumber);
}

export function isSameSnapshot(a: EventSnapshot, b: EventSnapshot): boolean {
  return a.next === b.next && a.running.length === b.running.length && a.running.every((id) => b.running.includes(id));
}

/** The position after every event of a snapshot. */
export function endOf(snapshot: EventSnapshot): EventPosition {
  return { base: snapshot, target: snapshot, throughId: 0 };
}

/** Where and when a position was issued. */
export interface PositionOrigin {
  /** Identifies the database: a position means nothing in another one, e.g. in a restored copy. 0 to 2^32 - 1. */
  readonly database: number;
  /** Unix time in seconds. */
  readonly issuedAt: number;
}

/** A position that a client has sent back. */
export interface ClientPosition extends PositionOrigin {
  position: EventPosition;
}

/** The time of a position that is issued now. */
export function issueTime(): number {
  return Math.floor(Date.now() / SECOND_MS);
}

const VERSION = 2;
/** More transactions than a server writes with at the same time. */
const MAX_RUNNING = 1_000;
/** Positions are sent in an address; proxies accept about 8,000 characters. */
const MAX_LENGTH = 6_000;

/**
 * Writes positions as the opaque `id` of socket frames: the snapshots in variable-length numbers as base64url, then the event's id.
 * Prepared once for a round, because only the id differs within it.
 * @returns the text for each `throughId`
 */
export function positionTexts(
  { base, target }: Omit<EventPosition, 'throughId'>,
  { database, issuedAt }: PositionOrigin,
): (throughId: number) => string {
  const numbers = [VERSION, database, issuedAt, ...snapshotNumbers(base, 0)];
  // A round that is empty needs one snapshot only.
  if (!isSameSnapshot(base, target)) numbers.push(...snapshotNumbers(target, base.next));
  const bytes: number[] = [];
  for (const number of numbers) pushVarint(bytes, number);
  const head = Buffer.from(bytes).toString('base64url');
  return (throughId) => `${head}.${throughId.toString(36)}`;
}

/** @returns null when the text is not a position of this service */
export function parsePosition(text: string): ClientPosition | null {
  if (text.length > MAX_LENGTH) return null;
  const [, head, id] = /^([\w-]+)\.([0-9a-z]{1,11})$/.exec(text) ?? [];
  if (head === undefined || id === undefined) return null;
  const numbers = varints(Buffer.from(head, 'base64url'));
  if (numbers === null || numbers.shift() !== VERSION) return null;
  const [database, issuedAt] = numbers.splice(0, 2);
  const base = takeSnapshot(numbers, 0);
  if (database === undefined || issuedAt === undefined || base === null) return null;
  const target = numbers.length === 0 ? base : takeSnapshot(numbers, base.next);
  const throughId = Number.parseInt(id, 36);
  if (target === null || numbers.length > 0 || !Number.isSafeInteger(throughId)) return null;
  return { position: { base, target, throughId }, database, issuedAt };
}

/** `next` as the distance to an earlier one, the running transactions as their distances to `next`. */
function snapshotNumbers(snapshot: EventSnapshot, earlier: number): number[] {
  return [snapshot.next - earlier, snapshot.running.length, ...snapshot.running.map((id) => snapshot.next - id)];
}

function takeSnapshot(numbers: number[], earlier: number): EventSnapshot | null {
  const [distance, count] = numbers.splice(0, 2);
  if (distance === undefined || count === undefined || count > MAX_RUNNING || count > numbers.length) return null;
  const next = earlier + distance;
  const running = numbers.splice(0, count).map((gap) => next - gap);
  return Number.isSafeInteger(next) && running.every((id) => id >= 0 && id < next) ? { next, running } : null;
}

/** Seven bits a byte, the lowest first; the highest bit says that more bytes follow. Numbers exceed 32 bits, so no bit operations. */
function pushVarint(bytes: number[], number: number): void {
  let rest = number;
  while (rest >= 128) {
    bytes.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  bytes.push(rest);
}

/** @returns null when the last number is cut off or one is too large */
function varints(bytes: Uint8Array): number[] | null {
  const numbers: number[] = [];
  let number = 0;
  let factor = 1;
  for (const byte of bytes) {
    number += (byte % 128) * factor;
    if (!Number.isSafeInteger(number)) return null;
    if (byte >= 128) factor *= 128;
    else {
      numbers.push(number);
      number = 0;
      factor = 1;
    }
  }
  return factor === 1 ? numbers : null;
}
