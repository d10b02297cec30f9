import type { Db } from '../../../core/db/db.ts';
import type { SearchTerms } from '../../users/types.ts';

/** Who belongs to the network or to a part of it (spec 04 section 16). Ids only: rows are read of those that are shown. */

/** Most levels up or down. */
const MAX_DEPTH = 50;

/**
 * SQL: is user `u` in the network? Scalar subqueries on purpose: for EXISTS in an OR the planner may read the whole other table.
 */
const IS_MEMBER = `(u.referred_by_id IS NOT NULL OR (SELECT f.referrals FROM referrer_stats f WHERE f.user_id = u.id) > 0
  OR (SELECT r.id FROM advertising_campaign_registrations r WHERE r.user_id = u.id) IS NOT NULL)`;

const idsOf = async (rows: Promise<{ id: number }[]>): Promise<number[]> => (await rows).map(({ id }) => id);

/** The lowest ids of the network: those of each kind are read in order, so that no other user is. */
export function listMemberIds(db: Db, limit: number): Promise<number[]> {
  return idsOf(
    db.sql<{ id: number }>(
      `SELECT id FROM (
         (SELECT id FROM users WHERE referred_by_id IS NOT NULL ORDER BY id LIMIT $1::int)
         UNION (SELECT user_id FROM referrer_stats WHERE referrals > 0 ORDER BY user_id LIMIT $1::int)
         UNION (SELECT user_id FROM advertising_campaign_registrations ORDER BY user_id LIMIT $1::int)) m
       ORDER BY id LIMIT $1::int`,
      [limit],
    ),
  );
}

export interface Scope {
  campaignIds: readonly number[];
  partnerIds: readonly number[];
  userIds: readonly number[];
}

/** The ids that exist; of partners the approved ones. Ids are those of clients, hence bigint. */
export async function findScope(db: Db, { campaignIds, partnerIds, userIds }: Scope): Promise<Scope> {
  const [row] = await db.sql<Scope>(
    `SELECT ARRAY(SELECT c.id FROM advertising_campaigns c WHERE c.id = ANY($1::bigint[]) OR c.partner_user_id IN (
         SELECT u.id FROM users u WHERE u.id = ANY($2::bigint[]) AND u.partner_status = 'approved') ORDER BY 1) AS campaign_ids,
       ARRAY(SELECT u.id FROM users u WHERE u.id = ANY($2::bigint[]) AND u.partner_status = 'approved' ORDER BY 1) AS partner_ids,
       ARRAY(SELECT u.id FROM users u WHERE u.id = ANY($3::bigint[]) ORDER BY 1) AS user_ids`,
    [[...campaignIds], [...partnerIds], [...userIds]],
  );
  return row!;
}

/**
 * SQL: `WITH RECURSIVE` whose `below` has the roots and all users below them, with the level. A user below another root is a root already, so
 * every user is reached once, on the only path to the nearest root.
 */
const below = (roots: string) =>
  `WITH RECURSIVE roots AS MATERIALIZED (${roots}),
   below (id, depth) AS (
     SELECT id, 0 FROM roots
     UNION SELECT u.id, b.depth + 1 FROM below b JOIN users u ON u.referred_by_id = b.id
     WHERE b.depth < ${MAX_DEPTH} AND u.id NOT IN (SELECT id FROM roots))`;

/** The lowest ids of a scope: registrants of the campaigns, partners and users, all below them, and all above the users. */
export function listScopeIds(db: Db, { campaignIds, partnerIds, userIds }: Scope, limit: number): Promise<number[]> {
  return idsOf(
    db.sql<{ id: number }>(
      `${below(`SELECT user_id AS id FROM advertising_campaign_registrations WHERE campaign_id = ANY($1::int[])
         UNION SELECT unnest($2::int[]) UNION SELECT unnest($3::int[])`)},
       above (id, depth) AS (
         SELECT unnest($3::int[]), 0
         UNION SELECT u.referred_by_id, a.depth + 1 FROM above a JOIN users u ON u.id = a.id
         WHERE a.depth < ${MAX_DEPTH} AND u.referred_by_id IS NOT NULL)
       SELECT id FROM below UNION SELECT id FROM above ORDER BY id LIMIT $4::int`,
      [[...campaignIds], [...partnerIds], [...userIds], limit],
    ),
  );
}

/** Users below one user, and what they paid for subscriptions; kopeks. */
export async function sumBranch(db: Db, userId: number): Promise<{ users: number; spentKopeks: number }> {
  const [row] = await db.sql<{ users: number; spentKopeks: number }>(
    `${below('SELECT $1::int AS id')}
     SELECT count(*)::int AS users, coalesce(sum(y.total_spent_kopeks), 0)::bigint AS spent_kopeks
     FROM below b LEFT JOIN user_stats y ON y.user_id = b.id WHERE b.depth > 0`,
    [userId],
  );
  return row!;
}

/** This many of the lowest ids are searched first: where they fill the answer, a common text needs no look at all its matches. */
const FIRST_USERS = 5_000;

/** Members whose username or e-mail contains the text, or whose id or messenger id it is; the lowest ids. */
export async function searchMemberIds(db: Db, terms: SearchTerms, limit: number): Promise<number[]> {
  const contains = '(lower(u.username) LIKE lower($1) OR lower(u.email) LIKE lower($1))';
  const byNumber = `SELECT u.id FROM users u WHERE (u.id = $2::int OR u.messenger_id = $3::bigint) AND ${IS_MEMBER}`;
  const values = [terms.pattern, terms.id, terms.messengerId, limit];
  const first = await idsOf(
    db.sql<{ id: number }>(
      `WITH head AS MATERIALIZED (SELECT id FROM users ORDER BY id LIMIT ${FIRST_USERS}),
         last AS MATERIALIZED (SELECT max(id) AS id FROM head)
       SELECT id FROM (
         (SELECT u.id FROM users u WHERE u.id <= (SELECT id FROM last) AND ${contains} AND ${IS_MEMBER} ORDER BY u.id LIMIT $4::int)
         UNION SELECT n.id FROM (${byNumber}) n WHERE n.id <= (SELECT id FROM last)) m
       ORDER BY id LIMIT $4::int`,
      values,
    ),
  );
  if (first.length === limit) return first;
  const names = "user_search_text(u.username::text, u.first_name::text, u.last_name::text, ''::text)";
  return idsOf(
    db.sql<{ id: number }>(
      `SELECT id FROM (
         SELECT u.id FROM users u WHERE (search_windows(${names}) @@ search_query($5) OR search_windows(lower(u.email::text)) @@ search_query($5))
           AND ${contains} AND ${IS_MEMBER}
         UNION ${byNumber}) m ORDER BY id LIMIT $4::int`,
      [...values, terms.text],
    ),
  );
}

export interface CampaignOption {
  id: number;
  name: string;
  startParameter: string;
  isActive: boolean;
  directUsers: number;
}

/** All campaigns by name. */
export function listCampaignOptions(db: Db): Promise<CampaignOption[]> {
  return db.sql<CampaignOption>(
    `SELECT c.id, c.name, c.start_parameter, c.is_active, coalesce(y.registrations, 0)::int AS direct_users
     FROM advertising_campaigns c LEFT JOIN (
       SELECT campaign_id, sum(registrations) AS registrations FROM campaign_counters GROUP BY campaign_id) y ON y.campaign_id = c.id
     ORDER BY c.name, c.id`,
  );
}

export interface PartnerRow {
  id: number;
  messengerId: number | null;
  username: string | null;
  firstName: string | null;
  lastName: string | null;
  email: string | null;
  campaignCount: number;
}

/** Approved partners by id. */
export function listPartners(db: Db): Promise<PartnerRow[]> {
  return db.sql<PartnerRow>(
    `SELECT u.id, u.messenger_id, u.username, u.first_name, u.last_name, u.email,
       (SELECT count(*)::int FROM advertising_campaigns c WHERE c.partner_user_id = u.id) AS campaign_count
     FROM users u WHERE u.partner_status = 'approved' ORDER BY u.id`,
  );
}
