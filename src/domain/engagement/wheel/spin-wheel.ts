import type { UserActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { firstCharacters } from '../../../core/characters.ts';
import { addDays, startOfDay } from '../../../core/clock.ts';
import { isAppError, rethrowUnavailable } from '../../../core/errors.ts';
import { formatPrice } from '../../../core/money.ts';
import { hexToken } from '../../../core/random.ts';
import type { Tariff } from '../../catalog/types.ts';
import { findUserById } from '../../identity/find-user.ts';
import { postMovement } from '../../ledger/post-movement.ts';
import { type KeyClaim, runOnceFrom } from '../../ledger/run-once.ts';
import { text } from '../../messaging/texts.ts';
import { issuePromocode, normaliseCode } from '../../promo/codes/promocodes.ts';
import { applyManualChange } from '../../subscriptions/manual/manual-changes.ts';
import { openSale } from '../../subscriptions/purchase/complete-sale.ts';
import type { SaleStart } from '../../subscriptions/purchase/types.ts';
import type { Subscription } from '../../subscriptions/types.ts';
import { addSpin, wheelOf, wheelReads } from './repo.ts';
import { availabilityOf, daysValueKopeks, ERROR_TEXTS, hasCodeValue, MAX_PRIZE_DAYS, type SpinFacts } from './rules.ts';
import type { SpinError, SpinOutcome, SpinPayment, WheelConfig, WheelPrize, WonPrize } from './types.ts';
import { draw, factsOf, probabilitiesOf, rotationDegrees } from './wheel.ts';

/** A user with locked row and subscription, and the data that decides about a spin. */
export interface Spinner {
  userId: number;
  language: string;
  facts: SpinFacts;
  /** Active ones, in the order of the wheel. */
  prizes: readonly WheelPrize[];
  /** Of the subscription; null without one. */
  tariff: Tariff | null;
}

/** How a spin was paid. */
export interface PaidSpin {
  type: SpinPayment;
  /** Stars or days. */
  amount: number;
  valueKopeks: number;
  debitTransactionId: number | null;
  paymentId: number | null;
  chargeId: string | null;
  subscription: Subscription | null;
}

/**
 * Spins the wheel once. Checks, payment, draw, prize and record are one transaction under the lock of the user row: the limit is
 * not exceeded and nothing is paid twice, also with parallel calls; a failure changes nothing (spec 04 sections 13.4 and 13.7).
 * @returns also refusals: they are answers, not errors
 */
export async function spinWheel(app: App, actor: UserActor, payment: SpinPayment, key: string | null): Promise<SpinOutcome> {
  try {
    return await runOnceFrom(
      app,
      actor,
      { key, operation: 'wheel.spin', input: { payment } },
      (t, claim) => openSpin(t, actor.userId, claim),
      async (t, start) => {
        if (!start) throw new Error('the user of the session does not exist');
        return spin(t, await spinnerOf(t, start), payment);
      },
    );
  } catch (error) {
    if (isAppError(error)) throw error;
    rethrowUnavailable(error);
    app.log.error({ err: error, userId: actor.userId }, 'a wheel spin failed');
    return failure((await findUserById(app, actor.userId))?.language ?? null, 'internal_error');
  }
}

/** Locks the user, then the subscription, and reads all that decides about a spin. Null for an unknown user. */
export async function lockSpinner(t: App, userId: number): Promise<Spinner | null> {
  const { start } = await openSpin(t, userId, null);
  return start && spinnerOf(t, start);
}

const openSpin = (t: App, userId: number, claim: KeyClaim | null) =>
  openSale(t, userId, { reads: wheelReads(userId, startOfDay(t.clock.now())) }, claim);

async function spinnerOf(t: App, { buyer, subscription, currentTariff: tariff, read }: SaleStart): Promise<Spinner> {
  const { id: userId, language, balanceKopeks } = buyer;
  const now = t.clock.now();
  const wheel = await wheelOf(t.db, read, now);
  return { userId, language, facts: factsOf(t, wheel, { balanceKopeks, subscription, now }), prizes: wheel.prizes, tariff };
}

async function spin(t: App, spinner: Spinner, payment: SpinPayment): Promise<SpinOutcome> {
  const { reason, canPayStars, canPayDays } = availabilityOf(spinner.facts);
  if (reason !== null) return failure(spinner.language, reason);
  if (payment === 'messenger_stars' && !canPayStars) return failure(spinner.language, 'cannot_pay_stars');
  if (payment === 'subscription_days' && !canPayDays) return failure(spinner.language, 'cannot_pay_days');
  const paid = payment === 'messenger_stars' ? await payWithBalance(t, spinner) : await payWithDays(t, spinner);
  if (!paid) return failure(spinner.language, 'payment_error');
  return { isSuccess: true, won: await drawPrize(t, spinner, paid) };
}

/** The price in stars, taken from the balance. */
async function payWithBalance(t: App, { userId, language, facts }: Spinner): Promise<PaidSpin | null> {
  const posting = await postMovement(t, {
    userId,
    type: 'withdrawal',
    amountKopeks: -facts.requiredKopeks,
    contra: { kind: 'bonus_expense', bonus: 'wheel' },
    paymentMethod: 'balance',
    description: text(language, 'games.transaction_wheel_spin'),
  });
  if (posting.outcome !== 'posted') return null;
  return {
    type: 'messenger_stars',
    amount: facts.config.spinCostStars,
    valueKopeks: facts.requiredKopeks,
    debitTransactionId: posting.transactionId,
    paymentId: null,
    chargeId: null,
    subscription: facts.subscription,
  };
}

async function payWithDays(t: App, { facts, tariff }: Spinner): Promise<PaidSpin> {
  const subscription = facts.subscription!;
  const days = facts.config.spinCostDays;
  const month = tariff?.periodPrices[30] || t.settings.get('PRICE_30_DAYS');
  const shortened = await applyManualChange(t, subscription.id, { changes: { endDate: addDays(subscription.endDate, -days) } });
  return {
    type: 'subscription_days',
    amount: days,
    valueKopeks: daysValueKopeks(days, month),
    debitTransactionId: null,
    paymentId: null,
    chargeId: null,
    subscription: shortened,
  };
}

/** Draws, grants the prize and records the spin, which was paid in this transaction. */
export async function drawPrize(t: App, spinner: Spinner, paid: PaidSpin): Promise<WonPrize> {
  const { userId, language, prizes, facts, tariff } = spinner;
  const index = draw(probabilitiesOf(prizes, paid.valueKopeks, facts.config.rtpPercent), t.random);
  const prize = prizes[index]!;
  const given = await applyPrize(t, { userId, language, subscription: paid.subscription, tariff }, prize, facts.config);
  addSpin(t.db, prize, {
    userId,
    paymentType: paid.type,
    paymentAmount: paid.amount,
    paymentValueKopeks: paid.valueKopeks,
    generatedPromocodeId: given.promocodeId,
    debitTransactionId: paid.debitTransactionId,
    prizeTransactionId: given.transactionId,
    paymentId: paid.paymentId,
    externalChargeId: paid.chargeId,
    createdAt: t.clock.now(),
  });
  return {
    prizeId: prize.id,
    prizeType: prize.prizeType,
    prizeValue: prize.prizeValue,
    displayName: prize.displayName,
    emoji: prize.emoji,
    color: prize.color,
    rotationDegrees: rotationDegrees(index, prizes.length, t.random),
    message: given.message,
    promocode: given.promocode,
  };
}

function failure(language: string | null, error: SpinError): SpinOutcome {
  return { isSuccess: false, error, message: text(language, ERROR_TEXTS[error]) };
}

/** The winner: locked user, and locked subscription after the payment. */
interface Winner {
  userId: number;
  language: string;
  subscription: Subscription | null;
  /** Of the subscription. */
  tariff: Tariff | null;
}

interface AppliedPrize {
  promocodeId: number | null;
  promocode: string | null;
  transactionId: number | null;
  message: string;
}

/** Larger prizes would exceed the column. */
const MAX_TRAFFIC_GB = 1_000_000;
const CODE_BYTES = 4;
/** Length of the column without the random part. */
const MAX_PREFIX_LENGTH = 50 - 2 * CODE_BYTES;
const CODE_TRIES = 5;

/** Grants the prize, in the transaction of the spin. A prize that cannot be given is paid in money. */
async function applyPrize(t: App, winner: Winner, prize: WheelPrize, config: WheelConfig): Promise<AppliedPrize> {
  switch (prize.prizeType) {
    case 'balance_bonus':
      return credit(t, winner, prize, prize.prizeValue);
    case 'subscription_days':
      return giveDays(t, winner, prize);
    case 'traffic_gb':
      return giveTraffic(t, winner, prize);
    case 'promocode':
      return givePromocode(t, winner, prize, config);
    default:
      return applied(text(winner.language, 'games.wheel_won_nothing'));
  }
}

const applied = (message: string, more: Partial<AppliedPrize> = {}): AppliedPrize => ({
  promocodeId: null,
  promocode: null,
  transactionId: null,
  message,
  ...more,
});

/** A pending subscription has no days and no traffic to extend. */
const usable = ({ subscription }: Winner) => (subscription?.status === 'pending' ? null : subscription);

/** A deposit without payment method is a bonus. */
async function credit(t: App, winner: Winner, prize: WheelPrize, kopeks: number): Promise<AppliedPrize> {
  const { language } = winner;
  if (kopeks <= 0) return applied(text(language, 'games.wheel_won_nothing'));
  const posting = await postMovement(t, {
    userId: winner.userId,
    type: 'deposit',
    amountKopeks: kopeks,
    contra: { kind: 'bonus_expense', bonus: 'wheel' },
    paymentMethod: null,
    description: text(language, 'games.transaction_wheel_prize', { prize: prize.displayName }),
  });
  if (posting.outcome !== 'posted') throw new Error(`a wheel prize was ${posting.outcome}`);
  const message = text(language, 'games.wheel_won_money', { amount: formatPrice(kopeks, false) });
  return applied(message, { transactionId: posting.transactionId });
}

async function giveDays(t: App, winner: Winner, prize: WheelPrize): Promise<AppliedPrize> {
  const subscription = usable(winner);
  if (!subscription) return credit(t, winner, prize, prize.prizeValueKopeks);
  const { tariff } = winner;
  if (tariff?.isDaily) {
    const kopeks = tariff.dailyPriceKopeks > 0 ? prize.prizeValue * tariff.dailyPriceKopeks : prize.prizeValueKopeks;
    return credit(t, winner, prize, kopeks);
  }
  const days = Math.min(prize.prizeValue, MAX_PRIZE_DAYS);
  const now = t.clock.now();
  const from = subscription.endDate.getTime() > now.getTime() ? subscription.endDate : now;
  const isRevived = subscription.status === 'expired' && days > 0;
  const changes = { endDate: addDays(from, days), ...(isRevived ? { status: 'active' as const } : {}) };
  await applyManualChange(t, subscription.id, { changes, forgetsNotices: true });
  return applied(text(winner.language, 'games.wheel_won_days', { days }));
}

async function giveTraffic(t: App, winner: Winner, prize: WheelPrize): Promise<AppliedPrize> {
  const subscription = usable(winner);
  if (!subscription || subscription.trafficLimitGb <= 0) return credit(t, winner, prize, prize.prizeValueKopeks);
  const gb = Math.min(prize.prizeValue, MAX_TRAFFIC_GB);
  const trafficLimitGb = subscription.trafficLimitGb + gb;
  const isBelowLimit = subscription.status === 'limited' && trafficLimitGb > subscription.trafficUsedGb;
  const isRevived = isBelowLimit && subscription.endDate.getTime() > t.clock.now().getTime();
  await applyManualChange(t, subscription.id, {
    changes: { trafficLimitGb, ...(isRevived ? { status: 'active' as const } : {}) },
  });
  return applied(text(winner.language, 'games.wheel_won_traffic', { gb }));
}

/** A prize stored before its values were checked may be a code that gives nothing: it is paid in money. */
async function givePromocode(t: App, winner: Winner, prize: WheelPrize, config: WheelConfig): Promise<AppliedPrize> {
  if (!hasCodeValue(prize)) return credit(t, winner, prize, prize.prizeValueKopeks);
  const days = Math.min(prize.promoSubscriptionDays, MAX_PRIZE_DAYS);
  const prefix = codePrefix(config.promoPrefix);
  for (let attempt = 0; attempt < CODE_TRIES; attempt++) {
    const code = normaliseCode(`${prefix}${hexToken(t.random, CODE_BYTES)}`);
    const promocodeId = await issuePromocode(t, {
      code,
      balanceBonusKopeks: prize.promoBalanceBonusKopeks,
      subscriptionDays: days,
      validUntil: addDays(t.clock.now(), config.promoValidityDays),
      createdBy: winner.userId,
    });
    const message = text(winner.language, 'games.wheel_won_promocode', { code });
    if (promocodeId !== null) return applied(message, { promocodeId, promocode: code });
  }
  throw new Error('no free promo code was found');
}

/**
 * The prefix in the form of codes. Codes are looked up trimmed and in upper case: a leading blank would make a code that cannot be
 * activated, and upper case can be three times as long.
 */
function codePrefix(prefix: string): string {
  return firstCharacters(normaliseCode(prefix), MAX_PREFIX_LENGTH);
}
