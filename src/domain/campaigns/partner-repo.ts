import { columns, type RowOf } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';
import { isRowId } from '../../core/row-id.ts';
import { hasLiveSubscription } from '../referrals/stats/active-sql.ts';
import type { Window } from '../referrals/stats/rules.ts';
import type { DayStats, WindowSums } from '../referrals/stats/types.ts';

const CAMPAIGN = columns('AdvertisingCampaign', [
  ...(['id', 'name', 'startParameter', 'isActive', 'bonusType', 'balanceBonusKopeks', 'subscriptionDurationDays'] as const),
  'subscriptionTrafficGb',
]);

/** Results of a campaign for its partner (spec 04 section 5, item 2); kopeks. */
export interface PartnerCampaignSums {
  /** Registrations of users who are the partner's referrals. */
  registrationsCount: number;
  /** Referrals by which the partner has rewards of this campaign. */
  referralsCount: number;
  earningsKopeks: number;
}

export type PartnerCampaign = RowOf<typeof CAMPAIGN> & PartnerCampaignSums;

const SUMS = `(SELECT count(*)::int FROM advertising_campaign_registrations g JOIN users r ON r.id = g.user_id
    WHERE g.campaign_id = c.id AND r.referred_by_id = c.partner_user_id) AS registrations_count,
  x.referrals AS referrals_count, x.kopeks AS earnings_kopeks`;
const EARNED = `CROSS JOIN LATERAL (
  SELECT count(DISTINCT e.referral_id)::int AS referrals, coalesce(sum(e.amount_kopeks), 0)::bigint AS kopeks
  FROM referral_earnings e WHERE e.campaign_id = c.id AND e.user_id = c.partner_user_id) x`;

/** The campaigns of a partner with their results, newest first. */
export async function listPartnerCampaigns(db: Db, partnerId: number, onlyActive: boolean): Promise<PartnerCampaign[]> {
  return db.sql<PartnerCampaign>(
    `SELECT ${CAMPAIGN.of('c')}, ${SUMS} FROM advertising_campaigns c ${EARNED}
     WHERE c.partner_user_id = $1::int AND (c.is_active OR NOT $2::boolean) ORDER BY c.created_at DESC, c.id DESC`,
    [partnerId, onlyActive],
  );
}

/** Null when the campaign is not this partner's. */
export async function findPartnerCampaign(db: Db, partnerId: number, campaignId: number): Promise<PartnerCampaign | null> {
  const [row] = await db.sql<PartnerCampaign>(
    `SELECT ${CAMPAIGN.of('c')}, ${SUMS} FROM advertising_campaigns c ${EARNED} WHERE c.partner_user_id = $1::int AND c.id = $2::bigint`,
    [partnerId, campaignId],
  );
  return row ?? null;
}

const REWARDS = 'referral_earnings e WHERE e.campaign_id = $2::int AND e.user_id = $1::int';

/** Rewards of a campaign and the referrals that caused them, within each window. */
export async function sumCampaignWindows(
  db: Db,
  partnerId: number,
  campaignId: number,
  windows: readonly Window[],
): Promise<WindowSums[]> {
  return db.sql<WindowSums>(
    `SELECT x.referrals AS referrals_count, x.kopeks AS earnings_kopeks FROM unnest($3::text[], $4::text[]) WITH ORDINALITY AS w (since, until, n)
     CROSS JOIN LATERAL (
       SELECT count(DISTINCT e.referral_id)::int AS referrals, coalesce(sum(e.amount_kopeks), 0)::bigint AS kopeks FROM ${REWARDS}
         AND e.created_at >= w.since::timestamptz AND e.created_at < w.until::timestamptz) x
     ORDER BY w.n`,
    [
      partnerId,
      campaignId,
      windows.map((window) => window.since.toISOString()),
      windows.map((window) => window.until?.toISOString() ?? 'infinity'),
    ],
  );
}

/** The same by day from a given time on; days without rewards are left out. */
export async function listCampaignDays(db: Db, partnerId: number, campaignId: number, since: Date): Promise<DayStats[]> {
  return db.sql<DayStats>(
    `SELECT (e.created_at AT TIME ZONE 'UTC')::date::text AS date, count(DISTINCT e.referral_id)::int AS referrals_count,
       sum(e.amount_kopeks)::bigint AS earnings_kopeks FROM ${REWARDS} AND e.created_at >= $3::timestamptz GROUP BY 1`,
    [partnerId, campaignId, since],
  );
}

const REFERRAL = columns('User', ['id', 'username', 'firstName', 'lastName', 'createdAt']);

export type PartnerCampaignReferral = RowOf<typeof REFERRAL> & {
  hasPaid: boolean;
  isActive: boolean;
  totalEarningsKopeks: number;
};

/** The referrals by which the partner earned most through a campaign. */
export async function listTopCampaignReferrals(
  db: Db,
  partnerId: number,
  campaignId: number,
  limit: number,
  now: Date,
): Promise<PartnerCampaignReferral[]> {
  return db.sql<PartnerCampaignReferral>(
    `WITH top AS MATERIALIZED (
       SELECT e.referral_id, sum(e.amount_kopeks)::bigint AS kopeks FROM ${REWARDS} GROUP BY e.referral_id
       ORDER BY kopeks DESC, e.referral_id LIMIT $3::int)
     SELECT ${REFERRAL.of('r')}, r.has_made_first_topup AS has_paid, top.kopeks AS total_earnings_kopeks,
       ${hasLiveSubscription('$4')} AS is_active
     FROM top JOIN users r ON r.id = top.referral_id ORDER BY top.kopeks DESC, r.id`,
    [partnerId, campaignId, limit, now],
  );
}

/** The partner of a campaign. @returns null when there is no such campaign */
export async function findCampaignPartner(db: Db, campaignId: number): Promise<{ partnerUserId: number | null } | null> {
  if (!isRowId(campaignId)) return null;
  return db.prisma.advertisingCampaign.findUnique({ where: { id: campaignId }, select: { partnerUserId: true } });
}

/** Assigns a campaign to a partner unless another partner has it; may be repeated. @returns whether it is assigned to this partner now */
export async function assignCampaign(db: Db, campaignId: number, partnerId: number, now: Date): Promise<boolean> {
  const { count } = await db.prisma.advertisingCampaign.updateMany({
    where: { id: campaignId, OR: [{ partnerUserId: null }, { partnerUserId: partnerId }] },
    data: { partnerUserId: partnerId, updatedAt: now },
  });
  return count > 0;
}

/** Unassigns a campaign from a partner. @returns false when it was not assigned to this partner */
export async function unassignCampaign(db: Db, campaignId: number, partnerId: number, now: Date): Promise<boolean> {
  if (!isRowId(partnerId)) return false;
  const { count } = await db.prisma.advertisingCampaign.updateMany({
    where: { id: campaignId, partnerUserId: partnerId },
    data: { partnerUserId: null, updatedAt: now },
  });
  return count > 0;
}

/** Unassigns all campaigns of a partner. @returns their ids */
export async function detachCampaigns(db: Db, partnerId: number, now: Date): Promise<number[]> {
  const rows = await db.sql<{ id: number }>(
    `WITH assigned AS (SELECT id FROM advertising_campaigns WHERE partner_user_id = $1::int ORDER BY id FOR UPDATE)
     UPDATE advertising_campaigns c SET partner_user_id = NULL, updated_at = $2::timestamptz FROM assigned WHERE c.id = assigned.id RETURNING c.id`,
    [partnerId, now],
  );
  return rows.map((row) => row.id).sort((a, b) => a - b);
}
