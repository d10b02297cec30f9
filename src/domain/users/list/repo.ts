import type { Db } from '../../../core/db/db.ts';
import { type AddValue, pageBounds, statementValues } from '../../../core/db/statement-values.ts';
import type { UserStatus } from '../../identity/types.ts';
import { NOT_ERASED, toView, VIEW_COLUMNS, VIEW_JOINS, type ViewRow } from '../account/view-repo.ts';
import type { SearchTerms, Slice, UserFilter, UserView } from '../types.ts';

/** The indexed text of a user, see prisma/sql/user-search.sql. */
const SEARCH_TEXT = 'user_search_text(u.username::text, u.first_name::text, u.last_name::text, u.referral_code::text)';

const NEWEST_FIRST = 'ORDER BY u.created_at DESC, u.id DESC';
const OLDEST_FIRST = 'ORDER BY u.created_at, u.id';

/** Conditions on `u`; only those that are set, so that each combination gets its own plan and index. */
function conditions(filter: UserFilter, add: AddValue): string[] {
  return [
    ...(filter.status === null ? [] : [`u.status = ${add(filter.status)}`]),
    // bigint, because a client may send a number that no id can be.
    ...(filter.promoGroupId === null ? [] : [`u.promo_group_id = ${add(filter.promoGroupId)}::bigint`]),
  ];
}

function where(parts: readonly string[]): string {
  return parts.length === 0 ? '' : `WHERE ${parts.join(' AND ')}`;
}

/** All users, and those that match the filter; exact, from the counters that triggers maintain. */
export async function countUsers(db: Db, filter: UserFilter): Promise<{ everyone: number; listed: number }> {
  const { values, add } = statementValues();
  const chosen = conditions(filter, add).join(' AND ') || 'true';
  const [row] = await db.sql<{ everyone: number; listed: number }>(
    `SELECT coalesce(sum(u.users), 0)::int AS everyone, coalesce(sum(u.users) FILTER (WHERE ${chosen}), 0)::int AS listed
     FROM user_counters u WHERE u.status <> 'erased'`,
    values,
  );
  return row!;
}

/**
 * A page at a high offset starts at its day of creation. Within a promo group, for which days are not counted, a page of the older
 * half is read from the oldest user on.
 * @param listed how many users match the filter
 */
export async function listNewest(db: Db, filter: UserFilter, slice: Slice, listed: number, now: Date): Promise<UserView[]> {
  const rest = listed - slice.offset;
  if (rest <= 0) return [];
  const isDeep = slice.offset >= DEEP_OFFSET && filter.promoGroupId === null;
  const day = isDeep ? await findDayOfRow(db, slice.offset, filter.status) : null;
  const isFarHalf = day === null && slice.offset > rest;
  const limit = Math.min(slice.limit, rest);
  const { values, add } = statementValues();
  const chosen = [NOT_ERASED, ...conditions(filter, add), ...(day ? [`u.created_at < ${add(day.end)}::timestamptz`] : [])];
  const page = pageBounds(add, limit, isFarHalf ? rest - limit : slice.offset - (day?.skipped ?? 0));
  const rows = await db.sql<ViewRow>(
    `WITH page AS MATERIALIZED (
       SELECT u.id FROM users u ${where(chosen)} ${isFarHalf ? OLDEST_FIRST : NEWEST_FIRST}
       LIMIT ${page.limit} OFFSET ${page.offset})
     SELECT ${VIEW_COLUMNS} FROM page JOIN users u ON u.id = page.id ${VIEW_JOINS} ${NEWEST_FIRST}`,
    values,
  );
  return rows.map((row) => toView(row, now));
}

/** Collects all matches, then returns the page and their exact number. `useIndex`: by the search index, else by reading every user. */
export async function collectMatches(
  db: Db,
  terms: SearchTerms,
  filter: UserFilter,
  slice: Slice,
  useIndex: boolean,
  now: Date,
): Promise<{ users: UserView[]; total: number }> {
  const { values, add } = statementValues();
  const filters = [NOT_ERASED, ...conditions(filter, add)];
  const like = `${SEARCH_TEXT} LIKE lower(${add(terms.pattern)})`;
  const isNumber = `(u.id = ${add(terms.id)}::int OR u.messenger_id = ${add(terms.messengerId)}::bigint)`;
  const byText = useIndex ? [`search_windows(${SEARCH_TEXT}) @@ search_query(${add(terms.text)})`, like] : [like];
  const rows = await db.sql<Partial<ViewRow> & { total: number }>(
    `WITH found AS MATERIALIZED (
       SELECT u.id, u.created_at FROM users u ${where([...byText, ...filters])}
       UNION SELECT u.id, u.created_at FROM users u ${where([isNumber, ...filters])}),
     page AS MATERIALIZED (
       SELECT u.id FROM found u ${NEWEST_FIRST} LIMIT ${add(slice.limit)}::int OFFSET ${add(slice.offset)}::bigint)
     SELECT ${VIEW_COLUMNS}, n.total FROM (SELECT count(*)::int AS total FROM found) n LEFT JOIN page ON true
     LEFT JOIN users u ON u.id = page.id ${VIEW_JOINS} ${NEWEST_FIRST}`,
    values,
  );
  // An empty page is one row with the total alone.
  const found = rows.filter((row): row is ViewRow & { total: number } => typeof row.id === 'number');
  return { users: found.map((row) => toView(row, now)), total: rows[0]!.total };
}

/** The page of matches alone, by walking down the list until it is full. */
export async function walkToMatches(
  db: Db,
  terms: SearchTerms,
  filter: UserFilter,
  slice: Slice,
  now: Date,
): Promise<UserView[]> {
  const { values, add } = statementValues();
  // As a CASE the condition counts as one that half of the rows pass. The planner assumes that a LIKE is rare and would then read and
  // sort the whole table (0.6 s for a million users) instead of walking down the index of the list.
  const matches = `CASE WHEN ${SEARCH_TEXT} LIKE lower(${add(terms.pattern)}) OR u.id = ${add(terms.id)}::int
    OR u.messenger_id = ${add(terms.messengerId)}::bigint THEN true ELSE false END`;
  const rows = await db.sql<ViewRow>(
    `WITH page AS MATERIALIZED (
       SELECT u.id FROM users u ${where([matches, NOT_ERASED, ...conditions(filter, add)])} ${NEWEST_FIRST}
       LIMIT ${add(slice.limit)}::int OFFSET ${add(slice.offset)}::bigint)
     SELECT ${VIEW_COLUMNS} FROM page JOIN users u ON u.id = page.id ${VIEW_JOINS} ${NEWEST_FIRST}`,
    values,
  );
  return rows.map((row) => toView(row, now));
}

/**
 * Estimates which share of all users contains the text, and which of those that match the filter, 0..1, from pages of the table picked
 * at random.
 * @param percent of the table to read
 */
export async function sampleShares(
  db: Db,
  terms: SearchTerms,
  filter: UserFilter,
  percent: number,
): Promise<{ everyone: number; listed: number }> {
  const { values, add } = statementValues();
  const [row] = await db.sql<{ everyone: number | null; listed: number | null }>(
    `SELECT avg(u.is_match)::float8 AS everyone, avg(u.is_match) FILTER (WHERE ${conditions(filter, add).join(' AND ') || 'true'})::float8 AS listed
     FROM (SELECT u.status, u.promo_group_id, (${SEARCH_TEXT} LIKE lower(${add(terms.pattern)}))::int AS is_match
           FROM users u TABLESAMPLE SYSTEM (${add(percent)}::real)) u`,
    values,
  );
  const everyone = row?.everyone ?? 0;
  return { everyone, listed: row?.listed ?? everyone };
}

/** From this offset on a page is read from its day; before it, reading from the newest row is as fast. */
export const DEEP_OFFSET = 1_000;

/** The end of the UTC day of a row, and how many rows of the list, newest first, are younger than that. */
interface DayOfRow {
  end: Date;
  skipped: number;
}

/**
 * The day of creation of row number `offset` of all users, or of those with the status; exact, from the counters by day that triggers
 * maintain. Null when the list is shorter.
 */
export async function findDayOfRow(db: Db, offset: number, status: UserStatus | null): Promise<DayOfRow | null> {
  const [row] = await db.sql<DayOfRow>(
    `SELECT ((day + 1)::timestamp AT TIME ZONE 'UTC') AS "end", (younger - users)::int AS skipped FROM (
       SELECT day, users, sum(users) OVER (ORDER BY day DESC) AS younger FROM (
         SELECT day, sum(users) AS users FROM user_day_counters
         WHERE status <> 'erased' AND ($2::text IS NULL OR status = $2::text) GROUP BY day) d) c
     WHERE younger > $1::bigint ORDER BY day DESC LIMIT 1`,
    [offset, status],
  );
  return row ?? null;
}
