import type { App } from '../../core/app.ts';
import { addDays, startOfDay } from '../../core/clock.ts';
import { changeOf } from '../referrals/stats/rules.ts';
import type { PeriodChange } from '../referrals/stats/types.ts';
import { readCampaign } from './read-campaigns.ts';
import {
  type CampaignDay,
  findLastRegistration,
  listDays,
  listTopRegistrants,
  type TopRegistrant,
} from './registrations-repo.ts';
import { paidUsers, percentOfAll } from './rules.ts';
import type { Campaign } from './types.ts';

const CHART_DAYS = 30;
const COMPARED_DAYS = 7;
const TOP_REGISTRANTS = 5;

/** Results of a campaign (spec 04 section 6.6). Money in kopeks, rates in percent with one decimal. */
export interface CampaignStats extends Pick<Campaign, 'id' | 'name' | 'startParameter' | 'bonusType' | 'isActive'> {
  registrations: number;
  balanceIssuedKopeks: number;
  subscriptionIssued: number;
  lastRegistration: Date | null;
  totalRevenueKopeks: number;
  avgRevenuePerUserKopeks: number;
  avgFirstPaymentKopeks: number;
  trialUsersCount: number;
  activeTrialsCount: number;
  conversionCount: number;
  paidUsersCount: number;
  conversionRate: number;
  /** May exceed 100: conversions of trials that are over count. */
  trialConversionRate: number;
}

/** @throws AppError 404 'Campaign not found' */
export async function readCampaignStats(app: App, campaignId: number): Promise<CampaignStats> {
  const card = await readCampaign(app, campaignId);
  const { id, name, startParameter, bonusType, isActive, registrations, balanceIssuedKopeks } = card;
  const conversionCount = Math.max(card.conversions, card.payers);
  const paidUsersCount = paidUsers(card);
  return {
    ...{ id, name, startParameter, bonusType, isActive, registrations, balanceIssuedKopeks },
    subscriptionIssued: card.subscriptionRegistrations,
    lastRegistration: await findLastRegistration(app.db, id),
    totalRevenueKopeks: card.depositsKopeks,
    avgRevenuePerUserKopeks: average(card.depositsKopeks, registrations),
    avgFirstPaymentKopeks: average(card.firstPaymentsKopeks, card.firstPayments),
    trialUsersCount: card.trials,
    activeTrialsCount: card.activeTrials,
    conversionCount,
    paidUsersCount,
    conversionRate: percentOfAll(paidUsersCount, registrations),
    trialConversionRate: percentOfAll(conversionCount, card.trials),
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
  /** The last seven calendar days, today included. */
  current: CampaignPeriod;
  /** The seven before. */
  previous: CampaignPeriod;
  registrationsChange: PeriodChange;
  depositsChange: PeriodChange;
  top: TopRegistrant[];
}

/** @throws AppError 404 'Campaign not found' */
export async function readCampaignChart(app: App, campaignId: number): Promise<CampaignChart> {
  const { id, depositsKopeks, spentKopeks } = await readCampaign(app, campaignId);
  const now = app.clock.now();
  const [days, top] = await Promise.all([
    listDays(app.db, id, addDays(startOfDay(now), 1 - CHART_DAYS), now),
    listTopRegistrants(app.db, id, TOP_REGISTRANTS, now),
  ]);
  const current = periodOf(days.slice(-COMPARED_DAYS));
  const previous = periodOf(days.slice(-2 * COMPARED_DAYS, -COMPARED_DAYS));
  return {
    campaignId: id,
    depositsKopeks,
    spentKopeks,
    days,
    current,
    previous,
    registrationsChange: changeOf(current.registrations, previous.registrations, 100),
    depositsChange: changeOf(current.depositsKopeks, previous.depositsKopeks, 100),
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
