import type { App } from '../../core/app.ts';
import { addDays } from '../../core/clock.ts';
import { recordEvent } from '../activity/record-event.ts';
import { findSquadsByUuid, listSquads } from '../catalog/find-squads.ts';
import { effectiveSquadsOf } from '../catalog/find-tariff.ts';
import type { ServerSquad, Tariff } from '../catalog/types.ts';
import { recordPaidSubscription } from '../identity/first-purchase.ts';
import { requestProvisioning } from '../provisioning/request-provisioning.ts';
import { SUBSCRIPTION_ACTIVATED } from './events.ts';
import { applyManualChange } from './manual/manual-changes.ts';
import type { StoredOrder } from './order.ts';
import { lockSaleStart } from './purchase/repo.ts';
import { RENEWAL_NEEDS } from './renew-subscription.ts';
import { insert, linkServers, lockByUser, update } from './repo.ts';
import { ENDED_BY_DECISION, isPast } from './rules/status.ts';
import { autopayPeriod, quoteRenewal, replaceSubscription } from './rules/terms.ts';
import { trialSquadCandidates } from './rules/trial.ts';
import { autopayDefaults, pricingSettingsOf } from './settings.ts';
import { readTrialTerms } from './trial-terms.ts';
import type { Subscription } from './types.ts';

/** What is given; days, GB (0 = unlimited), devices. */
export interface GrantTerms {
  days: number;
  isTrial: boolean;
  trafficLimitGb: number;
  deviceLimit: number;
  /** Uuids that do not exist any more are left out; none left = one is drawn. */
  squads: readonly string[];
  tariffId: number | null;
}

/**
 * Starts the first subscription of a user without charging (spec 04 section 6.2), in the caller's transaction: row, servers and the
 * request to the panel, which is updated after commit. Without existing squads in the terms one trial-eligible server is chosen at
 * random.
 * @returns null when the user has a subscription already, in whatever state, or does not exist
 */
export async function grantSubscription(t: App, userId: number, terms: GrantTerms): Promise<Subscription | null> {
  const user = await lockByUser(t.db, userId);
  if (!user || user.subscription) return null;
  const now = t.clock.now();
  const all = await listSquads(t);
  const squads = await pickTrialSquads(t, terms.squads, all);
  const fields = {
    ...replaceSubscription({ ...terms, squads }, all, now),
    tariffId: terms.tariffId,
    ...autopayDefaults(t),
  };
  const subscription = await insert(t.db, userId, fields, now);
  await linkServers(t.db, subscription.id, now);
  await requestProvisioning(t, subscription.id, { resetTraffic: true });
  return subscription;
}

/**
 * Starts a free trial of the given length for a locked user without subscription (spec 02 section 4.1, spec 04 section 7.1). In the
 * caller's transaction; the panel is updated after commit.
 * @returns null when the user has a subscription already
 */
export async function grantTrial(t: App, userId: number, days: number): Promise<Subscription | null> {
  const { trafficLimitGb, deviceLimit, squads, tariffId } = await readTrialTerms(t);
  return grantSubscription(t, userId, { days, isTrial: true, trafficLimitGb, deviceLimit, squads, tariffId });
}

/**
 * The squads of a granted subscription: those named that exist, else one trial-eligible server at random (spec 02 section 4.1).
 * @param all all servers
 * @returns uuids; none when no server may be used for trials
 */
export async function pickTrialSquads(t: App, named: readonly string[], all: readonly ServerSquad[]): Promise<string[]> {
  const known = await findSquadsByUuid(t, [...named]);
  if (known.length > 0) return known.map((squad) => squad.squadUuid);
  const candidates = trialSquadCandidates(all);
  const drawn = candidates.length > 0 ? candidates[t.random.int(0, candidates.length)] : undefined;
  return drawn ? [drawn.squadUuid] : [];
}

/** A tariff that was paid for outside the balance; kopeks. */
interface TariffDelivery {
  tariff: Tariff;
  order: StoredOrder;
  amountKopeks: number;
  /** The revenue row. */
  transactionId: number | null;
  paymentMethod: string | null;
  isGift: boolean;
}

/**
 * Starts a paid tariff from now for a locked user, over whatever subscription there was: dates, limits, squads and used traffic begin
 * again, the links are removed until the panel returns new ones (spec 03 section 8.3). The caller decides whether a running subscription
 * may be replaced. In the caller's transaction; the panel is updated after commit.
 * @param current the user's subscription, locked
 */
export async function deliverTariff(
  t: App,
  userId: number,
  current: Subscription | null,
  delivery: TariffDelivery,
): Promise<Subscription> {
  const { tariff } = delivery;
  const days = delivery.order.periodDays;
  const now = t.clock.now();
  const terms = { days, isTrial: false, trafficLimitGb: tariff.trafficLimitGb, deviceLimit: tariff.deviceLimit };
  const squads = await effectiveSquadsOf(t, tariff);
  const changes = { ...replaceSubscription({ ...terms, squads }, [], now), tariffId: tariff.id };
  const saved = current
    ? await update(t.db, current.id, changes, { now, dropsPurchases: true, forgetsNotices: true })
    : await insert(t.db, userId, { ...changes, ...autopayDefaults(t) }, now);
  await linkServers(t.db, saved.id, now);
  // Who received a gift has not paid: codes for a first purchase, referrals and campaigns count who did (spec 10 X5).
  if (!delivery.isGift) await recordPaidSubscription(t, userId);
  await requestProvisioning(t, saved.id, { resetTraffic: true });
  await recordEvent(
    t,
    { kind: 'system', name: 'gifts' },
    {
      eventType: 'purchase',
      userId,
      subscriptionId: saved.id,
      transactionId: delivery.transactionId,
      amountKopeks: delivery.amountKopeks,
      currency: 'RUB',
      message: null,
      occurredAt: null,
      extra: { period_days: days, payment_method: delivery.paymentMethod, is_gift: delivery.isGift },
    },
  );
  const started = { expires_at: saved.endDate.toISOString(), tariff_name: tariff.name };
  await t.events.emit(SUBSCRIPTION_ACTIVATED, started, { audience: 'user', userId });
  return saved;
}

/** What happens to a subscription when money that it was bought with is taken back: nothing, it loses days of that worth, or it ends. */
type TakeBackRule = 'keep' | 'shorten' | 'end';

/** What `takeBackTerm` did. */
export interface TakenBack {
  subscriptionId: number;
  /** Days that were taken off the end; the subscription is over when they were all. */
  days: number;
  isOver: boolean;
}

/**
 * Revokes the term that returned money had paid for (03a section 0.5): the days that the money buys at the price of the next renewal,
 * rounded up, or the whole rest. Trials and subscriptions that are over are left as they are. The panel is updated after commit. In the
 * caller's transaction; locks the user, then the subscription.
 * @param kopeks money that was returned to the payer and had been spent
 * @returns null when nothing was changed
 */
export async function takeBackTerm(
  t: App,
  userId: number,
  kopeks: number,
  rule: Exclude<TakeBackRule, 'keep'>,
): Promise<TakenBack | null> {
  const start = await lockSaleStart(t.db, userId, RENEWAL_NEEDS);
  const now = t.clock.now();
  const subscription = start?.subscription;
  if (!start || !subscription || subscription.isTrial || isPast(subscription, now)) return null;
  const days = rule === 'end' ? null : daysWorth(t, start, kopeks);
  const endDate = days === null ? now : addDays(subscription.endDate, -days);
  const isOver = endDate <= now;
  await applyManualChange(t, subscription.id, {
    changes: isOver ? { status: 'expired', endDate: now, ...ENDED_BY_DECISION } : { endDate },
    forgetsNotices: true,
  });
  const taken =
    (subscription.endDate.getTime() - (isOver ? now : endDate).getTime()) / (addDays(now, 1).getTime() - now.getTime());
  return { subscriptionId: subscription.id, days: Math.ceil(taken), isOver };
}

/** Days that the money buys; null = no price is known, so that the whole rest is taken. */
function daysWorth(t: App, start: NonNullable<Awaited<ReturnType<typeof lockSaleStart>>>, kopeks: number): number | null {
  const { buyer, subscription, currentTariff: tariff, servers } = start;
  const settings = pricingSettingsOf(t);
  const periodDays = autopayPeriod(tariff, settings);
  if (periodDays === null || !subscription) return null;
  const quote = quoteRenewal({ subscription, tariff, servers, user: buyer, settings, now: t.clock.now() }, periodDays);
  if (quote.kind === 'refusal' || quote.finalKopeks <= 0) return null;
  return Math.ceil((kopeks * periodDays) / quote.finalKopeks);
}
