import type { Db } from '../../../core/db/db.ts';
import { type AddValue, statementValues } from '../../../core/db/statement-values.ts';
import type { GroupCount } from './count-repo.ts';
import { matchesSql, NEWEST_FIRST, type TextCondition } from './list-repo.ts';
import type { PaymentFilter, SearchTerm } from './payment-filter.ts';

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
