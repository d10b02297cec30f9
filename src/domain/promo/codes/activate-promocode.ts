import { createHash } from 'node:crypto';
import type { UserActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { addDays } from '../../../core/clock.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { hitsSoFar, isWithinLimit } from '../../../core/rate-limit.ts';
import { isAnswered, runOnceFrom } from '../../ledger/run-once.ts';
import { openSale } from '../../subscriptions/purchase/open-sale.ts';
import type { SaleStart } from '../../subscriptions/purchase/types.ts';
import { ACTIVATION_REFUSALS, tooManyGuesses } from './errors.ts';
import { giveEffects } from './give-effects.ts';
import { codeFactsOf, codeReads, lockRedeemer, type Redeemer, takeUse } from './redeem-repo.ts';
import { findCodeByText } from './repo.ts';
import { activationRefusal, isDiscountExpired, normaliseCode } from './rules.ts';

/** This many unknown codes in a window block the user until its end (spec 04 section 7.5). */
const MAX_GUESSES = 5;
const GUESS_WINDOW_SECONDS = 300;

export interface ActivatedPromocode {
  /** Kopeks. */
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
