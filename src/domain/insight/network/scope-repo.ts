import type { Db } from '../../../core/db/db.ts';
import type { Scope } from './repo.ts';

/**
 * The members of a part of the network with the lowest ids (spec 04 section 16.3), however large the part is: a referral nearly always has
 * a greater id than its referrer, so the users below someone beyond the lowest ids found so far need not be looked at. Those few whose id is
 * lower than that of their referrer (after merges) are looked up by themselves.
 */

/** Most levels up or down. */
const MAX_DEPTH = 50;

/** SQL: does a user belong to the scope itself? $1 campaigns, $2 partners, $3 users. */
const isRoot = (id: string) =>
  `(${id} = ANY($2::int[]) OR ${id} = ANY($3::int[]) OR EXISTS (
     SELECT 1 FROM advertising_campaign_registrations r WHERE r.user_id = ${id} AND r.campaign_id = ANY($1::int[])))`;

const valuesOf = ({ campaignIds, partnerIds, userIds }: Scope): unknown[] => [[...campaignIds], [...partnerIds], [...userIds]];
const idsOf = (rows: { id: number }[]): number[] => rows.map(({ id }) => id);

/** Registrants of the campaigns, partners and users: the lowest ids. */
async function listRoots(db: Db, scope: Scope, limit: number): Promise<number[]> {
  const rows = await db.sql<{ id: number }>(
    `SELECT id FROM (
       SELECT r.user_id AS id FROM unnest($1::int[]) AS c (id) CROSS JOIN LATERAL (
         SELECT user_id FROM advertising_campaign_registrations WHERE campaign_id = c.id ORDER BY user_id LIMIT $4::int) r
       UNION SELECT unnest($2::int[]) UNION SELECT unnest($3::int[])) x ORDER BY id LIMIT $4::int`,
    [...valuesOf(scope), limit],
  );
  return idsOf(rows);
}

/** Who is below a root although the id is lower than that of the own referrer, with the distance from the nearest root. */
function listOlderThanReferrer(db: Db, scope: Scope): Promise<{ id: number; depth: number }[]> {
  return db.sql<{ id: number; depth: number }>(
    `WITH RECURSIVE above (id, at, depth) AS (
       SELECT u.id, u.referred_by_id, 1 FROM users u WHERE u.referred_by_id > u.id AND NOT ${isRoot('u.id')}
       UNION ALL SELECT a.id, u.referred_by_id, a.depth + 1 FROM above a JOIN users u ON u.id = a.at
       WHERE a.depth < ${MAX_DEPTH} AND u.referred_by_id IS NOT NULL AND NOT ${isRoot('a.at')})
     SELECT a.id, min(a.depth)::int AS depth FROM above a WHERE ${isRoot('a.at')} GROUP BY a.id`,
    valuesOf(scope),
  );
}

/** Everyone above the users. */
async function listAbove(db: Db, userIds: readonly number[]): Promise<number[]> {
  if (userIds.length === 0) return [];
  const rows = await db.sql<{ id: number }>(
    `WITH RECURSIVE above (id, depth) AS (
       SELECT unnest($1::int[]), 0
       UNION SELECT u.referred_by_id, a.depth + 1 FROM above a JOIN users u ON u.id = a.id
       WHERE a.depth < ${MAX_DEPTH} AND u.referred_by_id IS NOT NULL)
     SELECT DISTINCT id FROM above`,
    [[...userIds]],
  );
  return idsOf(rows);
}

/** The direct referrals with ids below a bound: the lowest ones. @param bound null = none */
async function listReferrals(db: Db, referrerIds: readonly number[], bound: number | null, limit: number): Promise<number[]> {
  if (referrerIds.length === 0) return [];
  const rows = await db.sql<{ id: number }>(
    `SELECT u.id FROM unnest($1::int[]) AS f (id) CROSS JOIN LATERAL (
       SELECT x.id FROM users x WHERE x.referred_by_id = f.id AND x.id < $2::bigint ORDER BY x.id LIMIT $3::int) u
     ORDER BY u.id LIMIT $3::int`,
    [[...referrerIds], bound ?? Number.MAX_SAFE_INTEGER, limit],
  );
  return idsOf(rows);
}

/** Ids in rising order, each once, the lowest ones. */
const lowest = (ids: Iterable<number>, limit: number): number[] => [...new Set(ids)].sort((a, b) => a - b).slice(0, limit);

/** The lowest ids of a scope: registrants of the campaigns, partners and users, all below them, and all above the users. */
export async function listScopeIds(db: Db, scope: Scope, limit: number): Promise<number[]> {
  const [roots, older, above] = await Promise.all([
    listRoots(db, scope, limit),
    listOlderThanReferrer(db, scope),
    listAbove(db, scope.userIds),
  ]);
  let found = roots;
  let level = roots;
  const lastOlder = Math.max(0, ...older.map(({ depth }) => depth));
  for (let depth = 1; depth <= MAX_DEPTH && (level.length > 0 || depth <= lastOlder); depth += 1) {
    const bound = found.length < limit ? null : found.at(-1)!;
    const known = new Set(found);
    const referrals = await listReferrals(db, level, bound, limit);
    const reached = [...referrals, ...older.filter((user) => user.depth === depth).map(({ id }) => id)];
    const added = reached.filter((id) => !known.has(id));
    found = lowest([...found, ...added], limit);
    const kept = new Set(found);
    level = added.filter((id) => kept.has(id));
  }
  return lowest([...found, ...above], limit);
}
