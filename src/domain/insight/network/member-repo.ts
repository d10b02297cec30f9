import type { Db } from '../../../core/db/db.ts';
import type { SearchTerms } from '../../users/types.ts';
import { UNCOUNTED_BRANCHES } from './node-repo.ts';

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
 * Users below one user, and what they paid for subscriptions; kopeks. The sums are those of the referrers in the branch, so that those who
 * invited nobody are not read. The depth and the condition on the root end the walk should there ever be a cycle.
 */
export async function sumBranch(db: Db, userId: number): Promise<{ users: number; spentKopeks: number }> {
  const [row] = await db.sql<{ users: number; spentKopeks: number }>(
    `WITH RECURSIVE referrers (id, referrals, depth) AS (
       SELECT user_id, referrals, 1 FROM referrer_stats WHERE user_id = $1::int AND referrals > 0
       UNION ALL SELECT f.user_id, f.referrals, r.depth + 1 FROM referrers r JOIN referrer_stats f ON f.referred_by_id = r.id
       WHERE f.referrals > 0 AND r.depth < ${MAX_DEPTH} AND f.user_id <> $1::int)
     SELECT (SELECT coalesce(sum(referrals), 0) FROM referrers)::int AS users,
       (coalesce((SELECT sum(s.amount_kopeks) FROM referrers r JOIN branch_sales s ON s.user_id = r.id), 0)
         + coalesce((SELECT sum(n.kopeks) FROM (${UNCOUNTED_BRANCHES}) n JOIN referrers r ON r.id = n.referred_by_id), 0))::bigint AS spent_kopeks`,
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
