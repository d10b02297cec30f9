import { columns, type RowOf } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import { IS_VISIBLE, UNCOUNTED } from '../sales/sums-repo.ts';

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
export const UNCOUNTED_BRANCHES = `SELECT x.referred_by_id, sum(abs(t.amount_kopeks)) AS kopeks FROM ${UNCOUNTED} t JOIN users x ON x.id = t.user_id
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
