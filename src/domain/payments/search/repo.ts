import { addDays } from '../../../core/clock.ts';
import { columns, type RowOf } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import { type AddValue, statementValues } from '../../../core/db/statement-values.ts';
import { PAYMENT } from '../repo.ts';
import type { Payment } from '../types.ts';
import { BUCKETS, type Bucket, bucketSql, type PaymentFilter, type SearchTerm } from './payment-filter.ts';

const PAYER = columns('User', ['messengerId', 'username', 'email']);

/** A payment with its payer; the payer's fields are null for people without an account. */
export type PaymentOfPayer = Payment & { [Field in keyof RowOf<typeof PAYER>]: RowOf<typeof PAYER>[Field] | null };

const ITEM_COLUMNS = `${PAYMENT.of('p')}, ${PAYER.of('u')}`;
const NEWEST_FIRST = 'p.created_at DESC, p.id DESC';

export async function findPaymentOfPayer(db: Db, method: string, id: number): Promise<PaymentOfPayer | null> {
  const [row] = await db.sql<PaymentOfPayer>(
    `SELECT ${ITEM_COLUMNS} FROM payments p LEFT JOIN users u ON u.id = p.user_id WHERE p.id = $1::bigint AND p.method = $2`,
    [id, method],
  );
  return row ?? null;
}

export interface Slice {
  limit: number;
  offset: number;
}

/**
 * A page without a search text, newest first.
 * @param day the UTC day of its first payment, and how many payments of the filter are younger than that day
 */
export function listPage(
  db: Db,
  filter: PaymentFilter,
  slice: Slice,
  day: { start: Date; skipped: number },
): Promise<PaymentOfPayer[]> {
  const { values, add } = statementValues();
  const [offset, limit] = [slice.offset - day.skipped, slice.limit];
  const before = `p.created_at < ${add(addDays(day.start, 1))}::timestamptz`;
  // The index of methods is by bucket, so that any method and bucket is one range: without a bucket there are three.
  const buckets = filter.bucket === null && filter.method !== null ? BUCKETS : [filter.bucket];
  const branches = buckets.map(
    (bucket) => `(SELECT p.id, p.created_at FROM payments p
       WHERE ${[...filterConditions({ ...filter, bucket }, add), before].join(' AND ')}
       ORDER BY ${NEWEST_FIRST} LIMIT ${add(offset + limit)}::int)`,
  );
  return db.sql<PaymentOfPayer>(
    `WITH page AS MATERIALIZED (
       SELECT p.id FROM (${branches.join(' UNION ALL ')}) p ORDER BY ${NEWEST_FIRST} LIMIT ${add(limit)}::int OFFSET ${add(offset)}::int)
     SELECT ${ITEM_COLUMNS} FROM page JOIN payments p ON p.id = page.id LEFT JOIN users u ON u.id = p.user_id ORDER BY ${NEWEST_FIRST}`,
    values,
  );
}

/** Which payments a text matches: a condition on `p`, and whether so many do that reading the window from its newest payment on is faster. */
export interface TextCondition {
  sql: (add: AddValue) => string;
  isCommon: boolean;
}

/** Matches of a text, the newest `max` at most. */
function matchesSql(filter: PaymentFilter, text: TextCondition, max: number, add: AddValue): string {
  const [conditions, matches] = [filterConditions(filter, add), text.sql(add)];
  const select = (where: string) =>
    `SELECT p.id, p.created_at, p.method, ${bucketSql('p')} AS bucket FROM payments p WHERE ${[...conditions, where].join(' AND ')}`;
  const newest = `ORDER BY ${NEWEST_FIRST} LIMIT ${max}`;
  // The planner does not know how many payments a text matches. As a CASE the condition counts as one that half of the rows pass, so it
  // walks down the index until it has enough; behind OFFSET 0 it does not see the limit and collects the matches by their indexes.
  return text.isCommon
    ? `${select(`CASE WHEN ${matches} THEN true ELSE false END`)} ${newest}`
    : `SELECT p.* FROM (${select(matches)} OFFSET 0) p ${newest}`;
}

/** A page of the newest `max` matches of a text, and how many of them there are. */
export async function listMatches(
  db: Db,
  filter: PaymentFilter,
  text: TextCondition,
  slice: Slice,
  max: number,
): Promise<{ payments: PaymentOfPayer[]; total: number }> {
  const { values, add } = statementValues();
  const rows = await db.sql<Partial<PaymentOfPayer> & { total: number }>(
    `WITH found AS MATERIALIZED (${matchesSql(filter, text, max, add)}),
     page AS MATERIALIZED (
       SELECT p.id FROM found p ORDER BY ${NEWEST_FIRST} LIMIT ${add(slice.limit)}::int OFFSET ${add(slice.offset)}::bigint)
     SELECT ${ITEM_COLUMNS}, n.total FROM (SELECT count(*)::int AS total FROM found) n LEFT JOIN page ON true
     LEFT JOIN payments p ON p.id = page.id LEFT JOIN users u ON u.id = p.user_id ORDER BY ${NEWEST_FIRST}`,
    values,
  );
  // An empty page is one row with the total alone.
  const payments = rows.filter((row): row is PaymentOfPayer & { total: number } => typeof row.id === 'number');
  return { payments, total: rows[0]!.total };
}

/** Conditions on `p`, only those that are set, so that each combination gets its own plan and index; without the text. */
function filterConditions(filter: PaymentFilter, add: AddValue): string[] {
  return [
    `p.created_at >= ${add(filter.from)}::timestamptz`,
    ...(filter.to === null ? [] : [`p.created_at <= ${add(filter.to)}::timestamptz`]),
    ...(filter.method === null ? [] : [`p.method = ${add(filter.method)}`]),
    // As text, so that the plan of the prepared statement is made for this bucket: some are a thousand times larger than others.
    ...(filter.bucket === null ? [] : [`${bucketSql('p')} = '${filter.bucket}'`]),
  ];
}

/**
 * How many payments the window has by day, method and bucket: whole days from the counters that triggers maintain, the first and the last
 * day from the payments themselves. Reads one or two days of payments, however long the window is (spec 03 H19).
 */
function countsOfWindow(filter: PaymentFilter, add: AddValue): string {
  const { from, to, method, bucket } = filter;
  const firstDay = utcDay(from);
  const lastDay = to && utcDay(to);
  const conditions = filterConditions(filter, add);
  const edge = (day: string) => {
    const start = add(day);
    return `SELECT ${start}::date AS day, p.method, ${bucketSql('p')} AS bucket, count(*)::int AS payments FROM payments p
      WHERE ${conditions.join(' AND ')} AND p.created_at >= (${start}::date::timestamp AT TIME ZONE 'UTC')
        AND p.created_at < ((${start}::date + 1)::timestamp AT TIME ZONE 'UTC') GROUP BY 2, 3`;
  };
  const whole = [
    `c.day > ${add(firstDay)}::date`,
    ...(lastDay === null ? [] : [`c.day < ${add(lastDay)}::date`]),
    ...(method === null ? [] : [`c.method = ${add(method)}`]),
    ...(bucket === null ? [] : [`c.bucket = ${add(bucket)}`]),
  ];
  return [
    `SELECT c.day, c.method, c.bucket, c.payments FROM payment_day_counters c WHERE ${whole.join(' AND ')}`,
    edge(firstDay),
    ...(lastDay === null || lastDay === firstDay ? [] : [edge(lastDay)]),
  ].join('\n UNION ALL ');
}

const utcDay = (timestamp: Date) => timestamp.toISOString().slice(0, 10);

/** Days with payments of the filter, the last one first. `day` is its midnight in UTC. */
export function countByDay(db: Db, filter: PaymentFilter): Promise<{ day: Date; payments: number }[]> {
  const { values, add } = statementValues();
  return db.sql<{ day: Date; payments: number }>(
    `SELECT (day::timestamp AT TIME ZONE 'UTC') AS day, sum(payments)::int AS payments FROM (${countsOfWindow(filter, add)}) d
     GROUP BY d.day HAVING sum(payments) <> 0 ORDER BY d.day DESC`,
    values,
  );
}

export interface GroupCount {
  method: string;
  bucket: Bucket;
  payments: number;
}

export function countByGroup(db: Db, filter: PaymentFilter): Promise<GroupCount[]> {
  const { values, add } = statementValues();
  return db.sql<GroupCount>(
    `SELECT method, bucket, sum(payments)::int AS payments FROM (${countsOfWindow(filter, add)}) d
     GROUP BY method, bucket HAVING sum(payments) <> 0 ORDER BY method, bucket`,
    values,
  );
}

/**
 * Payments of a payer that wait, and all Stars top-ups, because the messenger reports nothing before the payment, as the
 * user's own list has them. Two ranges of the indexes of buckets.
 */
function listed(since: Date, method: string | null, add: AddValue): string {
  const from = `p.user_id IS NOT NULL AND p.created_at >= ${add(since)}::timestamptz`;
  const chosen = method === null ? '' : ` AND p.method = ${add(method)}`;
  return `SELECT p.id, p.created_at, p.method FROM payments p
      WHERE ${from}${chosen} AND ${bucketSql('p')} = 'pending' AND p.method <> 'messenger_stars' AND p.external_id IS NOT NULL
        AND p.purpose IN ('balance_topup', 'recurrent_topup')
    UNION ALL SELECT p.id, p.created_at, p.method FROM payments p
      WHERE ${from}${chosen} AND p.method = 'messenger_stars' AND p.purpose <> 'wheel_spin'`;
}

export async function listPendingOfAll(
  db: Db,
  since: Date,
  method: string | null,
  slice: Slice,
): Promise<{ payments: PaymentOfPayer[]; total: number }> {
  const { values, add } = statementValues();
  const rows = await db.sql<Partial<PaymentOfPayer> & { total: number }>(
    `WITH found AS MATERIALIZED (${listed(since, method, add)}),
     page AS MATERIALIZED (
       SELECT p.id FROM found p ORDER BY ${NEWEST_FIRST} LIMIT ${add(slice.limit)}::int OFFSET ${add(slice.offset)}::bigint)
     SELECT ${ITEM_COLUMNS}, n.total FROM (SELECT count(*)::int AS total FROM found) n LEFT JOIN page ON true
     LEFT JOIN payments p ON p.id = page.id LEFT JOIN users u ON u.id = p.user_id ORDER BY ${NEWEST_FIRST}`,
    values,
  );
  const payments = rows.filter((row): row is PaymentOfPayer & { total: number } => typeof row.id === 'number');
  return { payments, total: rows[0]!.total };
}

export function countPendingByMethod(db: Db, since: Date): Promise<{ method: string; payments: number }[]> {
  const { values, add } = statementValues();
  return db.sql<{ method: string; payments: number }>(
    `SELECT method, count(*)::int AS payments FROM (${listed(since, null, add)}) found GROUP BY method ORDER BY method`,
    values,
  );
}

/** Up to this number of users their payments are looked up by the index of payers. */
const FEW_USERS = 1_500;
/** Up to this number of users they are read first, and the payments of the window are compared with them, newest first. */
const MANY_USERS = 10_000;
/** Rows of a sample, and in how many of them a text must be to be common: its index would give a large part of the table. */
const SAMPLE = 2_000;
const COMMON_ID = 60;
const COMMON_NAME = 160;

type UserTerm = Extract<SearchTerm, { indexed: string }>;
type IdTerm = Extract<SearchTerm, { field: 'id' }>;

/** The indexed texts of a user: both columns of the index users_admin_search. */
const INDEXED = {
  username: "user_search_text(u.username::text, u.first_name::text, u.last_name::text, ''::text)",
  email: 'lower(u.email::text)',
} as const;
const FIELD = { username: 'lower(u.username::text)', email: 'lower(u.email::text)' } as const;

/** Which payments a text matches; null = none. Samples choose the way to search only, not what is found. */
export async function textCondition(db: Db, term: SearchTerm, to: Date | null): Promise<TextCondition | null> {
  if (term.field === 'id') {
    return { sql: (add) => idCondition(term, add), isCommon: await isCommonId(db, term, to) };
  }
  const userIds = (await isCommonName(db, term)) ? null : await findUsers(db, term);
  if (userIds?.length === 0) return null;
  if (userIds && userIds.length < FEW_USERS) {
    return { sql: (add) => `p.user_id = ANY(${add(userIds)}::int[])`, isCommon: false };
  }
  if (userIds && userIds.length < MANY_USERS) {
    return { sql: (add) => `p.user_id IN (SELECT unnest(${add(userIds)}::int[]))`, isCommon: true };
  }
  return {
    sql: (add) => `(SELECT ${FIELD[term.field]} LIKE lower(${add(term.pattern)}) FROM users u WHERE u.id = p.user_id)`,
    isCommon: true,
  };
}

function idCondition(term: IdTerm, add: AddValue): string {
  const payer =
    term.messengerId === null
      ? ''
      : ` OR p.user_id = (SELECT u.id FROM users u WHERE u.messenger_id = ${add(term.messengerId)}::bigint)`;
  return `(${idMatches(add(term.pattern))}${payer})`;
}

/** Each has its index of prefixes. */
function idMatches(pattern: string): string {
  return ['order_id', 'external_id', 'charge_id'].map((column) => `lower(p.${column}::text) LIKE lower(${pattern})`).join(' OR ');
}

/**
 * Asks pages of the table picked at random, and the newest payments of the window: where both have many matches, walking from the newest one on
 * finds enough of them soon. Ids of a provider often ascend, so that those with one beginning lie together.
 */
async function isCommonId(db: Db, term: IdTerm, to: Date | null): Promise<boolean> {
  const { values, add } = statementValues();
  const matches = idMatches(add(term.pattern));
  const [row] = await db.sql<{ random: number; newest: number }>(
    `SELECT (SELECT count(*)::int FROM payments p TABLESAMPLE SYSTEM (
         least(100, ${100 * SAMPLE} / greatest((SELECT reltuples FROM pg_class WHERE oid = 'payments'::regclass), 1))) WHERE ${matches}) AS random,
       (SELECT count(*)::int FROM (SELECT p.order_id, p.external_id, p.charge_id FROM payments p
         WHERE p.created_at <= coalesce(${add(to)}::timestamptz, 'infinity') ORDER BY ${NEWEST_FIRST} LIMIT ${SAMPLE}) p WHERE ${matches}) AS newest`,
    values,
  );
  return Math.min(row!.random, row!.newest) >= COMMON_ID;
}

/** Asks some users. */
async function isCommonName(db: Db, term: UserTerm): Promise<boolean> {
  const { values, add } = statementValues();
  const [row] = await db.sql<{ matches: number }>(
    `SELECT count(*)::int AS matches FROM (SELECT u.username, u.email FROM users u LIMIT ${SAMPLE}) u
     WHERE ${FIELD[term.field]} LIKE lower(${add(term.pattern)})`,
    values,
  );
  return row!.matches >= COMMON_NAME;
}

/** At most `MANY_USERS`. */
async function findUsers(db: Db, term: UserTerm): Promise<number[]> {
  const { values, add } = statementValues();
  const rows = await db.sql<{ id: number }>(
    `SELECT u.id FROM users u WHERE search_windows(${INDEXED[term.field]}) @@ search_query(${add(term.indexed)})
       AND ${FIELD[term.field]} LIKE lower(${add(term.pattern)}) LIMIT ${MANY_USERS}`,
    values,
  );
  return rows.map((row) => row.id);
}

/** Numbers of the newest `max` matches. */
export function countMatches(db: Db, filter: PaymentFilter, text: TextCondition, max: number): Promise<GroupCount[]> {
  const { values, add } = statementValues();
  return db.sql<GroupCount>(
    `SELECT method, bucket, count(*)::int AS payments FROM (${matchesSql(filter, text, max, add)}) found GROUP BY 1, 2 ORDER BY 1, 2`,
    values,
  );
}
