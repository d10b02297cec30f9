import type { AdminActor, UserActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { addDays, startOfDay } from '../../core/clock.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { refusal } from '../../core/errors.ts';
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
import { readReferrerStats } from '../referrals/stats/read-stats.ts';
import { changeOf, comparedWindows, fillDays, percentOfTotal, usualWindows } from '../referrals/stats/rules.ts';
import type { DayStats, PeriodChange, ReferrerStats, WindowSums } from '../referrals/stats/types.ts';
import {
  assignCampaign,
  detachCampaigns,
  findCampaignPartner,
  findPartnerCampaign,
  listCampaignDays,
  listPartnerCampaigns,
  listTopCampaignReferrals,
  type PartnerCampaign,
  type PartnerCampaignReferral,
  type PartnerCampaignSums,
  sumCampaignWindows,
  unassignCampaign,
} from './partner-repo.ts';

/** The statistics of a campaign for its partner (spec 04 section 5, item 2); kopeks. */
interface PartnerCampaignStats extends PartnerCampaignSums {
  campaignId: number;
  campaignName: string;
  /** Referrals of registrations, percent. */
  conversionRate: number;
  earningsToday: number;
  earningsWeek: number;
  earningsMonth: number;
  /** 30 days, today included, oldest first. */
  dailyStats: DayStats[];
  periodComparison: {
    current: WindowSums & { days: number };
    previous: WindowSums & { days: number };
    referralsChange: PeriodChange;
    earningsChange: PeriodChange;
  };
  topReferrals: PartnerCampaignReferral[];
}

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
 */
export async function readMyCampaignStats(app: App, actor: UserActor, campaignId: number): Promise<PartnerCampaignStats> {
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
