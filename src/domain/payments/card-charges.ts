import type { UserActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { addMs, DAY_MS, HOUR_MS, MINUTE_MS } from '../../core/clock.ts';
import { retried } from '../../core/db/db-errors.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { text } from '../messaging/texts.ts';
import {
  type AutopayRenewal,
  listUnpaidRenewals,
  type RenewalCursor,
  readDueRenewal,
} from '../subscriptions/autopay/renew-due.ts';
import { notifyOwner } from '../subscriptions/notify-owner.ts';
import {
  deactivateCard,
  findOpenAttempt,
  findOpenCharge,
  finishAttempt,
  finishCharge,
  insertAttempt,
  listActiveCards,
  lockCharge,
  lockNextCard,
  type OpenAttempt,
  type OpenCharge,
  openCharge,
  type SavedCard,
} from './card-repo.ts';
import { creditSeenPayment } from './credit-payment.ts';
import { cardNotFound, recurrentOff } from './errors.ts';
import { paymentText } from './payment-texts.ts';
import { type PaymentProvider, type PaymentReport, ProviderError } from './ports.ts';
import { insertPayment, markInvoiceFailed } from './repo.ts';
import { newOrderId } from './rules.ts';

/** A charge that the provider has accepted and not decided yet: when it is asked again. */
const ASK_AGAIN_MS = MINUTE_MS;
/** How long a charge without an answer may be sent again: the provider keeps an idempotency key for 24 hours (03a section 0.6). */
const KEY_MS = 23 * HOUR_MS;

/**
 * Pays a renewal with the saved cards of its owner, newest first, until one succeeds (queue `payments.charge-card`, spec 03 section 5.2). The
 * payment of an attempt is stored before the provider is asked, and its order id is the idempotency key: a run that was killed is continued by
 * the next one without a second charge. While an attempt is undecided, also one of an earlier day, no card is charged. The money arrives as a
 * top-up with the purpose `recurrent_topup`, and autopay renews.
 * @throws Error while the provider is down: the queue runs it again
 */
export async function chargeCards(app: App, { chargeId }: { chargeId: number }): Promise<void> {
  const charge = await findOpenCharge(app.db, chargeId);
  const provider = app.ports.payments.byMethod(CARD_PROVIDER);
  if (!charge || !provider?.chargeSaved) return;
  for (;;) {
    const attempt = (await findOpenAttempt(app.db, charge.subscriptionId)) ?? (await nextAttempt(app, charge));
    if (!attempt) return;
    const state = await stateOf(app, provider, charge, attempt);
    if (state === 'undecided') {
      await app.jobs.send('payments.charge-card', { chargeId }, { startAfter: addMs(app.clock.now(), ASK_AGAIN_MS) });
      return;
    }
    if (state === 'paid') {
      await finishPaid(app, attempt);
      // That of an earlier day: whether this charge is still due is decided again.
      if (attempt.chargeId !== chargeId) continue;
      return;
    }
    await failAttempt(app, charge, attempt, state);
  }
}

/**
 * Ends a charge with its paid attempt, both in one transaction: a run that found the attempt ended and the charge open would try the next card
 * for a renewal that is paid.
 */
function finishPaid(app: App, attempt: OpenAttempt): Promise<void> {
  return inTransaction(app, async (t) => {
    await finishCharge(t.db, attempt.chargeId, 'paid', t.clock.now());
    await finishAttempt(t.db, attempt.id, 'paid', null);
  });
}

/** Stores the attempt with the next card. @returns null when the charge has ended: nothing is due any more, or no card is left */
async function nextAttempt(app: App, charge: OpenCharge): Promise<OpenAttempt | null> {
  const now = app.clock.now();
  const renewal = areCardsCharged(app) ? await readDueRenewal(app, charge.subscriptionId) : null;
  // A charge belongs to its day: after it the plan decides again.
  const isOfToday = charge.day === chargeDay(now);
  if (!renewal || renewal.missingKopeks === 0 || !isOfToday) {
    await finishCharge(app.db, charge.id, 'not_due', now);
    return null;
  }
  const isTried = await inTransaction(app, async (t) => {
    const found = await lockCharge(t.db, charge);
    if (found !== 'open') return found === 'tried';
    const card = await lockNextCard(t.db, charge.id, charge.userId, CARD_PROVIDER);
    if (!card) {
      await failCharge(t, charge, renewal);
      return false;
    }
    const payment = {
      ...{ method: CARD_PROVIDER, userId: charge.userId, orderId: newOrderId(t.random), status: 'pending', option: null },
      ...{ amountKopeks: amountOf(t, renewal), purpose: 'recurrent_topup', description: descriptionOf(t, charge) },
    };
    const paymentId = await insertPayment(t.db, payment, now);
    await insertAttempt(t.db, { chargeId: charge.id, savedMethodId: card.id, paymentId, now });
    return true;
  });
  return isTried ? findOpenAttempt(app.db, charge.subscriptionId) : null;
}

const amountOf = (app: App, { missingKopeks }: AutopayRenewal) =>
  Math.max(missingKopeks, app.settings.get('YOOKASSA_MIN_AMOUNT_KOPEKS'));

const descriptionOf = (app: App, { language }: OpenCharge) =>
  `${paymentText(app, 'PAYMENT_SERVICE_NAME', language)} - ${paymentText(app, 'PAYMENT_BALANCE_DESCRIPTION', language)}`;

/** What became of an attempt; a text is the reason why it failed. */
type AttemptResult = 'paid' | 'undecided' | { reason: string; isMethodGone: boolean };

async function stateOf(
  app: App,
  provider: PaymentProvider,
  charge: OpenCharge,
  { payment, card, isCardActive }: OpenAttempt,
): Promise<AttemptResult> {
  if (payment.transactionId !== null) return 'paid';
  let state: PaymentReport;
  try {
    if (payment.externalId !== null) {
      state = await provider.fetchStatus({ externalId: payment.externalId, orderId: payment.orderId });
    } else if (!isCardActive) {
      // Unlinked before the provider was asked: it is not asked any more.
      await markInvoiceFailed(app.db, payment.id, app.clock.now());
      return { reason: 'unlinked', isMethodGone: false };
    } else if (app.clock.now().getTime() - payment.createdAt.getTime() > KEY_MS) {
      // Asked again, the provider would make a second charge. Should there be a first one, its notification credits the payment.
      await markInvoiceFailed(app.db, payment.id, app.clock.now());
      return { reason: 'unclear', isMethodGone: false };
    } else {
      state = await provider.chargeSaved!({
        ...{ orderId: payment.orderId, providerMethodId: card.providerMethodId, amountKopeks: payment.amountKopeks },
        description: descriptionOf(app, charge),
        ...(charge.email === null ? {} : { payerEmail: charge.email }),
        metadata: { user_id: charge.userId, subscription_id: charge.subscriptionId, purpose: 'recurrent_topup' },
      });
    }
  } catch (error) {
    if (!(error instanceof ProviderError) || error.failure !== 'rejected') throw error;
    await markInvoiceFailed(app.db, payment.id, app.clock.now());
    return { reason: 'refused', isMethodGone: false };
  }
  const result = await creditSeenPayment(app, payment, state);
  if (result === 'credited' || result === 'already_credited') return 'paid';
  if (result === 'pending') return 'undecided';
  return { reason: state.failureReason ?? state.status, isMethodGone: state.isMethodGone ?? false };
}

async function failAttempt(
  app: App,
  charge: OpenCharge,
  { id, card }: OpenAttempt,
  { reason, isMethodGone }: Exclude<AttemptResult, string>,
): Promise<void> {
  if (isMethodGone) await deactivateCard(app.db, charge.userId, card.id, app.clock.now());
  await finishAttempt(app.db, id, 'failed', reason);
  app.log.info({ chargeId: charge.id, subscriptionId: charge.subscriptionId, reason }, 'a saved card was not charged');
}

/** Ends a charge for which no card is left, and tells the owner as the plan says. In the caller's transaction. */
async function failCharge(t: App, charge: OpenCharge, renewal: AutopayRenewal): Promise<void> {
  const now = t.clock.now();
  if (!(await finishCharge(t.db, charge.id, 'failed', now)) || !(await hasAttempts(t, charge.id))) return;
  const { cardChargeDays, cardChargeFailureNotices } = t.env;
  if (!isFailureReported(cardChargeFailureNotices, cardChargeDays, daysBeforeEnd(renewal.endDate, now))) return;
  const { userId, userStatus: status, messengerId, verifiedEmail, language } = charge;
  const owner = { userId, status, messengerId, verifiedEmail, language };
  await notifyOwner(t, owner, 'autopay_failed', { reason: text(language, 'messages.autopay_cards_refused') });
}

/** A user without any card is not notified that cards were refused. */
async function hasAttempts(t: App, chargeId: number): Promise<boolean> {
  return (await t.db.prisma.recurrentAttempt.count({ where: { chargeId } })) > 0;
}

/** The provider that saves cards. */
const CARD_PROVIDER = 'yookassa';

/** Whether saved cards are charged at all (spec 03 section 5.2). */
function areCardsCharged(app: App): boolean {
  const { settings } = app;
  return (
    settings.get('ENABLE_AUTOPAY') &&
    settings.get('YOOKASSA_RECURRENT_ENABLED') &&
    (app.ports.payments.byMethod(CARD_PROVIDER)?.isConfigured() ?? false)
  );
}

/**
 * Opens today's charges of saved cards (job `payments.charge-cards`): for renewals that lack money, on the days of the plan
 * (`CARD_CHARGE_DAYS`). One charge a subscription and day, by a unique key, however many instances look.
 */
export async function startCharges(app: App): Promise<void> {
  if (!areCardsCharged(app)) return;
  let after: RenewalCursor | null = null;
  do {
    const page: Awaited<ReturnType<typeof listUnpaidRenewals>> = await listUnpaidRenewals(app, after);
    for (const { subscriptionId, endDate } of page.items) {
      const now = app.clock.now();
      if (!app.env.cardChargeDays.includes(daysBeforeEnd(endDate, now))) continue;
      await retried(app, () => openCharge(app.db, subscriptionId, chargeDay(now), now));
    }
    after = page.next;
  } while (after !== null);
  app.jobs.wake(['payments.charge-card']);
}

/** Whether a failed charge is reported to the owner: each one, that of the last day of the plan, or none. */
type FailureNotices = 'each' | 'last' | 'none';

/**
 * Days between a given time and the end of a subscription, as the plan of charges counts them: 0 = it ends within the next 24 hours, -1 =
 * it has ended within the last 24 hours.
 */
function daysBeforeEnd(endDate: Date, now: Date): number {
  return Math.floor((endDate.getTime() - now.getTime()) / DAY_MS);
}

/** Whether the owner is notified of a charge that failed so many days before the end. */
function isFailureReported(notices: FailureNotices, planDays: readonly number[], daysBefore: number): boolean {
  return notices === 'each' || (notices === 'last' && daysBefore <= Math.min(...planDays));
}

/** The day of a charge, UTC, as `2026-11-22`. */
function chargeDay(now: Date): string {
  return now.toISOString().slice(0, 10);
}

/** The user's linked cards, newest first; none while recurrent payments are off (spec 03 section 3). */
export async function listSavedCards(app: App, actor: UserActor): Promise<{ cards: SavedCard[]; recurrentEnabled: boolean }> {
  if (!app.settings.get('YOOKASSA_RECURRENT_ENABLED')) return { cards: [], recurrentEnabled: false };
  return { cards: await listActiveCards(app.db, actor.userId), recurrentEnabled: true };
}

/** Unlinks a card; its row stays, so that a later notification of the provider does not add it again. @throws AppError 400 | 404 */
export async function unlinkSavedCard(app: App, actor: UserActor, cardId: number): Promise<void> {
  if (!app.settings.get('YOOKASSA_RECURRENT_ENABLED')) throw recurrentOff();
  if (!(await deactivateCard(app.db, actor.userId, cardId, app.clock.now()))) throw cardNotFound();
}
