import type { App } from '../../../core/app.ts';
import { addMs, HOUR_MS } from '../../../core/clock.ts';
import { formatPrice } from '../../../core/money.ts';
import { setDiscount } from '../../identity/promo-account.ts';
import { postMovement } from '../../ledger/post-movement.ts';
import { text } from '../../messaging/texts.ts';
import { joinPromoGroup, nameOfPromoGroup } from '../../promo-groups/memberships.ts';
import { grantDays } from '../../subscriptions/grant-days.ts';
import { grantTrial } from '../../subscriptions/grant-subscription.ts';
import type { Subscription } from '../../subscriptions/types.ts';
import type { Redeemer } from './redeem-repo.ts';
import { discountSource } from './rules.ts';
import type { Promocode } from './types.ts';

export interface Activation {
  promocode: Promocode;
  userId: number;
  user: Redeemer;
  /** The locked subscription. */
  subscription: Subscription | null;
}

/**
 * Gives the effects of a code, in the transaction of its use (spec 04 section 7.1): money through the ledger, days through the
 * subscription. The panel is updated after the commit.
 * @returns one sentence per effect, in the user's language
 */
export async function giveEffects(t: App, activation: Activation): Promise<string[]> {
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
      // The use counts even when the user has a subscription already (spec 04 section 7.1).
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

/** A deposit without payment method is a bonus (spec 04 section 0.2). */
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
