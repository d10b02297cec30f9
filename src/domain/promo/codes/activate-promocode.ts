import { createHash } from 'node:crypto';
import type { AdminActor, UserActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { addDays, addMs, HOUR_MS } from '../../../core/clock.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { refusal } from '../../../core/errors.ts';
import { formatPrice } from '../../../core/money.ts';
import { hitsSoFar, isWithinLimit } from '../../../core/rate-limit.ts';
import { userNotFound } from '../../identity/errors.ts';
import { setDiscount } from '../../identity/promo-account.ts';
import { postMovement } from '../../ledger/post-movement.ts';
import { isAnswered, runOnceFrom } from '../../ledger/run-once.ts';
import { text } from '../../messaging/texts.ts';
import { joinPromoGroup, leavePromoGroup, nameOfPromoGroup } from '../../promo-groups/memberships.ts';
import { grantTrial } from '../../subscriptions/grant-subscription.ts';
import { openSale } from '../../subscriptions/purchase/complete-sale.ts';
import type { SaleStart } from '../../subscriptions/purchase/types.ts';
import type { Subscription } from '../../subscriptions/types.ts';
import { grantDays } from '../../subscriptions/web-subscriptions.ts';
import { ACTIVATION_REFUSALS, tooManyGuesses } from './errors.ts';
import { activationRefusal, codeOfSource, discountSource, isDiscountExpired, normaliseCode } from './promocodes.ts';
import { codeFactsOf, codeReads, deleteUse, findCodeByText, lockRedeemer, type Redeemer, takeUse } from './repo.ts';
import type { PersonalDiscount, Promocode } from './types.ts';

/** This many unknown codes in a window block the user until its end. */
const MAX_GUESSES = 5;
const GUESS_WINDOW_SECONDS = 300;

export interface ActivatedPromocode {
  balanceBeforeKopeks: number;
  balanceAfterKopeks: number;
  /** What was given, in the user's language; null = nothing. */
  bonusDescription: string | null;
}

/**
 * Activates a promo code for the signed-in user (spec 04 section 7.2). Use row, counter, log, money, days, discount and group are
 * written in one transaction under the user's lock; the panel is updated after the commit.
 * @param idempotencyKey a repeat gets the first answer
 * @throws AppError 400 with the texts of section 7.2, in its order | 429 after five unknown codes in 300 s; 409 and 422 of the key
 */
export async function activatePromocode(
  app: App,
  actor: UserActor,
  code: string,
  idempotencyKey: string | null,
): Promise<ActivatedPromocode> {
  const normalised = normaliseCode(code);
  await guardAgainstGuessing(app, actor, normalised, idempotencyKey);
  return runOnceFrom(
    app,
    actor,
    { key: idempotencyKey, operation: 'promocode.activate', input: { code: normalised } },
    (t, claim) => openSale(t, actor.userId, { reads: codeReads(actor.userId, normalised, addDays(t.clock.now(), -1)) }, claim),
    redeem,
  );
}

/**
 * A separate transaction, because the counter of guesses must be committed although the request is refused. Parallel guesses wait for
 * the user's lock, so that they cannot exceed the limit. A repeated request that has an answer is not a guess: it gets that answer,
 * regardless of the present state of code and counter (spec 00, Consistency). The answer is looked up under the lock, which the first request
 * has while it redeems.
 */
async function guardAgainstGuessing(app: App, actor: UserActor, code: string, idempotencyKey: string | null): Promise<void> {
  const { userId } = actor;
  const outcome = await inTransaction(app, async (t) => {
    if (!(await lockRedeemer(t.db, userId))) return 'user_not_found' as const;
    if (await isAnswered(t, actor, idempotencyKey)) return 'answered' as const;
    if ((await hitsSoFar(t, `promocode:guess:${userId}`, GUESS_WINDOW_SECONDS)) >= MAX_GUESSES) return 'blocked' as const;
    if (await findCodeByText(t.db, code)) return 'found' as const;
    await countGuess(t, userId, code, idempotencyKey);
    return 'not_found' as const;
  });
  if (outcome === 'blocked') throw tooManyGuesses(GUESS_WINDOW_SECONDS);
  if (outcome === 'user_not_found' || outcome === 'not_found') throw ACTIVATION_REFUSALS[outcome]();
}

/** A repeated request counts as one guess. Another code under the same idempotency key is a new guess. */
async function countGuess(t: App, userId: number, code: string, idempotencyKey: string | null): Promise<void> {
  if (idempotencyKey !== null) {
    const request = createHash('sha256').update(`${idempotencyKey}\n${code}`).digest('hex');
    if (!(await isWithinLimit(t, `promocode:guess:${userId}:${request}`, 1, GUESS_WINDOW_SECONDS))) return;
  }
  await isWithinLimit(t, `promocode:guess:${userId}`, MAX_GUESSES, GUESS_WINDOW_SECONDS);
}

async function redeem(t: App, start: SaleStart | null): Promise<ActivatedPromocode> {
  if (!start) throw ACTIVATION_REFUSALS.user_not_found();
  const { buyer, subscription, read } = start;
  const user = redeemerOf(buyer);
  const now = t.clock.now();
  const known = codeFactsOf(read);
  if (!known) throw ACTIVATION_REFUSALS.not_found();
  const { promocode: found, hasUsedCode, activationsToday } = known;
  const facts = {
    hasUsedCode,
    activationsToday,
    hasHadPaid: user.hasHadPaid,
    hasActiveDiscount: user.discount.percent > 0 && !isDiscountExpired(user.discount, now),
    hasSubscription: subscription !== null,
  };
  const refusal = activationRefusal(found, facts, now);
  if (refusal) throw ACTIVATION_REFUSALS[refusal]();
  // Only one of parallel users gets the last remaining use; the row stays locked until the commit.
  const countsAsPaid = found.type === 'subscription_days';
  const name = await takeUse(t.db, { userId: buyer.id, promocodeId: found.id, countsAsPaid, now });
  if (name === null) throw ACTIVATION_REFUSALS.used();
  const promocode = { ...found, code: name };
  const sentences = await giveEffects(t, { promocode, userId: buyer.id, user, subscription });
  const credited = promocode.type === 'balance' ? promocode.balanceBonusKopeks : 0;
  return {
    balanceBeforeKopeks: user.balanceKopeks,
    balanceAfterKopeks: user.balanceKopeks + credited,
    bonusDescription: sentences.length > 0 ? sentences.join('\n') : null,
  };
}

function redeemerOf(buyer: SaleStart['buyer']): Redeemer {
  return {
    language: buyer.language,
    balanceKopeks: buyer.balanceKopeks,
    hasHadPaid: buyer.hasHadPaidSubscription,
    discount: {
      percent: buyer.promoOfferDiscountPercent,
      source: buyer.promoOfferDiscountSource,
      expiresAt: buyer.promoOfferDiscountExpiresAt,
    },
  };
}

interface Activation {
  promocode: Promocode;
  userId: number;
  user: Redeemer;
  /** The locked subscription. */
  subscription: Subscription | null;
}

/**
 * Grants the effects of a code, in the transaction of its use: money through the ledger, days through the
 * subscription. The panel is updated after the commit.
 * @returns one sentence per effect, in the user's language
 */
async function giveEffects(t: App, activation: Activation): Promise<string[]> {
  const effect = await giveEffectOfType(t, activation);
  const group = await giveGroup(t, activation);
  return [effect, group].filter((sentence) => sentence !== null);
}

async function giveEffectOfType(t: App, activation: Activation): Promise<string | null> {
  const { promocode, user, subscription } = activation;
  switch (promocode.type) {
    case 'balance':
      return credit(t, activation);
    case 'subscription_days':
      await grantDays(t, subscription!, promocode.subscriptionDays);
      return text(user.language, 'promo.bonus_days', { days: promocode.subscriptionDays });
    case 'trial_subscription': {
      // The use counts even when the user has a subscription already.
      if (subscription) return text(user.language, 'promo.bonus_trial_kept');
      const days = promocode.subscriptionDays > 0 ? promocode.subscriptionDays : t.settings.get('TRIAL_DURATION_DAYS');
      await grantTrial(t, activation.userId, days);
      return text(user.language, 'promo.bonus_trial', { days });
    }
    case 'discount':
      return giveDiscount(t, activation);
    default:
      return null;
  }
}

/** A deposit without payment method is a bonus. */
async function credit(t: App, { promocode, userId, user }: Activation): Promise<string> {
  const { outcome } = await postMovement(t, {
    userId,
    type: 'deposit',
    amountKopeks: promocode.balanceBonusKopeks,
    contra: { kind: 'bonus_expense', bonus: 'promocode' },
    paymentMethod: null,
    description: text(user.language, 'promo.transaction_bonus', { code: promocode.code }),
  });
  if (outcome !== 'posted') throw new Error(`a promo code bonus was ${outcome}`);
  return text(user.language, 'promo.bonus_balance', { amount: formatPrice(promocode.balanceBonusKopeks, false) });
}

async function giveDiscount(t: App, { promocode, userId, user }: Activation): Promise<string> {
  const { balanceBonusKopeks: percent, subscriptionDays: hours } = promocode;
  const now = t.clock.now();
  const expiresAt = hours > 0 ? addMs(now, hours * HOUR_MS) : null;
  await setDiscount(t.db, userId, { percent, source: discountSource(promocode.code), expiresAt }, now);
  return hours > 0
    ? text(user.language, 'promo.bonus_discount_hours', { percent, hours })
    : text(user.language, 'promo.bonus_discount', { percent });
}

async function giveGroup(t: App, { promocode, userId, user }: Activation): Promise<string | null> {
  const { promoGroupId } = promocode;
  if (promoGroupId === null || !(await joinPromoGroup(t, userId, promoGroupId, 'promocode'))) return null;
  return text(user.language, 'promo.bonus_group', { group_name: await nameOfPromoGroup(t, promoGroupId) });
}

const userNotFoundRefusal = refusal('user_not_found', 400, 'User not found');
export const discountExpired = refusal('discount_expired', 400, 'Discount has already expired');
export const noDiscount = refusal('no_discount', 400, 'No active discount promo code found');

interface DeactivatedDiscount {
  /** The code it came from; null = it did not come from a code. */
  code: string | null;
  percent: number;
}

/** `expired`: its fields were cleared, which is committed. */
type Outcome = { result: 'done'; deactivated: DeactivatedDiscount } | { result: 'no_user' | 'none' | 'expired' };

const NO_DISCOUNT: PersonalDiscount = { percent: 0, source: null, expiresAt: null };

/**
 * Deactivates the discount from a promo code (spec 04 section 7.3): clears the fields, deletes the use, and removes the user from the
 * group of the code unless the membership has another source. The row in the log of activations stays.
 * @throws AppError 400 'User not found' | 'No active discount promo code found' | 'Discount has already expired'
 */
export async function deactivateMyDiscount(app: App, actor: UserActor): Promise<DeactivatedDiscount> {
  const outcome = await inTransaction(app, (t) => takeDiscount(t, actor.userId, 'from_code'));
  switch (outcome.result) {
    case 'done':
      return outcome.deactivated;
    case 'no_user':
      throw userNotFoundRefusal();
    case 'expired':
      throw discountExpired();
    default:
      throw noDiscount();
  }
}

/**
 * The same by an administrator, who may also end a discount that did not come from a code (spec 04 section 7.4).
 * @throws AppError 404 'User not found' | 400 'User has no active discount' | 400 'Discount has already expired (cleaned up)'
 */
export async function deactivateDiscountOf(app: App, _actor: AdminActor, userId: number): Promise<DeactivatedDiscount> {
  const outcome = await inTransaction(app, async (t) => {
    const taken = await takeDiscount(t, userId, 'any');
    if (taken.result === 'done') t.audit?.record({ resourceId: userId, before: taken.deactivated, after: null });
    return taken;
  });
  switch (outcome.result) {
    case 'done':
      return outcome.deactivated;
    case 'no_user':
      throw userNotFound();
    case 'expired':
      throw discountExpired({ detail: 'Discount has already expired (cleaned up)' });
    default:
      throw noDiscount({ detail: 'User has no active discount' });
  }
}

async function takeDiscount(t: App, userId: number, which: 'from_code' | 'any'): Promise<Outcome> {
  const user = await lockRedeemer(t.db, userId);
  if (!user) return { result: 'no_user' };
  const { discount } = user;
  const code = codeOfSource(discount.source);
  if (discount.percent <= 0 || (code === null && which === 'from_code')) return { result: 'none' };
  const now = t.clock.now();
  await setDiscount(t.db, userId, NO_DISCOUNT, now);
  if (code === null) return { result: 'done', deactivated: { code, percent: discount.percent } };
  if (isDiscountExpired(discount, now)) return { result: 'expired' };
  const used = await deleteUse(t.db, userId, code);
  if (used && used.promoGroupId !== null) await leavePromoGroup(t, userId, used.promoGroupId, ['promocode']);
  return { result: 'done', deactivated: { code, percent: discount.percent } };
}
