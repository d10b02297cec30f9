import type { AdminActor, UserActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { addDays, startOfDay } from '../../core/clock.ts';
import { columns, type RowOf } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { refusal } from '../../core/errors.ts';
import { isRowId } from '../../core/row-id.ts';
import { userNotFound } from '../identity/errors.ts';
import { findUserById } from '../identity/find-user.ts';
import type { UserRecord } from '../identity/types.ts';
import {
  campaignNotAssigned,
  campaignTaken,
  endPartnership,
  findLatestApplicationOf,
  lockPartner,
  notPartner,
  partnerCampaignNotFound,
  partnerUserMissing,
} from '../referrals/partners/partners.ts';
import type { PartnerApplication } from '../referrals/partners/types.ts';
import { readDebt } from '../referrals/rewards.ts';
import { hasLiveSubscription } from '../referrals/stats/active-sql.ts';
import { readReferrerStats } from '../referrals/stats/read-stats.ts';
import { changeOf, comparedWindows, fillDays, percentOfTotal, usualWindows, type Window } from '../referrals/stats/rules.ts';
import type { DayStats, ReferrerStats, WindowSums } from '../referrals/stats/types.ts';

export const partnerRequired = refusal('partner_required', 403, 'Partner status required');
export const campaignNotFound = refusal('campaign_not_found', 404, 'Campaign not found or not assigned to you');

const STATS_DAYS = 30;
const COMPARED_DAYS = 7;
const TOP_REFERRALS = 5;

const isPartner = (user: UserRecord) => user.partnerStatus === 'approved';

export interface MyPartnership {
  partnerStatus: string;
  /** The personal one; for partners without one the service-wide; else null. */
  commissionPercent: number | null;
  latestApplication: PartnerApplication | null;
  /** The active ones; empty while the user is not a partner. */
  campaigns: PartnerCampaign[];
}

/** The partner status of a user (spec 04 section 3.2). @throws AppError 404 when the account has been deleted */
export async function readMyPartnership(app: App, actor: UserActor): Promise<MyPartnership> {
  const user = await findUserById(app, actor.userId);
  if (!user) throw userNotFound();
  const [latestApplication, campaigns] = await Promise.all([
    findLatestApplicationOf(app, user.id),
    isPartner(user) ? listPartnerCampaigns(app.db, user.id, true) : [],
  ]);
  const standard = isPartner(user) ? app.settings.get('REFERRAL_COMMISSION_PERCENT') : null;
  return {
    partnerStatus: user.partnerStatus,
    commissionPercent: user.referralCommissionPercent ?? standard,
    latestApplication,
    campaigns,
  };
}

/**
 * The statistics of one campaign for its partner (spec 04 section 5, item 2).
 * @throws AppError 403 'Partner status required' | 404 'Campaign not found or not assigned to you'
 * @returns the statistics of a campaign for its partner (spec 04 section 5, item 2); kopeks
 */
export async function readMyCampaignStats(app: App, actor: UserActor, campaignId: number) {
  const user = await findUserById(app, actor.userId);
  if (!user || !isPartner(user)) throw partnerRequired();
  const campaign = await findPartnerCampaign(app.db, user.id, campaignId);
  if (!campaign) throw campaignNotFound();
  const now = app.clock.now();
  const { today, week, month } = usualWindows(now);
  const compared = comparedWindows(now, COMPARED_DAYS, COMPARED_DAYS);
  const [windows, days, topReferrals] = await Promise.all([
    sumCampaignWindows(app.db, user.id, campaignId, [today, week, month, compared.current, compared.previous]),
    listCampaignDays(app.db, user.id, campaignId, startOfDay(addDays(now, 1 - STATS_DAYS))),
    listTopCampaignReferrals(app.db, user.id, campaignId, TOP_REFERRALS, now),
  ]);
  const [sinceMidnight, lastWeek, lastMonth, current, previous] = windows;
  return {
    campaignId,
    campaignName: campaign.name,
    registrationsCount: campaign.registrationsCount,
    referralsCount: campaign.referralsCount,
    earningsKopeks: campaign.earningsKopeks,
    conversionRate: percentOfTotal(campaign.referralsCount, campaign.registrationsCount),
    earningsToday: sinceMidnight!.earningsKopeks,
    earningsWeek: lastWeek!.earningsKopeks,
    earningsMonth: lastMonth!.earningsKopeks,
    dailyStats: fillDays(STATS_DAYS, now, days),
    periodComparison: {
      current: { days: COMPARED_DAYS, ...current! },
      previous: { days: COMPARED_DAYS, ...previous! },
      referralsChange: changeOf(current!.referralsCount, previous!.referralsCount, 100),
      earningsChange: changeOf(current!.earningsKopeks, previous!.earningsKopeks, 100),
    },
    topReferrals,
  };
}

export interface PartnerDetail {
  user: UserRecord;
  stats: ReferrerStats;
  /** What the user owes of rewards that were taken back, kopeks. */
  debtKopeks: number;
  /** Active or not. */
  campaigns: PartnerCampaign[];
}

/** Any user as a referrer and partner, for an administrator (spec 04 section 3.3). @throws AppError 404 no such user */
export async function readPartnerDetail(app: App, userId: number): Promise<PartnerDetail> {
  const user = await findUserById(app, userId);
  if (!user) throw partnerUserMissing(app.settings.get('DEFAULT_LANGUAGE'));
  const [stats, debtKopeks, campaigns] = await Promise.all([
    readReferrerStats(app, user.id),
    readDebt(app, user.id),
    listPartnerCampaigns(app.db, user.id, false),
  ]);
  return { user, stats, debtKopeks, campaigns };
}

// The assignment of campaigns to partners; every change locks the partner's row first (spec 04 section 3.4).

interface Assignment {
  userId: number;
  campaignId: number;
}

/**
 * Assigns a campaign to a partner; a repeated call changes nothing.
 * @throws AppError 404 no such campaign | 400 no partner | 400 the campaign is another partner's
 */
export async function assignCampaignToPartner(app: App, _actor: AdminActor, { userId, campaignId }: Assignment): Promise<void> {
  await inTransaction(app, async (t) => {
    const isPartner = (await lockPartner(t, userId))?.partnerStatus === 'approved';
    const before = await findCampaignPartner(t.db, campaignId);
    if (!before) throw partnerCampaignNotFound(t.settings.get('DEFAULT_LANGUAGE'));
    if (!isPartner) throw notPartner(t.settings.get('DEFAULT_LANGUAGE'));
    if (!(await assignCampaign(t.db, campaignId, userId, t.clock.now()))) throw campaignTaken(t.settings.get('DEFAULT_LANGUAGE'));
    t.audit?.record({
      before: { campaignId, partnerUserId: before.partnerUserId },
      after: { campaignId, partnerUserId: userId },
    });
  });
}

/** Unassigns a campaign from a partner. @throws AppError 404 no such campaign | 400 it is not this partner's */
export async function unassignCampaignFromPartner(
  app: App,
  _actor: AdminActor,
  { userId, campaignId }: Assignment,
): Promise<void> {
  await inTransaction(app, async (t) => {
    await lockPartner(t, userId);
    if (!(await findCampaignPartner(t.db, campaignId))) throw partnerCampaignNotFound(t.settings.get('DEFAULT_LANGUAGE'));
    if (!(await unassignCampaign(t.db, campaignId, userId, t.clock.now()))) {
      throw campaignNotAssigned(t.settings.get('DEFAULT_LANGUAGE'));
    }
    t.audit?.record({ before: { campaignId, partnerUserId: userId }, after: { campaignId, partnerUserId: null } });
  });
}

/**
 * Ends a partnership (spec 04 section 3.1): the personal commission is removed and all campaigns are unassigned; applications and earnings
 * stay. A concurrent assignment is either committed before and removed here, or refused.
 * @throws AppError 400 no such user | no partner
 */
export async function revokePartner(app: App, _actor: AdminActor, userId: number): Promise<void> {
  await inTransaction(app, async (t) => {
    const partner = await endPartnership(t, userId);
    const campaignIds = await detachCampaigns(t.db, userId, t.clock.now());
    t.audit?.record({
      before: { partnerStatus: partner.partnerStatus, commissionPercent: partner.commissionPercent, campaignIds },
      after: { partnerStatus: 'none', commissionPercent: null, campaignIds: [] },
    });
  });
}

const CAMPAIGN = columns('AdvertisingCampaign', [
  ...(['id', 'name', 'startParameter', 'isActive', 'bonusType', 'balanceBonusKopeks', 'subscriptionDurationDays'] as const),
  'subscriptionTrafficGb',
]);

/** Results of a campaign for its partner (spec 04 section 5, item 2); kopeks. */
interface PartnerCampaignSums {
  /** Registrations of users who are the partner's referrals. */
  registrationsCount: number;
  /** Referrals by which the partner has rewards of this campaign. */
  referralsCount: number;
  earningsKopeks: number;
}

type PartnerCampaign = RowOf<typeof CAMPAIGN> & PartnerCampaignSums;

const SUMS = `(SELECT count(*)::int FROM advertising_campaign_registrations g JOIN users r ON r.id = g.user_id
    WHERE g.campaign_id = c.id AND r.referred_by_id = c.partner_user_id) AS registrations_count,
  x.referrals AS referrals_count, x.kopeks AS earnings_kopeks`;
const EARNED = `CROSS JOIN LATERAL (
  SELECT count(DISTINCT e.referral_id)::int AS referrals, coalesce(sum(e.amount_kopeks), 0)::bigint AS kopeks
  FROM referral_earnings e WHERE e.campaign_id = c.id AND e.user_id = c.partner_user_id) x`;

/** The campaigns of a partner with their results, newest first. */
async function listPartnerCampaigns(db: Db, partnerId: number, onlyActive: boolean): Promise<PartnerCampaign[]> {
  return db.sql<PartnerCampaign>(
    `SELECT ${CAMPAIGN.of('c')}, ${SUMS} FROM advertising_campaigns c ${EARNED}
     WHERE c.partner_user_id = $1::int AND (c.is_active OR NOT $2::boolean) ORDER BY c.created_at DESC, c.id DESC`,
    [partnerId, onlyActive],
  );
}

/** Null when the campaign is not this partner's. */
async function findPartnerCampaign(db: Db, partnerId: number, campaignId: number): Promise<PartnerCampaign | null> {
  const [row] = await db.sql<PartnerCampaign>(
    `SELECT ${CAMPAIGN.of('c')}, ${SUMS} FROM advertising_campaigns c ${EARNED} WHERE c.partner_user_id = $1::int AND c.id = $2::bigint`,
    [partnerId, campaignId],
  );
  return row ?? null;
}

const REWARDS = 'referral_earnings e WHERE e.campaign_id = $2::int AND e.user_id = $1::int';

/** Rewards of a campaign and the referrals that caused them, within each window. */
async function sumCampaignWindows(
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
async function listCampaignDays(db: Db, partnerId: number, campaignId: number, since: Date): Promise<DayStats[]> {
  return db.sql<DayStats>(
    `SELECT (e.created_at AT TIME ZONE 'UTC')::date::text AS date, count(DISTINCT e.referral_id)::int AS referrals_count,
       sum(e.amount_kopeks)::bigint AS earnings_kopeks FROM ${REWARDS} AND e.created_at >= $3::timestamptz GROUP BY 1`,
    [partnerId, campaignId, since],
  );
}

const REFERRAL = columns('User', ['id', 'username', 'firstName', 'lastName', 'createdAt']);

type PartnerCampaignReferral = RowOf<typeof REFERRAL> & {
  hasPaid: boolean;
  isActive: boolean;
  totalEarningsKopeks: number;
};

/** The referrals by which the partner earned most through a campaign. */
async function listTopCampaignReferrals(
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
async function findCampaignPartner(db: Db, campaignId: number): Promise<{ partnerUserId: number | null } | null> {
  if (!isRowId(campaignId)) return null;
  return db.prisma.advertisingCampaign.findUnique({ where: { id: campaignId }, select: { partnerUserId: true } });
}

/** Assigns a campaign to a partner unless another partner has it; may be repeated. @returns whether it is assigned to this partner now */
async function assignCampaign(db: Db, campaignId: number, partnerId: number, now: Date): Promise<boolean> {
  const { count } = await db.prisma.advertisingCampaign.updateMany({
    where: { id: campaignId, OR: [{ partnerUserId: null }, { partnerUserId: partnerId }] },
    data: { partnerUserId: partnerId, updatedAt: now },
  });
  return count > 0;
}

/** Unassigns a campaign from a partner. @returns false when it was not assigned to this partner */
async function unassignCampaign(db: Db, campaignId: number, partnerId: number, now: Date): Promise<boolean> {
  if (!isRowId(partnerId)) return false;
  const { count } = await db.prisma.advertisingCampaign.updateMany({
    where: { id: campaignId, partnerUserId: partnerId },
    data: { partnerUserId: null, updatedAt: now },
  });
  return count > 0;
}

/** Unassigns all campaigns of a partner. @returns their ids */
async function detachCampaigns(db: Db, partnerId: number, now: Date): Promise<number[]> {
  const rows = await db.sql<{ id: number }>(
    `WITH assigned AS (SELECT id FROM advertising_campaigns WHERE partner_user_id = $1::int ORDER BY id FOR UPDATE)
     UPDATE advertising_campaigns c SET partner_user_id = NULL, updated_at = $2::timestamptz FROM assigned WHERE c.id = assigned.id RETURNING c.id`,
    [partnerId, now],
  );
  return rows.map((row) => row.id).sort((a, b) => a - b);
}
