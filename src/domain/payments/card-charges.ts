import type { UserActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { addMs, DAY_MS, HOUR_MS, MINUTE_MS } from '../../core/clock.ts';
import { columns, type RowOf, type Rows } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';
import { retried } from '../../core/db/db-errors.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { isRowId } from '../../core/row-id.ts';
import { text } from '../messaging/texts.ts';
import {
  type AutopayRenewal,
  listUnpaidRenewals,
  type RenewalCursor,
  readDueRenewal,
} from '../subscriptions/autopay/renew-due.ts';
import { notifyOwner } from '../subscriptions/notify-owner.ts';
import { creditSeenPayment } from './credit-payment.ts';
import { cardNotFound, recurrentOff } from './errors.ts';
import { paymentText } from './payment-texts.ts';
import { type PaymentProvider, type PaymentReport, ProviderError } from './ports.ts';
import { insertPayment, markInvoiceFailed, PAYMENT } from './repo.ts';
import { newOrderId } from './rules.ts';
import type { Payment } from './types.ts';

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

/** Whether saved cards are charged at all. */
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

/**
 * Opens today's charge of a subscription with its job, in one statement. A charge that the existing product has begun is waited for, since its
 * money may be on its way, and is that of its day, whatever became of it: it has no attempt here (spec 07 I30). @returns whether it is new
 */
async function openCharge(db: Db, subscriptionId: number, day: string, now: Date): Promise<boolean> {
  const rows = await db.sql(
    `WITH opened AS (
       INSERT INTO recurrent_charges (subscription_id, charge_date, created_at)
       SELECT $1::int, $2::date, $3::timestamptz WHERE NOT EXISTS (SELECT 1 FROM subscriptions s JOIN payments p ON p.user_id = s.user_id
         WHERE s.id = $1::int AND p.purpose = 'recurrent_topup' AND p.imported_at IS NOT NULL
           AND (p.outcome = 'pending' OR p.created_at >= $2::date::timestamp AT TIME ZONE 'UTC'))
       ON CONFLICT (subscription_id, charge_date) DO NOTHING RETURNING id)
     SELECT send_job('payments.charge-card', jsonb_build_object('chargeId', opened.id)) AS sent FROM opened`,
    [subscriptionId, day, now],
  );
  return rows.length > 0;
}

const CHARGE = columns('RecurrentCharge', ['id', 'subscriptionId']);
const OWNER = columns('User', ['messengerId', 'language']);

/** An open charge and the owner of its subscription; `day` as `2026-11-22`, UTC. */
type OpenCharge = RowOf<typeof CHARGE> &
  RowOf<typeof OWNER> & { day: string; userId: number; userStatus: string; email: string | null; verifiedEmail: string | null };

/** Null when the charge has ended. */
async function findOpenCharge(db: Db, id: number): Promise<OpenCharge | null> {
  const [row] = await db.sql<OpenCharge>(
    `SELECT ${CHARGE.of('c')}, c.charge_date::text AS day, s.user_id, ${OWNER.of('u')}, u.status AS user_status, u.email,
       CASE WHEN u.email_verified THEN u.email END AS verified_email
     FROM recurrent_charges c JOIN subscriptions s ON s.id = c.subscription_id JOIN users u ON u.id = s.user_id
     WHERE c.id = $1::int AND c.status = 'open'`,
    [id],
  );
  return row ?? null;
}

/** @returns false when the charge had ended before */
async function finishCharge(db: Db, id: number, status: 'paid' | 'failed' | 'not_due', now: Date): Promise<boolean> {
  const rows = await db.sql<{ id: number }>(
    "UPDATE recurrent_charges SET status = $2, finished_at = $3::timestamptz WHERE id = $1::int AND status = 'open' RETURNING id",
    [id, status, now],
  );
  return rows.length > 0;
}

/**
 * Locks the open charges of a subscription for the choice of the next card, so that two runs do not choose at once, also those of two days.
 * @returns `ended`, also when a card has paid; `tried` = an attempt of another run or of an earlier day is undecided; `open` = the next card may be tried
 */
async function lockCharge(
  t: Db,
  { id, subscriptionId }: Pick<OpenCharge, 'id' | 'subscriptionId'>,
): Promise<'open' | 'tried' | 'ended'> {
  const open = await t.sql<{ id: number }>(
    "SELECT id FROM recurrent_charges WHERE subscription_id = $1::int AND status = 'open' ORDER BY id FOR UPDATE",
    [subscriptionId],
  );
  if (!open.some((charge) => charge.id === id)) return 'ended';
  const [tried] = await t.sql<{ status: string }>(
    `SELECT a.status FROM recurrent_charges c JOIN recurrent_attempts a ON a.charge_id = c.id
     WHERE c.subscription_id = $1::int AND (a.status = 'open' OR (a.status = 'paid' AND c.id = $2::int)) ORDER BY a.status DESC LIMIT 1`,
    [subscriptionId, id],
  );
  if (!tried) return 'open';
  return tried.status === 'paid' ? 'ended' : 'tried';
}

const CARD = columns('SavedPaymentMethod', ['id', 'provider', 'providerMethodId']);
type ChargeableCard = RowOf<typeof CARD>;

/** The newest active card that the charge has not tried, locked so that it is not unlinked before the attempt is stored. */
async function lockNextCard(t: Db, chargeId: number, userId: number, provider: string): Promise<ChargeableCard | null> {
  const [row] = await t.sql<ChargeableCard>(
    `SELECT ${CARD.of('m')} FROM saved_payment_methods m
     WHERE m.user_id = $2::int AND m.provider = $3 AND m.is_active
       AND NOT EXISTS (SELECT 1 FROM recurrent_attempts a WHERE a.charge_id = $1::int AND a.saved_method_id = m.id)
     ORDER BY m.created_at DESC, m.id DESC LIMIT 1 FOR SHARE OF m`,
    [chargeId, userId, provider],
  );
  return row ?? null;
}

async function insertAttempt(
  t: Db,
  attempt: { chargeId: number; savedMethodId: number; paymentId: number; now: Date },
): Promise<void> {
  const { chargeId, savedMethodId, paymentId, now } = attempt;
  await t.prisma.recurrentAttempt.create({ data: { chargeId, savedMethodId, paymentId, createdAt: now }, select: { id: true } });
}

/** An attempt whose result is not known yet, with its card and payment. */
interface OpenAttempt {
  id: number;
  chargeId: number;
  isCardActive: boolean;
  card: ChargeableCard;
  payment: Payment;
}

/** The oldest of a subscription, whatever the day of its charge: money that may be on its way is waited for. */
async function findOpenAttempt(db: Db, subscriptionId: number): Promise<OpenAttempt | null> {
  const [row] = await db.sql<ChargeableCard & { attemptId: number; chargeId: number; isActive: boolean; paymentId: number }>(
    `SELECT a.id AS attempt_id, a.charge_id, a.payment_id, m.is_active, ${CARD.of('m')}
     FROM recurrent_charges c JOIN recurrent_attempts a ON a.charge_id = c.id JOIN saved_payment_methods m ON m.id = a.saved_method_id
     WHERE c.subscription_id = $1::int AND a.status = 'open' ORDER BY a.id LIMIT 1`,
    [subscriptionId],
  );
  if (!row) return null;
  const { attemptId, chargeId, isActive, paymentId, ...card } = row;
  const [payment] = await db.sql<RowOf<typeof PAYMENT>>(`SELECT ${PAYMENT.of()} FROM payments WHERE id = $1::int`, [paymentId]);
  return { id: attemptId, chargeId, isCardActive: isActive, card, payment: payment! };
}

async function finishAttempt(db: Db, id: number, status: 'paid' | 'failed', reason: string | null): Promise<void> {
  await db.sql(
    "UPDATE recurrent_attempts SET status = $2, reason = left($3, 100) WHERE id = $1::int AND status = 'open' RETURNING id",
    [id, status, reason],
  );
}

/** A card that the provider has stored. */
type SavedCard = Pick<Rows['SavedPaymentMethod'], 'id' | 'methodType' | 'cardLast4' | 'cardType' | 'title' | 'createdAt'>;

function listActiveCards(db: Db, userId: number): Promise<SavedCard[]> {
  return db.prisma.savedPaymentMethod.findMany({
    where: { userId, isActive: true },
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
    take: 100,
    select: { id: true, methodType: true, cardLast4: true, cardType: true, title: true, createdAt: true },
  });
}

/** @returns false when the user has no such active card */
async function deactivateCard(db: Db, userId: number, cardId: number, now: Date): Promise<boolean> {
  if (!isRowId(cardId)) return false;
  const { count } = await db.prisma.savedPaymentMethod.updateMany({
    where: { id: cardId, userId, isActive: true },
    data: { isActive: false, updatedAt: now },
  });
  return count > 0;
}
