import type { Db } from '../../../core/db/db.ts';
import { type AddValue, statementValues } from '../../../core/db/statement-values.ts';
import type { GroupCount } from './count-repo.ts';
import { matchesSql } from './list-repo.ts';
import type { PaymentFilter, SearchTerm } from './payment-filter.ts';

/** Up to this number of users their payments are looked up; with more, the payments of the window are compared, newest first. */
const MANY_USERS = 1_000;
/** From so many matches among so many users on a text is common: the search index would give a large part of all users. */
const SAMPLE = 2_000;
const COMMON_IN_SAMPLE = 60;

type UserTerm = Extract<SearchTerm, { indexed: string }>;

/** The indexed texts of a user: both columns of the index users_admin_search. */
const INDEXED = {
  username: "user_search_text(u.username::text, u.first_name::text, u.last_name::text, ''::text)",
  email: 'lower(u.email::text)',
} as const;
const FIELD = { username: 'lower(u.username::text)', email: 'lower(u.email::text)' } as const;

/** The condition on `p` of payments that a text matches; null = nothing matches. */
export async function textCondition(db: Db, term: SearchTerm): Promise<((add: AddValue) => string) | null> {
  if (term.field === 'id') return (add) => idCondition(term, add);
  const userIds = (await isCommon(db, term)) ? null : await findUsers(db, term);
  if (userIds?.length === 0) return null;
  if (userIds && userIds.length < MANY_USERS) return (add) => `p.user_id = ANY(${add(userIds)}::int[])`;
  // As a CASE the condition counts as one that half of the rows pass. The planner assumes that a LIKE is rare and would then read and sort
  // all payments of the window instead of walking down the index until the limit is reached.
  return (add) =>
    `CASE WHEN (SELECT ${FIELD[term.field]} LIKE lower(${add(term.pattern)}) FROM users u WHERE u.id = p.user_id) THEN true ELSE false END`;
}

function idCondition(term: Extract<SearchTerm, { field: 'id' }>, add: AddValue): string {
  const pattern = add(term.pattern);
  const ids = ['order_id', 'external_id', 'charge_id'].map((column) => `lower(p.${column}::text) LIKE lower(${pattern})`);
  const payer =
    term.messengerId === null
      ? []
      : [`p.user_id = (SELECT u.id FROM users u WHERE u.messenger_id = ${add(term.messengerId)}::bigint)`];
  return `(${[...ids, ...payer].join(' OR ')})`;
}

/** Whether a text is in the names of many users, by a few of them. It chooses the way to search, not what is found. */
async function isCommon(db: Db, term: UserTerm): Promise<boolean> {
  const { values, add } = statementValues();
  const [row] = await db.sql<{ matches: number }>(
    `SELECT count(*)::int AS matches FROM (SELECT u.username, u.email FROM users u LIMIT ${SAMPLE}) u
     WHERE ${FIELD[term.field]} LIKE lower(${add(term.pattern)})`,
    values,
  );
  return row!.matches >= COMMON_IN_SAMPLE;
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
export function countMatches(db: Db, filter: PaymentFilter, text: (add: AddValue) => string, max: number): Promise<GroupCount[]> {
  const { values, add } = statementValues();
  return db.sql<GroupCount>(
    `SELECT method, bucket, count(*)::int AS payments FROM (${matchesSql(filter, text, max, add)}) found GROUP BY 1, 2 ORDER BY 1, 2`,
    values,
  );
}
