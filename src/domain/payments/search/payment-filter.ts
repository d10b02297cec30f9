import { addMs, DAY_MS } from '../../../core/clock.ts';
import { refusal } from '../../../core/errors.ts';
import { methodDefaults } from '../payment-methods.ts';
import type { Payment } from '../types.ts';

export const invalidPeriod = refusal('invalid_period', 400, 'date_from must be before date_to');

/** Days that a search looks back at most; also the period `all`. */
const MAX_DAYS = 365;
const PERIOD_DAYS: ReadonlyMap<string, number> = new Map([
  ['24h', 1],
  ['7d', 7],
  ['30d', 30],
  ['all', MAX_DAYS],
]);

/** A shorter text is compared with whole ids: too many begin with it. */
const MIN_PREFIX_LENGTH = 3;
/** Of an e-mail the index is asked for the part up to the `@` from this length on. */
const MIN_LOCAL_LENGTH = 3;
const MAX_INT64 = 9_223_372_036_854_775_807n;

/** What an administrator searches for. `pattern` is for LIKE in lower case, with `%`, `_` and `\` of the text taken literally. */
export type SearchTerm =
  /** Part of a username or of an e-mail. `indexed`: what the search index of users is asked for, a part of the text. */
  | { field: 'username' | 'email'; pattern: string; indexed: string }
  /** Beginning of an id of the payment. `messengerId`: digits of an int64, which may also be the payer's. */
  | { field: 'id'; pattern: string; messengerId: string | null };

/** Payments that an administrator asks for. Both ends of the window are included; `to` null = open. Null elsewhere = any. */
export interface PaymentFilter {
  from: Date;
  to: Date | null;
  bucket: Bucket | null;
  /** As records have it: the provider's method. */
  method: string | null;
  term: SearchTerm | null;
}

export interface PaymentSearch {
  search?: string | null | undefined;
  statusFilter?: string | null | undefined;
  methodFilter?: string | null | undefined;
  period?: string | null | undefined;
  dateFrom?: Date | null | undefined;
  dateTo?: Date | null | undefined;
}

/**
 * Reads the filters of a search. An unknown period is `24h`, an unknown status or method is no filter.
 * @throws AppError 400 when the window ends before it begins
 */
export function readPaymentFilter(request: PaymentSearch, now: Date): PaymentFilter {
  const { dateFrom = null, dateTo = null } = request;
  if (dateFrom && dateTo && dateFrom > dateTo) throw invalidPeriod();
  const earliest = addMs(now, -MAX_DAYS * DAY_MS);
  const start = dateFrom ?? addMs(now, -(PERIOD_DAYS.get(request.period ?? '') ?? 1) * DAY_MS);
  return {
    from: start < earliest ? earliest : start,
    to: dateTo,
    bucket: BUCKETS.find((bucket) => bucket === request.statusFilter) ?? null,
    method: methodOfFilter(request.methodFilter ?? null),
    term: readSearchTerm(request.search ?? ''),
  };
}

/** The method as records have it; null for an unknown one. */
export function methodOfFilter(id: string | null): string | null {
  const method = id === null ? null : methodDefaults(id);
  return method && (method.provider ?? method.id);
}

/** @returns null when there is nothing to search for */
function readSearchTerm(search: string): SearchTerm | null {
  // Control characters are in no name and no id, and the database refuses NUL.
  const text = search.replace(/\p{Cc}/gu, '').trim();
  if (text.startsWith('@')) {
    const name = text.slice(1).trim();
    return name === '' ? null : { field: 'username', pattern: `%${literal(name)}%`, indexed: name };
  }
  if (text === '') return null;
  if (text.includes('@')) {
    // Nearly all addresses share what follows the `@`: reading those entries of the index would take longest.
    const local = text.slice(0, text.indexOf('@') + 1);
    return { field: 'email', pattern: `%${literal(text)}%`, indexed: local.length >= MIN_LOCAL_LENGTH ? local : text };
  }
  const messengerId = /^\d{1,19}$/.test(text) && BigInt(text) <= MAX_INT64 ? BigInt(text).toString() : null;
  return { field: 'id', pattern: `${literal(text)}${text.length < MIN_PREFIX_LENGTH ? '' : '%'}`, messengerId };
}

const literal = (text: string) => text.replace(/[\\%_]/g, '\\$&');

/** What a payment is to administrators, of all methods alike (spec 03 section 4.4, H20). */
export type Bucket = 'paid' | 'pending' | 'cancelled';

export const BUCKETS: readonly Bucket[] = ['paid', 'pending', 'cancelled'];

/**
 * The one table of all methods: each adapter translates the words of its provider into an outcome, so that no word is unknown here. The SQL
 * function payment_bucket() (prisma/migrations/0011_admin_payments) is the same table; a test compares them.
 */
const BUCKET_OF_OUTCOME: Readonly<Record<Payment['outcome'], Bucket>> = {
  pending: 'pending',
  paid: 'paid',
  failed: 'cancelled',
  expired: 'cancelled',
  amount_mismatch: 'cancelled',
  /** A credited payment that was reversed stays paid. */
  refunded: 'cancelled',
};

export function bucketOf({ isPaid, outcome }: Pick<Payment, 'isPaid' | 'outcome'>): Bucket {
  return isPaid ? 'paid' : BUCKET_OF_OUTCOME[outcome];
}

/** The bucket of a row of `payments` under an alias, in the form that the indexes have. */
export const bucketSql = (alias: string) => `payment_bucket(${alias}.is_paid, ${alias}.outcome::text)`;
