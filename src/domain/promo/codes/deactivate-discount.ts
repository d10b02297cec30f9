import type { AdminActor, UserActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { refusal } from '../../../core/errors.ts';
import { userNotFound } from '../../identity/errors.ts';
import { setDiscount } from '../../identity/promo-account.ts';
import { leavePromoGroup } from '../../promo-groups/memberships.ts';
import { deleteUse, lockRedeemer } from './redeem-repo.ts';
import { codeOfSource, isDiscountExpired } from './rules.ts';
import type { PersonalDiscount } from './types.ts';

const userNotFoundRefusal = refusal('user_not_found', 400, 'User not found');
const discountExpired = refusal('discount_expired', 400, 'Discount has already expired');
export const noDiscount = refusal('no_discount', 400, 'No active discount promo code found');

export interface DeactivatedDiscount {
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
