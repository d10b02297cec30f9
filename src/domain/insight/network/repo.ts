import { columns, type RowOf } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import type { SearchTerms } from '../../users/types.ts';
import { IS_VISIBLE, UNCOUNTED } from '../sales/repo.ts';

/** Who belongs to the network or to a part of it. Ids only: rows are read of those that are shown. */

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

const USER = columns('User', [
  ...(['id', 'messengerId', 'username', 'firstName', 'lastName', 'email'] as const),
  ...(['partnerStatus', 'referredById', 'createdAt'] as const),
]);

/** A user of the network; kopeks. The numbers are counters, whatever the size of the branch. */
export type UserRow = RowOf<typeof USER> & {
  campaignId: number | null;
  directReferrals: number;
  /** What the direct referrals paid for subscriptions. */
  branchRevenueKopeks: number;
  personalRevenueKopeks: number;
  personalSpentKopeks: number;
  tariffName: string | null;
  /** Null without a subscription. */
  subscriptionEnd: Date | null;
  isTrial: boolean | null;
  isLive: boolean | null;
};

/** SQL: what the referrals of a user paid since the last count of `branch_sales`. */
const UNCOUNTED_BRANCHES = `SELECT x.referred_by_id, sum(abs(t.amount_kopeks)) AS kopeks FROM ${UNCOUNTED} t JOIN users x ON x.id = t.user_id
  WHERE t.type = 'subscription_payment' AND ${IS_VISIBLE} AND x.referred_by_id IS NOT NULL GROUP BY x.referred_by_id`;

/** These users, by id. */
export function listUserRows(db: Db, ids: readonly number[], now: Date): Promise<UserRow[]> {
  return db.sql<UserRow>(
    `WITH n AS MATERIALIZED (${UNCOUNTED_BRANCHES})
     SELECT ${USER.of('u')}, r.campaign_id, coalesce(f.referrals, 0) AS direct_referrals,
       (coalesce(b.amount_kopeks, 0) + coalesce(n.kopeks, 0))::bigint AS branch_revenue_kopeks,
       coalesce(f.earned_kopeks, 0)::bigint AS personal_revenue_kopeks, coalesce(y.total_spent_kopeks, 0)::bigint AS personal_spent_kopeks,
       t.name AS tariff_name, s.end_date AS subscription_end, s.is_trial,
       s.status IN ('active', 'trial') AND s.end_date > $2::timestamptz AS is_live
     FROM users u LEFT JOIN advertising_campaign_registrations r ON r.user_id = u.id
     LEFT JOIN referrer_stats f ON f.user_id = u.id LEFT JOIN user_stats y ON y.user_id = u.id
     LEFT JOIN branch_sales b ON b.user_id = u.id LEFT JOIN n ON n.referred_by_id = u.id
     LEFT JOIN subscriptions s ON s.user_id = u.id LEFT JOIN tariffs t ON t.id = s.tariff_id
     WHERE u.id = ANY($1::int[]) ORDER BY u.id`,
    [[...ids], now],
  );
}

const CAMPAIGN = columns('AdvertisingCampaign', ['id', 'name', 'startParameter', 'isActive', 'partnerUserId']);

/** A campaign of the network; kopeks. */
export type CampaignRow = RowOf<typeof CAMPAIGN> & {
  directUsers: number;
  /** Users whom the registrants referred. */
  referrals: number;
  /** Registrants with a subscription payment, and what all of them paid. */
  buyers: number;
  spentKopeks: number;
  topReferrers: { user_id: number; username: string | null; referral_count: number }[];
};

const TOP_REFERRERS = `(SELECT coalesce(jsonb_agg(jsonb_build_object('user_id', x.user_id, 'username', x.username, 'referral_count', x.referrals)
    ORDER BY x.referrals DESC, x.user_id), '[]')
  FROM (SELECT r.user_id, u.username, r.referrals FROM advertising_campaign_registrations r JOIN users u ON u.id = r.user_id
    WHERE r.campaign_id = c.id AND r.referrals > 0 ORDER BY r.referrals DESC, r.user_id LIMIT 5) x)`;

const campaignsSql = (condition: string, rest = '') =>
  `SELECT ${CAMPAIGN.of('c')}, coalesce(y.registrations, 0)::int AS direct_users, coalesce(y.referrals, 0)::int AS referrals,
     coalesce(y.buyers, 0)::int AS buyers, coalesce(y.spent_kopeks, 0)::bigint AS spent_kopeks, ${TOP_REFERRERS} AS top_referrers
   FROM advertising_campaigns c LEFT JOIN LATERAL (
     SELECT sum(registrations) AS registrations, sum(referrals) AS referrals, sum(buyers) AS buyers, sum(spent_kopeks) AS spent_kopeks
     FROM campaign_counters WHERE campaign_id = c.id) y ON true
   WHERE ${condition} ORDER BY c.id ${rest}`;

/** Campaigns by id. @param ids null = all */
export function listCampaignRows(db: Db, ids: readonly number[] | null): Promise<CampaignRow[]> {
  return db.sql<CampaignRow>(campaignsSql('($1::int[] IS NULL OR c.id = ANY($1::int[]))'), [ids === null ? null : [...ids]]);
}

/** Campaigns whose name or parameter contains the text, by id. @param pattern of LIKE */
export function searchCampaignRows(db: Db, pattern: string, limit: number): Promise<CampaignRow[]> {
  return db.sql<CampaignRow>(
    campaignsSql('(lower(c.name) LIKE lower($1) OR lower(c.start_parameter) LIKE lower($1))', 'LIMIT $2::int'),
    [pattern, limit],
  );
}
