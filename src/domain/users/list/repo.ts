import type { Db } from '../../../core/db/db.ts';
import { type AddValue, statementValues } from '../../../core/db/statement-values.ts';
import { DEEP_OFFSET, findDayOfRow } from '../day-repo.ts';
import type { AdminUserItem, UserSort } from '../detail/types.ts';
import type { SearchTerms, Slice } from '../types.ts';
import { ITEM_COLUMNS, ITEM_JOINS, type ItemRow, toItem } from './item-row.ts';
import type { UserFilters } from './rules.ts';

/** Where each order is indexed: a table with the users' status and creation beside the figure, and the figure. */
const ORDERS: Record<UserSort, { table: string; id: string; figure: string | null }> = {
  created_at: { table: 'users', id: 'id', figure: null },
  balance: { table: 'user_stats', id: 'user_id', figure: 'balance_kopeks' },
  total_spent: { table: 'user_stats', id: 'user_id', figure: 'total_spent_kopeks' },
  purchase_count: { table: 'user_stats', id: 'user_id', figure: 'purchase_count' },
  last_activity: { table: 'user_stats', id: 'user_id', figure: 'last_activity' },
  traffic: { table: 'user_traffic', id: 'user_id', figure: 'traffic_used_gb' },
};

const STATUSES = ['active', 'blocked', 'deleted'] as const;

/** The indexed texts, see prisma/sql/user-search.sql. */
const NAMES = "user_search_text(u.username::text, u.first_name::text, u.last_name::text, ''::text)";
const EMAIL = 'lower(u.email::text)';

/**
 * The wanted order, or its reverse, as rows (id, figure, created_at), read from an index. The indexes begin with the status, so that
 * a rare one is not looked for among a million others; without that filter the three statuses are read side by side and merged,
 * for which the planner wants to hear the order of each part too.
 * @param most rows that can be wanted, as SQL: told of each part, or the planner sorts whole statuses instead of walking their index
 */
function ordered(
  sort: UserSort,
  status: UserFilters['status'],
  isReversed: boolean,
  most?: string,
): { from: string; order: string } {
  const { table, id, figure } = ORDERS[sort];
  const direction = isReversed ? 'ASC' : 'DESC';
  const order = `${figure === null ? '' : `o.figure ${direction}, `}o.created_at ${direction}, o.id ${direction}`;
  if (figure === null) {
    const narrowed = status === null ? '' : ` WHERE status = '${status}'`;
    return { from: `(SELECT id, NULL::int AS figure, created_at FROM users${narrowed})`, order };
  }
  const part = (of: string) => `SELECT ${id} AS id, ${figure} AS figure, created_at FROM ${table} WHERE status = '${of}'
    ORDER BY ${figure} ${direction}, created_at ${direction}, ${id} ${direction}${most === undefined ? '' : ` LIMIT ${most}`}`;
  return { from: `(${(status === null ? STATUSES : [status]).map((of) => `(${part(of)})`).join(' UNION ALL ')})`, order };
}

/** All users, and those of the status; exact, from the counters of prisma/sql/user-counters.sql. */
export async function countByStatus(db: Db, status: UserFilters['status']): Promise<{ everyone: number; listed: number }> {
  const [row] = await db.sql<{ everyone: number; listed: number }>(
    `SELECT coalesce(sum(users), 0)::int AS everyone, coalesce(sum(users) FILTER (WHERE $1::text IS NULL OR status = $1::text), 0)::int AS listed
     FROM user_counters`,
    [status],
  );
  return row!;
}

/**
 * A page without a search. One far down the order of creation is reached from its day, one of the far half of another order from the
 * other end.
 * @param listed how many there are
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
  const { from, order } = ordered(sort, status, isFarHalf, '$1::int + $2::bigint');
  const offset = isFarHalf ? rest - limit : slice.offset - (day?.skipped ?? 0);
  const rows = await db.sql<ItemRow>(
    `WITH page AS MATERIALIZED (
       SELECT o.id, o.figure, o.created_at FROM ${from} o ${day ? 'WHERE o.created_at < $3::timestamptz' : ''}
       ORDER BY ${order} LIMIT $1::int OFFSET $2::bigint)
     SELECT ${ITEM_COLUMNS} FROM page o JOIN users u ON u.id = o.id ${ITEM_JOINS} ORDER BY ${ordered(sort, status, false).order}`,
    day ? [limit, offset, day.end] : [limit, offset],
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

/** Collects all matches, then gives the page and their exact number. `useIndex`: by the search index, else by reading every user. */
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
  const { table, id, figure } = ORDERS[sort];
  const narrowed = [
    ...(status === null ? [] : [`u.status = ${add(status)}`]),
    ...(email ? [useIndex ? indexed(EMAIL, email, add) : `${EMAIL} LIKE lower(${add(email.pattern)})`] : []),
  ];
  const byName = search ? [useIndex ? indexed(NAMES, search, add) : `${NAMES} LIKE lower(${add(search.pattern)})`] : [];
  const select = (conditions: string[]) =>
    `SELECT u.id, u.created_at FROM users u ${conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`}`;
  const byNumber =
    search?.messengerId == null ? '' : ` UNION ${select([`u.messenger_id = ${add(search.messengerId)}::bigint`, ...narrowed])}`;
  const order = `${figure === null ? '' : 'o.figure DESC, '}o.created_at DESC, o.id DESC`;
  const rows = await db.sql<Partial<ItemRow> & { total: number }>(
    `WITH found AS MATERIALIZED (${select([...byName, ...narrowed])}${byNumber}),
     page AS MATERIALIZED (
       SELECT o.* FROM (SELECT found.id, found.created_at, ${figure === null ? 'NULL::int' : `r.${figure}`} AS figure
         FROM found ${figure === null ? '' : `JOIN ${table} r ON r.${id} = found.id`}) o
       ORDER BY ${order} LIMIT ${add(slice.limit)}::int OFFSET ${add(slice.offset)}::bigint)
     SELECT ${ITEM_COLUMNS}, n.total FROM (SELECT count(*)::int AS total FROM found) n LEFT JOIN page o ON true
     LEFT JOIN (users u ${ITEM_JOINS}) ON u.id = o.id ORDER BY ${order}`,
    values,
  );
  // An empty page is one row with the total alone.
  const found = rows.filter((row): row is ItemRow & { total: number } => typeof row.id === 'number');
  return { users: found.map((row) => toItem(row, now)), total: rows[0]!.total };
}

/** The page of matches alone, by going down the order until it is full. */
export async function walkToMatches(
  db: Db,
  filters: UserFilters,
  sort: UserSort,
  slice: Slice,
  now: Date,
): Promise<AdminUserItem[]> {
  const { values, add } = statementValues();
  const { from, order } = ordered(sort, filters.status, false);
  // As a CASE the condition counts as one that half of the rows pass. The planner takes a LIKE for rare and would then read and
  // sort the whole table instead of walking down the index of the order.
  const condition = `CASE WHEN ${matches(filters, add).join(' AND ')} THEN true ELSE false END`;
  const rows = await db.sql<ItemRow>(
    `WITH page AS MATERIALIZED (
       SELECT o.id, o.figure, o.created_at FROM ${from} o JOIN users u ON u.id = o.id WHERE ${condition}
       ORDER BY ${order} LIMIT ${add(slice.limit)}::int OFFSET ${add(slice.offset)}::bigint)
     SELECT ${ITEM_COLUMNS} FROM page o JOIN users u ON u.id = o.id ${ITEM_JOINS} ORDER BY ${order}`,
    values,
  );
  return rows.map((row) => toItem(row, now));
}

/** From so many users of a status in the sample on, they speak for themselves; fewer would say nothing. */
const ENOUGH_OF_STATUS = 200;

/**
 * Which share of all users matches, and which of those of the status, 0..1; judged by whole pages of the table picked at random.
 * @param percent of the table to look at
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
  const isTelling = row !== undefined && row.seen >= ENOUGH_OF_STATUS;
  return { everyone, listed: isTelling ? (row.listed ?? everyone) : everyone };
}

/** The users that one user brought, newest first. */
export async function listReferrals(
  db: Db,
  userId: number,
  slice: Slice,
  now: Date,
): Promise<{ users: AdminUserItem[]; total: number }> {
  const [[count], rows] = await Promise.all([
    db.sql<{ total: number }>('SELECT count(*)::int AS total FROM users WHERE referred_by_id = $1::int', [userId]),
    db.sql<ItemRow>(
      `WITH page AS MATERIALIZED (
         SELECT id FROM users WHERE referred_by_id = $1::int ORDER BY created_at DESC, id DESC LIMIT $2::int OFFSET $3::bigint)
       SELECT ${ITEM_COLUMNS} FROM page o JOIN users u ON u.id = o.id ${ITEM_JOINS} ORDER BY u.created_at DESC, u.id DESC`,
      [userId, slice.limit, slice.offset],
    ),
  ]);
  return { users: rows.map((row) => toItem(row, now)), total: count!.total };
}
