import type { AdminActor, TokenActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { addDays, startOfDay } from '../../core/clock.ts';
import { isUniqueViolation } from '../../core/db/db-errors.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { ValidationError } from '../../core/errors.ts';
import { checkBounds } from '../../core/field-bounds.ts';
import { validationIssue } from '../../core/validation-messages.ts';
import { lockTariff } from '../catalog/find-tariff.ts';
import { changeOf } from '../referrals/stats/rules.ts';
import { bonusTariffMissing, bonusTariffUnknown, campaignInUse, campaignNotFound, partnerUnknown, slugTaken } from './errors.ts';
import { readCampaign } from './read-campaigns.ts';
import { type CampaignDay, findLastRegistration, listDays, listTopRegistrants } from './registrations-repo.ts';
import { deleteCampaignRow, findCard, insertCampaign, lockApprovedPartner, lockCampaign, updateCampaign } from './repo.ts';
import { bonusGap, paidUsers, percentOfAll, touchesBonus } from './rules.ts';
import type { CampaignCard, CampaignValues } from './types.ts';

/** The Web API and administrators have different refusals. */
type CampaignEditor = TokenActor | AdminActor;

/** A hundred years; longer durations lead to dates beyond the year 9999. */
const MAX_DAYS = 36_500;

/**
 * Creates a campaign (spec 04 sections 6.4 and 6.5). Name and slug are trimmed. Its creator is the administrator; null for an API
 * token, which is not a user.
 * @throws AppError 400 for a slug that is taken, an unknown tariff or partner, and for administrators a tariff bonus without tariff |
 * ValidationError 422 for values out of bounds, and for the Web API a bonus that could never be given
 */
export async function createCampaign(app: App, actor: CampaignEditor, request: CampaignValues): Promise<CampaignCard> {
  const values = checked(request);
  checkBonus(actor, values);
  return refusingTakenSlug(actor, values.startParameter, () =>
    inTransaction(app, async (t) => {
      await lockLinked(t, values);
      const saved = await insertCampaign(t.db, values, actor.kind === 'admin' ? actor.userId : null, t.clock.now());
      t.audit?.record({ resourceId: saved.id, before: null, after: saved });
      return (await findCard(t.db, saved.id))!;
    }),
  );
}

/**
 * Changes what is given; undefined leaves a field as it is, null clears where a field can be empty.
 * @throws AppError 404 'Campaign not found'; the rest as for creation, the bonus only when the changes touch it
 */
export async function changeCampaign(
  app: App,
  actor: CampaignEditor,
  campaignId: number,
  changes: Partial<CampaignValues>,
): Promise<CampaignCard> {
  const given = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
  return refusingTakenSlug(actor, changes.startParameter ?? '', () =>
    inTransaction(app, async (t) => {
      await lockLinked(t, changes);
      const before = await lockCampaign(t.db, campaignId);
      if (!before) throw campaignNotFound();
      const campaign = checked({ ...before, ...given });
      if (touchesBonus(changes)) checkBonus(actor, campaign);
      const saved = await updateCampaign(t.db, campaign, t.clock.now());
      t.audit?.record({ resourceId: saved.id, before, after: saved });
      return (await findCard(t.db, saved.id))!;
    }),
  );
}

async function refusingTakenSlug<T>(actor: CampaignEditor, slug: string, save: () => Promise<T>): Promise<T> {
  try {
    return await save();
  } catch (error) {
    if (isUniqueViolation(error, 'start_parameter')) throw slugTaken(actor, slug.trim());
    throw error;
  }
}

/** Switches a campaign on or off. @returns whether it is active now @throws AppError 404 'Campaign not found' */
export function toggleCampaign(app: App, _actor: AdminActor, campaignId: number): Promise<boolean> {
  return inTransaction(app, async (t) => {
    const before = await lockCampaign(t.db, campaignId);
    if (!before) throw campaignNotFound();
    const saved = await updateCampaign(t.db, { ...before, isActive: !before.isActive }, t.clock.now());
    t.audit?.record({ resourceId: saved.id, before: { isActive: before.isActive }, after: { isActive: saved.isActive } });
    return saved.isActive;
  });
}

/**
 * Deletes a campaign. The Web API deletes its registrations too; the cabinet refuses while there are any (spec 04 section 6.4). Sign-ins
 * wait for the lock, so that no bonus is given through a campaign that is being deleted.
 * @throws AppError 404 'Campaign not found' | 400 for an administrator while there are registrations
 */
export function deleteCampaign(app: App, actor: CampaignEditor, campaignId: number): Promise<void> {
  return inTransaction(app, async (t) => {
    const campaign = await lockCampaign(t.db, campaignId);
    if (!campaign) throw campaignNotFound();
    const { registrations } = (await findCard(t.db, campaign.id))!;
    if (actor.kind === 'admin' && registrations > 0) throw campaignInUse(registrations);
    await deleteCampaignRow(t.db, campaign.id);
    t.audit?.record({ resourceId: campaign.id, before: campaign, after: null });
  });
}

/** The partner is locked first, because users come first in the lock order. */
async function lockLinked(t: App, values: Partial<CampaignValues>): Promise<void> {
  const { partnerUserId, tariffId } = values;
  if (typeof partnerUserId === 'number' && !(await lockApprovedPartner(t.db, partnerUserId))) throw partnerUnknown();
  if (typeof tariffId === 'number' && !(await lockTariff(t, tariffId))) throw bonusTariffUnknown();
}

function checkBonus(actor: CampaignEditor, values: CampaignValues): void {
  if (actor.kind === 'admin') {
    if (values.bonusType === 'tariff' && values.tariffId === null) throw bonusTariffMissing();
    return;
  }
  const gap = bonusGap(values);
  if (!gap) return;
  const error = `Value error, ${gap.problem}`;
  throw new ValidationError([validationIssue('value_error', ['body', gap.wireName], values[gap.field], { error })]);
}

function checked<T extends CampaignValues>(request: T): T {
  const values = { ...request, name: request.name.trim(), startParameter: request.startParameter.trim() };
  checkBounds([
    { name: 'name', value: values.name, minLength: 1, maxLength: 255 },
    { name: 'start_parameter', value: values.startParameter, minLength: 1, maxLength: 64 },
    { name: 'balance_bonus_kopeks', value: values.balanceBonusKopeks, min: 0 },
    { name: 'subscription_duration_days', value: values.subscriptionDurationDays, min: 0, max: MAX_DAYS },
    { name: 'subscription_traffic_gb', value: values.subscriptionTrafficGb, min: 0 },
    { name: 'subscription_device_limit', value: values.subscriptionDeviceLimit, min: 0 },
    { name: 'tariff_duration_days', value: values.tariffDurationDays, min: 1, max: MAX_DAYS },
  ]);
  return values;
}

/** The links of a campaign by its slug, as the settings are now (spec 04 section 3.2, Links). */
export function campaignLinks(app: App, startParameter: string) {
  const slug = encodeURIComponent(startParameter);
  const { messengerIdentity } = app.ports;
  const bot = messengerIdentity.botUsername();
  const address = bot ? `${messengerIdentity.linkBase()}/${bot}` : '';
  const site = app.settings.get('MINIAPP_CUSTOM_URL').trim().replace(/\/+$/, '');
  return { deepLink: `${address}?start=${slug}`, webLink: site === '' ? null : `${site}/?campaign=${slug}` };
}

const CHART_DAYS = 30;
const COMPARED_DAYS = 7;
const TOP_REGISTRANTS = 5;

/**
 * @throws AppError 404 'Campaign not found'
 * @returns results of a campaign (spec 04 section 6.6). Money in kopeks, rates in percent with one decimal
 */
export async function readCampaignStats(app: App, campaignId: number) {
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

/** @throws AppError 404 'Campaign not found' */
export async function readCampaignChart(app: App, campaignId: number) {
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
