import type { UserActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { addDays } from '../../../core/clock.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { hitsSoFar, isWithinLimit } from '../../../core/rate-limit.ts';
import { runOnce } from '../../ledger/run-once.ts';
import { lockUserSubscription } from '../../subscriptions/manual-changes.ts';
import { activationRefused, tooManyGuesses } from './errors.ts';
import { giveEffects } from './give-effects.ts';
import { countActivations, lockRedeemer, recordUse, takeUse } from './redeem-repo.ts';
import { findCodeByText } from './repo.ts';
import { activationRefusal, isDiscountOver, normaliseCode } from './rules.ts';

/** So many unknown codes in a window block the user for the rest of it (spec 04 section 7.5). */
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
 * Activates a promo code for the signed-in user (spec 04 section 7.2). Use row, counter, log, money, days, discount and group are one
 * transaction under the user's lock; the panel is told after commit.
 * @param idempotencyKey a repeat gets the first answer
 * @throws AppError 400 with the texts of section 7.2, in its order | 429 after five unknown codes in 300 s; 409 and 422 of the key
 */
export async function activatePromocode(
  app: App,
  actor: UserActor,
  code: string,
  idempotencyKey: string | null,
): Promise<ActivatedPromocode> {
  const wanted = normaliseCode(code);
  await guardAgainstGuessing(app, actor.userId, wanted);
  return runOnce(app, actor, { key: idempotencyKey, operation: 'promocode.activate', input: { code: wanted } }, (t) =>
    redeem(t, actor.userId, wanted),
  );
}

/**
 * A transaction of its own, because the count of guesses must outlive the refusal. The user's lock makes parallel guesses wait for
 * each other, so that not one more gets through.
 */
async function guardAgainstGuessing(app: App, userId: number, code: string): Promise<void> {
  const key = `promocode:guess:${userId}`;
  const outcome = await inTransaction(app, async (t) => {
    if (!(await lockRedeemer(t.db, userId))) return 'user_not_found' as const;
    if ((await hitsSoFar(t, key, GUESS_WINDOW_SECONDS)) >= MAX_GUESSES) return 'blocked' as const;
    if (await findCodeByText(t.db, code)) return 'found' as const;
    await isWithinLimit(t, key, MAX_GUESSES, GUESS_WINDOW_SECONDS);
    return 'not_found' as const;
  });
  if (outcome === 'blocked') throw tooManyGuesses(GUESS_WINDOW_SECONDS);
  if (outcome !== 'found') throw activationRefused(outcome);
}

async function redeem(t: App, userId: number, code: string): Promise<ActivatedPromocode> {
  const subscription = await lockUserSubscription(t, userId);
  const user = await lockRedeemer(t.db, userId);
  if (!user || subscription === undefined) throw activationRefused('user_not_found');
  const promocode = await findCodeByText(t.db, code);
  if (!promocode) throw activationRefused('not_found');
  const now = t.clock.now();
  const { hasUsedCode, recent } = await countActivations(t.db, userId, promocode.id, addDays(now, -1));
  const facts = {
    hasUsedCode,
    activationsToday: recent,
    hasHadPaid: user.hasHadPaid,
    hasActiveDiscount: user.discount.percent > 0 && !isDiscountOver(user.discount, now),
    hasSubscription: subscription !== null,
  };
  const refusal = activationRefusal(promocode, facts, now);
  if (refusal) throw activationRefused(refusal);
  // Decides between parallel users; the row stays locked until the commit.
  if (!(await takeUse(t.db, promocode.id))) throw activationRefused('used');
  const countsAsPaid = promocode.type === 'subscription_days';
  await recordUse(t.db, { userId, promocodeId: promocode.id, code: promocode.code, countsAsPaid, now });
  const sentences = await giveEffects(t, { promocode, userId, user, subscription });
  const credited = promocode.type === 'balance' ? promocode.balanceBonusKopeks : 0;
  return {
    balanceBeforeKopeks: user.balanceKopeks,
    balanceAfterKopeks: user.balanceKopeks + credited,
    bonusDescription: sentences.length > 0 ? sentences.join('\n') : null,
  };
}
