import type { App } from '../../../core/app.ts';
import { addDays } from '../../../core/clock.ts';
import { listSquads } from '../../catalog/find-squads.ts';
import type { ServerSquad } from '../../catalog/types.ts';
import type { PricingSettings } from '../../pricing/types.ts';
import { type ReadStart, readSaleStarts } from '../purchase/read-starts.ts';
import { isAutopayDue, MAX_LEAD_DAYS } from '../rules/autopay.ts';
import { planAutopay } from '../rules/autopay-plan.ts';
import { pricingSettingsOf } from '../settings.ts';
import { listCardCandidates } from './repo.ts';

/** A renewal that autopay is to make; kopeks. Computed at the moment of reading, without locks: the renewal itself computes it again. */
export interface AutopayRenewal {
  userId: number;
  subscriptionId: number;
  endDate: Date;
  periodDays: number;
  /** What autopay would charge. */
  priceKopeks: number;
  balanceKopeks: number;
  /** What the balance lacks; 0 = it covers the price. */
  missingKopeks: number;
}

/** The last subscription of a page, from which the next one continues. */
export interface RenewalCursor {
  endDate: Date;
  id: number;
}

const PAGE = 100;

/**
 * Renewals by autopay that the balance does not cover and a saved card may pay (spec 02 section 13, card top-up; spec 03 section 5.2): of
 * at most `limit` candidates, those that lack money, by their end. The caller charges; nothing is changed here. An item may have been
 * paid by the time it is processed: ask `readDueRenewal` immediately before.
 * @param after null = from the first
 * @returns `next` null: that was the last page. A page may be empty and not be the last one
 */
export async function listUnpaidRenewals(
  app: App,
  after: RenewalCursor | null,
  limit = PAGE,
): Promise<{ items: AutopayRenewal[]; next: RenewalCursor | null }> {
  const now = app.clock.now();
  const page = { after, limit, usualLeadDays: usualLeadDays(app) };
  const candidates = await listCardCandidates(app.db, now, page);
  const renewals = await priceRenewals(
    app,
    candidates.map(({ id }) => id),
    now,
  );
  return {
    items: renewals.filter(({ missingKopeks }) => missingKopeks > 0),
    next: candidates.length < limit ? null : candidates.at(-1)!,
  };
}

/**
 * The renewal of one subscription, paid or not, while it is still due: not made meanwhile by a purchase or the job, autopay still on, and
 * so on. For a decision immediately before a card is charged.
 * @returns null when it is not due, or the subscription does not exist
 */
export async function readDueRenewal(app: App, subscriptionId: number): Promise<AutopayRenewal | null> {
  return (await priceRenewals(app, [subscriptionId], app.clock.now()))[0] ?? null;
}

/** Whether autopay is still to renew the subscription. */
export async function isRenewalDue(app: App, subscriptionId: number): Promise<boolean> {
  return (await readDueRenewal(app, subscriptionId)) !== null;
}

async function priceRenewals(app: App, subscriptionIds: readonly number[], now: Date): Promise<AutopayRenewal[]> {
  if (subscriptionIds.length === 0) return [];
  const latestEnd = addDays(now, usualLeadDays(app) + 1);
  const starts = (await readSaleStarts(app.db, subscriptionIds)).filter(
    (start) => isAutopayDue(start, now, 'card') && start.subscription.endDate < latestEnd,
  );
  // Only a subscription without a tariff is priced by its servers.
  const servers = starts.some(({ currentTariff }) => currentTariff === null) ? await listSquads(app) : [];
  const settings = pricingSettingsOf(app);
  return starts.flatMap((start) => priceRenewal(start, servers, settings, now) ?? []);
}

function priceRenewal(
  { buyer, subscription, currentTariff: tariff }: ReadStart,
  servers: readonly ServerSquad[],
  settings: PricingSettings,
  now: Date,
): AutopayRenewal | null {
  const plan = planAutopay({ subscription, tariff, servers, user: buyer, settings, now });
  if (plan.kind !== 'renewal') return null;
  const { periodDays, priceKopeks } = plan;
  const { balanceKopeks } = buyer;
  return {
    userId: buyer.id,
    subscriptionId: subscription.id,
    endDate: subscription.endDate,
    periodDays,
    priceKopeks,
    balanceKopeks,
    missingKopeks: Math.max(0, priceKopeks - balanceKopeks),
  };
}

const usualLeadDays = ({ settings }: Pick<App, 'settings'>): number =>
  Math.min(settings.get('DEFAULT_AUTOPAY_DAYS_BEFORE'), MAX_LEAD_DAYS);
