import type { App } from '../../core/app.ts';
import { addDays, startOfDay } from '../../core/clock.ts';
import { type PeriodChange, periodChange } from './period-comparison.ts';
import { readCampaign } from './read-campaigns.ts';
import { type CampaignDay, findLastRegistration, listDays, listTopVisitors, type TopVisitor } from './registrations-repo.ts';
import { paidUsers, percentOfAll } from './rules.ts';
import type { Campaign } from './types.ts';

const CHART_DAYS = 30;
const COMPARED_DAYS = 7;
const TOP_VISITORS = 5;

/** What a campaign has brought (spec 04 section 6.6). Money in kopeks, rates in percent with one decimal. */
export interface CampaignStats {
  campaign: Campaign;
  registrations: number;
  balanceIssuedKopeks: number;
  subscriptionsIssued: number;
  lastRegistration: Date | null;
  revenueKopeks: number;
  averageRevenueKopeks: number;
  averageFirstPaymentKopeks: number;
  trialUsers: number;
  activeTrials: number;
  conversions: number;
  paidUsers: number;
  conversionRate: number;
  /** May exceed 100: conversions of trials that are over count. */
  trialConversionRate: number;
}

/** @throws AppError 404 'Campaign not found' */
export async function readCampaignStats(app: App, campaignId: number): Promise<CampaignStats> {
  const { campaign, figures } = await readCampaign(app, campaignId);
  const conversions = Math.max(figures.conversions, figures.payers);
  const paid = paidUsers(figures);
  return {
    campaign,
    registrations: figures.registrations,
    balanceIssuedKopeks: figures.balanceIssuedKopeks,
    subscriptionsIssued: figures.subscriptionRegistrations,
    lastRegistration: await findLastRegistration(app.db, campaign.id),
    revenueKopeks: figures.depositsKopeks,
    averageRevenueKopeks: average(figures.depositsKopeks, figures.registrations),
    averageFirstPaymentKopeks: average(figures.firstPaymentsKopeks, figures.firstPayments),
    trialUsers: figures.trials,
    activeTrials: figures.activeTrials,
    conversions,
    paidUsers: paid,
    conversionRate: percentOfAll(paid, figures.registrations),
    trialConversionRate: percentOfAll(conversions, figures.trials),
  };
}

/** Registrations and real deposits of some days in a row. */
export interface CampaignPeriod {
  days: number;
  registrations: number;
  depositsKopeks: number;
}

export interface CampaignChart {
  campaignId: number;
  depositsKopeks: number;
  spentKopeks: number;
  /** The last 30 calendar days (UTC), today last. */
  days: CampaignDay[];
  /** The last seven calendar days, today with them. */
  current: CampaignPeriod;
  /** The seven before. */
  previous: CampaignPeriod;
  registrationsChange: PeriodChange;
  depositsChange: PeriodChange;
  top: TopVisitor[];
}

/** @throws AppError 404 'Campaign not found' */
export async function readCampaignChart(app: App, campaignId: number): Promise<CampaignChart> {
  const { campaign, figures } = await readCampaign(app, campaignId);
  const now = app.clock.now();
  const [days, top] = await Promise.all([
    listDays(app.db, campaign.id, addDays(startOfDay(now), 1 - CHART_DAYS), now),
    listTopVisitors(app.db, campaign.id, TOP_VISITORS, now),
  ]);
  const current = periodOf(days.slice(-COMPARED_DAYS));
  const previous = periodOf(days.slice(-2 * COMPARED_DAYS, -COMPARED_DAYS));
  return {
    campaignId: campaign.id,
    depositsKopeks: figures.depositsKopeks,
    spentKopeks: figures.spentKopeks,
    days,
    current,
    previous,
    registrationsChange: periodChange(current.registrations, previous.registrations),
    depositsChange: periodChange(current.depositsKopeks, previous.depositsKopeks),
    top,
  };
}

function average(sum: number, count: number): number {
  return count === 0 ? 0 : Math.floor(sum / count);
}

function periodOf(days: readonly CampaignDay[]): CampaignPeriod {
  return {
    days: days.length,
    registrations: days.reduce((sum, day) => sum + day.registrations, 0),
    depositsKopeks: days.reduce((sum, day) => sum + day.depositsKopeks, 0),
  };
}
