import { columns, type RowOf } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import { type AddValue, pageBounds, statementValues } from '../../../core/db/statement-values.ts';
import { fullName } from '../../identity/rules.ts';
import { actualStatus } from '../../subscriptions/rules/status.ts';
import type { SubscriptionStatus } from '../../subscriptions/types.ts';
import { NOT_ERASED } from '../account/view-repo.ts';
import type { AdminUserItem, SearchTerms, Slice, UserSort } from '../types.ts';
import { DEEP_OFFSET, findDayOfRow } from './repo.ts';
import type { UserFilters } from './rules.ts';

const USER = columns('User', [
  ...(['id', 'messengerId', 'username', 'firstName', 'lastName', 'email', 'status', 'balanceKopeks', 'createdAt'] as const),
  ...(['lastActivity', 'restrictionTopup', 'restrictionSubscription'] as const),
]);

/** A user with the subscription, primary group and counters that a list shows; kopeks. */
export type UserItemRow = RowOf<typeof USER> & {
  /** Now; null without a subscription, like the other columns of the subscription. */
  subscriptionStatus: SubscriptionStatus | null;
  subscriptionIsTrial: boolean;
  subscriptionEndDate: Date | null;
  promoGroupId: number | null;
  promoGroupName: string | null;
  totalSpentKopeks: number;
  purchaseCount: number;
};

const ITEM_COLUMNS = `${USER.of('u')}, s.status AS subscription_status, coalesce(s.is_trial, false) AS subscription_is_trial,
  s.end_date AS subscription_end_date, g.id AS promo_group_id, g.name AS promo_group_name, f.total_spent_kopeks, f.purchase_count`;

/** Everything of a page in one statement (spec 01 H24). */
const ITEM_JOINS = `JOIN user_stats f ON f.user_id = u.id LEFT JOIN subscriptions s ON s.user_id = u.id
  LEFT JOIN promo_groups g ON g.id = u.promo_group_id`;

function toItem(row: UserItemRow, now: Date): AdminUserItem {
  const { subscriptionStatus: status, subscriptionEndDate: endDate } = row;
  return {
    ...row,
    fullName: fullName(row),
    subscriptionStatus: status === null || endDate === null ? null : actualStatus({ status, endDate }, now),
  };
}

/** Where each order is indexed: a table with the users' status and creation, and the column of the sort key. */
const ORDERS: Record<UserSort, { table: string; id: string; sortKey: string | null }> = {
  created_at: { table: 'users', id: 'id', sortKey: null },
  balance: { table: 'user_stats', id: 'user_id', sortKey: 'balance_kopeks' },
  total_spent: { table: 'user_stats', id: 'user_id', sortKey: 'total_spent_kopeks' },
  purchase_count: { table: 'user_stats', id: 'user_id', sortKey: 'purchase_count' },
  last_activity: { table: 'user_stats', id: 'user_id', sortKey: 'last_activity' },
  traffic: { table: 'user_traffic', id: 'user_id', sortKey: 'traffic_used_gb' },
};

const STATUSES = ['active', 'blocked', 'deleted'] as const;

/** The indexed texts, see prisma/sql/user-search.sql. */
const NAMES = "user_search_text(u.username::text, u.first_name::text, u.last_name::text, ''::text)";
const EMAIL = 'lower(u.email::text)';

/**
 * The requested order, or its reverse, as rows (id, sort_key, created_at), read from an index. The indexes begin with the status, so
 * that users of a rare status are found among a million others; without that filter the three statuses are read separately and merged,
 * for which the planner needs the order of each part too.
 * @param most upper bound of the rows that are needed, as SQL: without it in each part the planner sorts whole statuses
 */
function ordered(
  sort: UserSort,
  status: UserFilters['status'],
  isReversed: boolean,
  most?: string,
): { from: string; order: string } {
  const { table, id, sortKey } = ORDERS[sort];
  const direction = isReversed ? 'ASC' : 'DESC';
  const order = `${sortKey === null ? '' : `o.sort_key ${direction}, `}o.created_at ${direction}, o.id ${direction}`;
  if (sortKey === null) {
    const narrowed = status === null ? '' : ` AND u.status = '${status}'`;
    return { from: `(SELECT u.id, NULL::int AS sort_key, u.created_at FROM users u WHERE ${NOT_ERASED}${narrowed})`, order };
  }
  const part = (of: string) => `SELECT ${id} AS id, ${sortKey} AS sort_key, created_at FROM ${table} WHERE status = '${of}'
    ORDER BY ${sortKey} ${direction}, created_at ${direction}, ${id} ${direction}${most === undefined ? '' : ` LIMIT ${most}`}`;
  return { from: `(${(status === null ? STATUSES : [status]).map((of) => `(${part(of)})`).join(' UNION ALL ')})`, order };
}

/** All users, and those of the status; exact, from the counters that triggers maintain. */
export async function countByStatus(db: Db, status: UserFilters['status']): Promise<{ everyone: number; listed: number }> {
  const [row] = await db.sql<{ everyone: number; listed: number }>(
    `SELECT coalesce(sum(users), 0)::int AS everyone, coalesce(sum(users) FILTER (WHERE $1::text IS NULL OR status = $1::text), 0)::int AS listed
     FROM user_counters WHERE status <> 'erased'`,
    [status],
  );
  return row!;
}

/**
 * A page without a search. In the order of creation a page at a high offset starts at its day; in another order a page of the second half is
 * read from the other end.
 * @param listed how many users match
 */
export async function listInOrder(
  db: Db,
  sort: UserSort,
  status: UserFilters['status'],
  slice: Slice,
  listed: number,
  now: Date,
): Promise<AdminUserItem[]> {
  const rest = listed - slice.offset;
  if (rest <= 0) return [];
  const isDeep = slice.offset >= DEEP_OFFSET && sort === 'created_at';
  const day = isDeep ? await findDayOfRow(db, slice.offset, status) : null;
  const isFarHalf = day === null && slice.offset > rest;
  const limit = Math.min(slice.limit, rest);
  const { values, add } = statementValues();
  const page = pageBounds(add, limit, isFarHalf ? rest - limit : slice.offset - (day?.skipped ?? 0));
  const { from, order } = ordered(sort, status, isFarHalf, `${page.limit} + ${page.offset}`);
  const rows = await db.sql<UserItemRow>(
    `WITH page AS MATERIALIZED (
       SELECT o.id, o.sort_key, o.created_at FROM ${from} o ${day ? `WHERE o.created_at < ${add(day.end)}::timestamptz` : ''}
       ORDER BY ${order} LIMIT ${page.limit} OFFSET ${page.offset})
     SELECT ${ITEM_COLUMNS} FROM page o JOIN users u ON u.id = o.id ${ITEM_JOINS} ORDER BY ${ordered(sort, status, false).order}`,
    values,
  );
  return rows.map((row) => toItem(row, now));
}

function matches(filters: UserFilters, add: AddValue): string[] {
  const { search, email } = filters;
  const names = search && `${NAMES} LIKE lower(${add(search.pattern)})`;
  return [
    ...(search ? [`(${names} OR u.messenger_id = ${add(search.messengerId)}::bigint)`] : []),
    ...(email ? [`${EMAIL} LIKE lower(${add(email.pattern)})`] : []),
  ];
}

const indexed = (text: string, terms: SearchTerms, add: AddValue) =>
  `search_windows(${text}) @@ search_query(${add(terms.text)}) AND ${text} LIKE lower(${add(terms.pattern)})`;

/** Collects all matches, then returns the page and their exact number. `useIndex`: by the search index, else by reading every user. */
export async function collectMatches(
  db: Db,
  filters: UserFilters,
  sort: UserSort,
  slice: Slice,
  useIndex: boolean,
  now: Date,
): Promise<{ users: AdminUserItem[]; total: number }> {
  const { values, add } = statementValues();
  const { search, email, status } = filters;
  const { table, id, sortKey } = ORDERS[sort];
  const narrowed = [
    NOT_ERASED,
    ...(status === null ? [] : [`u.status = ${add(status)}`]),
    ...(email ? [useIndex ? indexed(EMAIL, email, add) : `${EMAIL} LIKE lower(${add(email.pattern)})`] : []),
  ];
  const byName = search ? [useIndex ? indexed(NAMES, search, add) : `${NAMES} LIKE lower(${add(search.pattern)})`] : [];
  const select = (conditions: string[]) =>
    `SELECT u.id, u.created_at FROM users u ${conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`}`;
  const byNumber =
    search?.messengerId == null ? '' : ` UNION ${select([`u.messenger_id = ${add(search.messengerId)}::bigint`, ...narrowed])}`;
  const order = `${sortKey === null ? '' : 'o.sort_key DESC, '}o.created_at DESC, o.id DESC`;
  const rows = await db.sql<Partial<UserItemRow> & { total: number }>(
    `WITH found AS MATERIALIZED (${select([...byName, ...narrowed])}${byNumber}),
     page AS MATERIALIZED (
       SELECT o.* FROM (SELECT found.id, found.created_at, ${sortKey === null ? 'NULL::int' : `r.${sortKey}`} AS sort_key
         FROM found ${sortKey === null ? '' : `JOIN ${table} r ON r.${id} = found.id`}) o
       ORDER BY ${order} LIMIT ${add(slice.limit)}::int OFFSET ${add(slice.offset)}::bigint)
     SELECT ${ITEM_COLUMNS}, n.total FROM (SELECT count(*)::int AS total FROM found) n LEFT JOIN page o ON true
     LEFT JOIN (users u ${ITEM_JOINS}) ON u.id = o.id ORDER BY ${order}`,
    values,
  );
  // An empty page is one row with the total alone.
  const found = rows.filter((row): row is UserItemRow & { total: number } => typeof row.id === 'number');
  return { users: found.map((row) => toItem(row, now)), total: rows[0]!.total };
}

/** The page of matches alone, by walking down the order until it is full. */
export async function walkToMatches(
  db: Db,
  filters: UserFilters,
  sort: UserSort,
  slice: Slice,
  now: Date,
): Promise<AdminUserItem[]> {
  const { values, add } = statementValues();
  const { from, order } = ordered(sort, filters.status, false);
  // As a CASE the condition counts as one that half of the rows pass. The planner assumes that a LIKE is rare and would then read and
  // sort the whole table instead of walking down the index of the order.
  const condition = `CASE WHEN ${matches(filters, add).join(' AND ')} THEN true ELSE false END`;
  const rows = await db.sql<UserItemRow>(
    `WITH page AS MATERIALIZED (
       SELECT o.id, o.sort_key, o.created_at FROM ${from} o JOIN users u ON u.id = o.id WHERE ${condition}
       ORDER BY ${order} LIMIT ${add(slice.limit)}::int OFFSET ${add(slice.offset)}::bigint)
     SELECT ${ITEM_COLUMNS} FROM page o JOIN users u ON u.id = o.id ${ITEM_JOINS} ORDER BY ${order}`,
    values,
  );
  return rows.map((row) => toItem(row, now));
}

/** With fewer users of the status in the sample, the share of all users is the better estimate. */
const ENOUGH_OF_STATUS = 200;

/**
 * Estimates which share of all users matches, and which of those of the status, 0..1, from pages of the table picked at random.
 * @param percent of the table to read
 */
export async function sampleShares(db: Db, filters: UserFilters, percent: number): Promise<{ everyone: number; listed: number }> {
  const { values, add } = statementValues();
  const isListed = `(${add(filters.status)}::text IS NULL OR u.status = $1::text)`;
  const [row] = await db.sql<{ everyone: number | null; listed: number | null; seen: number }>(
    `SELECT avg(u.is_match)::float8 AS everyone, avg(u.is_match) FILTER (WHERE ${isListed})::float8 AS listed,
       count(*) FILTER (WHERE ${isListed})::int AS seen
     FROM (SELECT u.status, coalesce(${matches(filters, add).join(' AND ')}, false)::int AS is_match
           FROM users u TABLESAMPLE SYSTEM (${add(percent)}::real)) u`,
    values,
  );
  const everyone = row?.everyone ?? 0;
  const isLargeEnough = row !== undefined && row.seen >= ENOUGH_OF_STATUS;
  return { everyone, listed: isLargeEnough ? (row.listed ?? everyone) : everyone };
}

/** The users that one user referred, newest first. */
export async function listReferrals(
  db: Db,
  userId: number,
  slice: Slice,
  now: Date,
): Promise<{ users: AdminUserItem[]; total: number }> {
  const [[count], rows] = await Promise.all([
    db.sql<{ total: number }>('SELECT count(*)::int AS total FROM users WHERE referred_by_id = $1::int', [userId]),
    db.sql<UserItemRow>(
      `WITH page AS MATERIALIZED (
         SELECT id FROM users WHERE referred_by_id = $1::int ORDER BY created_at DESC, id DESC LIMIT $2::int OFFSET $3::bigint)
       SELECT ${ITEM_COLUMNS} FROM page o JOIN users u ON u.id = o.id ${ITEM_JOINS} ORDER BY u.created_at DESC, u.id DESC`,
      [userId, slice.limit, slice.offset],
    ),
  ]);
  return { users: rows.map((row) => toItem(row, now)), total: count!.total };
}
