import type { App } from '../../../core/app.ts';
import { addDays, addMs, HOUR_MS } from '../../../core/clock.ts';
import { columns, nestedRow, type RowOf } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { forEachPage } from '../../../core/jobs/for-each-page.ts';
import { formatPrice, rublesOf } from '../../../core/money.ts';
import { appendEvent } from '../../activity/record-event.ts';
import { listSquads } from '../../catalog/find-squads.ts';
import { tariffOf } from '../../catalog/find-tariff.ts';
import type { ServerSquad } from '../../catalog/types.ts';
import { recipientOf } from '../../messaging/send-message.ts';
import { text } from '../../messaging/texts.ts';
import { recordMonitoring } from '../../monitoring/monitoring-log.ts';
import type { PricingSettings } from '../../pricing/types.ts';
import { AUTOPAY_FAILED, AUTOPAY_INSUFFICIENT_FUNDS, AUTOPAY_SUCCESS } from '../events.ts';
import { notifyOwner } from '../notify-owner.ts';
import { dayOf } from '../purchase/complete-sale.ts';
import { BUYER, type BuyerRow, lockSaleStart } from '../purchase/repo.ts';
import type { Buyer, SaleStart } from '../purchase/types.ts';
import { RENEWAL_NEEDS, sellRenewal } from '../renew-subscription.ts';
import { primaryGroupIdSql, STAYS_EXPIRED } from '../repo.ts';
import {
  type AutopayScope,
  CARD_HOURS,
  GRACE_HOURS,
  isAutopayDue,
  MAX_LEAD_DAYS,
  PANEL_PAUSE_SECONDS,
  planAutopay,
} from '../rules/autopay.ts';
import { pricingSettingsOf } from '../settings.ts';
import type { Subscription } from '../types.ts';

/**
 * Job `subscriptions.autopay`: renews from the balance the subscriptions that end soon and have autopay on (spec 02 section 13, H23).
 * Each is renewed in its own transaction and checked again under the lock, so that several instances renew it once and a failure affects
 * no other subscription.
 */
export async function renewDue(app: App): Promise<void> {
  let [processed, failed] = [0, 0];
  await forEachPage<AutopayCandidate>(app, {
    list: (after, limit) => listDue(app.db, app.clock.now(), after, limit),
    each: async ({ userId }) => {
      const result = await renewOne(app, userId);
      if (result === 'renewed') processed++;
      if (result === 'not_renewed') failed++;
    },
    failure: ({ id }) => {
      failed++;
      return ['a subscription could not be renewed by autopay', { subscriptionId: id }];
    },
  });
  await recordMonitoring(app, 'autopayments_processed', { processed, failed });
}

/** `not_renewed`: due, but without a period to sell or without enough money. */
type RenewalResult = 'renewed' | 'not_renewed' | 'nothing_due';

/**
 * After a top-up, in the caller's transaction: renews a subscription that ended at most 30 days ago and has autopay on, when the balance
 * covers it (spec 02 section 6, H12).
 * @param start with `RENEWAL_NEEDS`
 */
export async function renewEndedFrom(t: App, start: SaleStart): Promise<void> {
  await renewFrom(t, start, 'expired');
}

/**
 * After a top-up by a saved card, which paid for a renewal (spec 03 section 5.2): renews a subscription that has ended, also one that the
 * job no longer takes. One that still runs is left to the job.
 * @param claim marks the top-up as spent in the same transaction; false = it was spent before
 */
export async function renewEnded(app: App, userId: number, claim: (t: App) => Promise<boolean>): Promise<void> {
  await inTransaction(app, async (t) => {
    const start = await lockSaleStart(t.db, userId, RENEWAL_NEEDS);
    if (start && (await claim(t))) await renewEndedFrom(t, start);
  });
}

function renewOne(app: App, userId: number): Promise<RenewalResult> {
  return inTransaction(app, async (t) => {
    const start = await lockSaleStart(t.db, userId, RENEWAL_NEEDS);
    return start ? renewFrom(t, start, 'due') : 'nothing_due';
  });
}

async function renewFrom(t: App, start: SaleStart, scope: AutopayScope): Promise<RenewalResult> {
  const { buyer, subscription, currentTariff: tariff, servers } = start;
  const now = t.clock.now();
  if (!subscription || !isAutopayDue(start, now, scope)) return 'nothing_due';
  const plan = planAutopay({ subscription, tariff, servers, user: buyer, settings: pricingSettingsOf(t), now });
  if (plan.kind === 'nothing') return 'nothing_due';
  if (plan.kind === 'no_period') {
    if (scope === 'due') await notifyNoPeriod(t, buyer, subscription.id);
    return 'not_renewed';
  }
  const { periodDays, priceKopeks } = plan;
  if (buyer.balanceKopeks < priceKopeks) {
    if (scope === 'due') await notifyInsufficientFunds(t, buyer, subscription.id, priceKopeks);
    return 'not_renewed';
  }
  const { newEndDate } = await sellRenewal(t, start, { kind: 'renewal', periodDays }, { isAutopay: true });
  await notifySuccess(t, buyer, priceKopeks, newEndDate);
  return 'renewed';
}

async function notifySuccess(t: App, buyer: Buyer, amountKopeks: number, endDate: Date): Promise<void> {
  const amount_rubles = rublesOf(amountKopeks);
  await t.events.emit(
    AUTOPAY_SUCCESS,
    { amount_kopeks: amountKopeks, amount_rubles, new_expires_at: endDate.toISOString() },
    { audience: 'user', userId: buyer.id },
  );
  const formatted_amount = formatPrice(amountKopeks, false);
  await notifyOwner(t, recipientOf(buyer), 'autopay_success', {
    formatted_amount,
    amount_rubles,
    new_expires_at: dayOf(endDate),
  });
}

const REPEATED_AFTER_MS = 6 * HOUR_MS;

/**
 * Notifies the owner that the balance is too low for autopay; kopeks. At most once in six hours, by the row of the dashboard feed (spec 02
 * H23), which the segment `autopay_failed` reads too. In the caller's transaction.
 */
async function notifyInsufficientFunds(t: App, buyer: Buyer, subscriptionId: number, requiredKopeks: number): Promise<void> {
  if (await hasFailedSince(t.db, buyer.id, addMs(t.clock.now(), -REPEATED_AFTER_MS))) return;
  await recordFailure(t, buyer, subscriptionId, 'insufficient_funds', requiredKopeks);
  await t.events.emit(
    AUTOPAY_INSUFFICIENT_FUNDS,
    {
      ...{ required_kopeks: requiredKopeks, required_rubles: rublesOf(requiredKopeks) },
      ...{ balance_kopeks: buyer.balanceKopeks, balance_rubles: rublesOf(buyer.balanceKopeks) },
    },
    { audience: 'user', userId: buyer.id },
  );
  await notifyOwner(t, recipientOf(buyer), 'autopay_insufficient_funds', {
    required_amount: formatPrice(requiredKopeks, false),
    current_balance: formatPrice(buyer.balanceKopeks, false),
  });
}

/**
 * Notifies the owner that autopay cannot renew because no period of the plan is for sale. Once until the next paid term, because neither
 * waiting nor a top-up changes that. In the caller's transaction.
 */
async function notifyNoPeriod(t: App, buyer: Buyer, subscriptionId: number): Promise<void> {
  if (!(await recordRefusal(t.db, subscriptionId, buyer.id, t.clock.now()))) return;
  await recordFailure(t, buyer, subscriptionId, 'period_unavailable', null);
  await notifyOwner(t, recipientOf(buyer), 'autopay_failed', {
    reason: text(buyer.language, 'messages.autopay_period_unavailable'),
  });
}

/** Adds the failure to the dashboard feed and emits the event. */
async function recordFailure(
  t: App,
  buyer: Buyer,
  subscriptionId: number,
  reason: 'insufficient_funds' | 'period_unavailable',
  amountKopeks: number | null,
): Promise<void> {
  await appendEvent(t, {
    ...{ eventType: 'autopay_failed', userId: buyer.id, subscriptionId, amountKopeks, currency: 'RUB' },
    extra: { reason, balance: buyer.balanceKopeks },
  });
  await t.events.emit(AUTOPAY_FAILED, { reason }, { audience: 'user', userId: buyer.id });
}

/** A renewal that autopay is to make; kopeks. Computed at the time of reading, without locks: the renewal itself computes it again. */
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

/** What a renewal is priced from, besides the servers; in its state at the time of reading. */
interface ReadStart extends Pick<SaleStart, 'buyer' | 'currentTariff' | 'isCurrentTariffDaily'> {
  subscription: Subscription;
}

interface Row extends BuyerRow {
  promoGroup: object | null;
  subscription: object;
  currentTariff: object | null;
}

/** The same as a sale starts from, for many subscriptions in one statement and without locks: to select and to show, never to charge. */
async function readSaleStarts(db: Db, subscriptionIds: readonly number[]): Promise<ReadStart[]> {
  const rows = await db.sql<Row>(
    `SELECT ${BUYER.of('u')}, to_jsonb(g) AS promo_group, to_jsonb(s) AS subscription,
       CASE WHEN f.id IS NOT NULL THEN tariff_json(f) END AS current_tariff
     FROM unnest($1::int[]) WITH ORDINALITY AS o(id, place) JOIN subscriptions s ON s.id = o.id JOIN users u ON u.id = s.user_id
     LEFT JOIN tariffs f ON f.id = s.tariff_id LEFT JOIN promo_groups g ON g.id = ${primaryGroupIdSql('u')} ORDER BY o.place`,
    [[...subscriptionIds]],
  );
  return rows.map(({ promoGroup, subscription, currentTariff, ...user }) => {
    const tariff = tariffOf(currentTariff);
    return {
      buyer: { ...user, primaryPromoGroup: nestedRow('PromoGroup', promoGroup) },
      subscription: nestedRow('Subscription', subscription),
      currentTariff: tariff,
      isCurrentTariffDaily: tariff?.isDaily ?? false,
    };
  });
}

const CANDIDATE = columns('Subscription', ['id', 'userId', 'endDate']);

type AutopayCandidate = RowOf<typeof CANDIDATE>;

/** What `isAutopayDue` asks of subscription and user for the job and for saved cards, without the end of the term. $1 is now. */
const ELIGIBLE = `FROM subscriptions s JOIN users u ON u.id = s.user_id LEFT JOIN tariffs f ON f.id = s.tariff_id
  WHERE s.autopay_enabled AND NOT s.is_trial AND NOT coalesce(f.is_daily, false) AND s.status IN ('active', 'expired')
    AND s.end_date < $1::timestamptz + (least(coalesce(nullif(s.autopay_days_before, 0), 3), ${MAX_LEAD_DAYS}) + 1) * interval '1 day'
    AND u.status = 'active' AND NOT u.restriction_subscription AND NOT (s.status = 'expired' AND ${STAYS_EXPIRED})
    AND (s.last_webhook_update_at IS NULL OR s.last_webhook_update_at <= $1::timestamptz - interval '${PANEL_PAUSE_SECONDS} seconds')`;

/** The term ends in these days at most, or ended in these hours, in a form that the index can use. */
const ending = (hours: number, days: string) => `s.end_date > $1::timestamptz - interval '${hours} hours'
    AND s.end_date < $1::timestamptz + (${days} + 1) * interval '1 day'`;

/** In the order of the index `subscriptions_autopay_end_date_idx`. */
const IN_ORDER = '(s.end_date, s.id) > ($2::timestamptz, $3::int) ORDER BY s.end_date, s.id LIMIT $4::int';

/** Up to `limit` due subscriptions after the given one, by their end. */
export function listDue(
  db: Db,
  now: Date,
  after: Pick<AutopayCandidate, 'id' | 'endDate'> | null,
  limit: number,
): Promise<AutopayCandidate[]> {
  return db.sql<AutopayCandidate>(
    `SELECT ${CANDIDATE.of('s')} ${ELIGIBLE} AND ${ending(GRACE_HOURS, String(MAX_LEAD_DAYS))} AND ${IN_ORDER}`,
    [now, after?.endDate ?? new Date(0), after?.id ?? 0, limit],
  );
}

/**
 * The same of those whose renewal a saved card may pay: until 48 h after the end, and never earlier than the usual lead.
 * @param usualLeadDays of the settings, 1 to 30
 */
function listCardCandidates(
  db: Db,
  now: Date,
  page: { after: Pick<AutopayCandidate, 'id' | 'endDate'> | null; limit: number; usualLeadDays: number },
): Promise<AutopayCandidate[]> {
  const { after, limit, usualLeadDays } = page;
  return db.sql<AutopayCandidate>(
    `SELECT ${CANDIDATE.of('s')} ${ELIGIBLE} AND ${ending(CARD_HOURS, '$5::int')} AND ${IN_ORDER}`,
    [now, after?.endDate ?? new Date(0), after?.id ?? 0, limit, usualLeadDays],
  );
}

/** Records that autopay cannot renew this term; the next paid term deletes the record. @returns false when it is recorded already */
async function recordRefusal(db: Db, subscriptionId: number, userId: number, now: Date): Promise<boolean> {
  const data = [{ subscriptionId, userId, notificationType: 'autopay_failed', createdAt: now }];
  return (await db.prisma.sentNotification.createMany({ data, skipDuplicates: true })).count > 0;
}

/** Whether a failure of autopay was recorded in the dashboard feed after `since`. */
async function hasFailedSince(db: Db, userId: number, since: Date): Promise<boolean> {
  const where = { userId, eventType: 'autopay_failed', occurredAt: { gt: since } };
  return (await db.prisma.subscriptionEvent.findFirst({ where, select: { id: true } })) !== null;
}
