import type { UserActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { setDiscount } from '../../identity/promo-account.ts';
import { findPrimaryPromoGroup } from '../../promo-groups/find-groups.ts';
import type { PromoGroup } from '../../promo-groups/types.ts';
import { findDiscount, lockRedeemer } from '../codes/redeem-repo.ts';
import { isDiscountExpired } from '../codes/rules.ts';
import type { PersonalDiscount } from '../codes/types.ts';

/** The personal discount at this moment: percent 0 once it has expired (spec 04 section 9.5). */
export async function readActiveDiscount(app: App, actor: UserActor): Promise<PersonalDiscount & { isActive: boolean }> {
  const discount = await findDiscount(app.db, actor.userId);
  if (!discount) return { percent: 0, source: null, expiresAt: null, isActive: false };
  const percent = isDiscountExpired(discount, app.clock.now()) ? 0 : discount.percent;
  return { ...discount, percent, isActive: percent > 0 };
}

/** Clears the discount of any source; the use of a promo code stays counted (spec 04 section 9.5). */
export async function clearActiveDiscount(app: App, actor: UserActor): Promise<void> {
  await inTransaction(app, async (t) => {
    if (!(await lockRedeemer(t.db, actor.userId))) return;
    await setDiscount(t.db, actor.userId, { percent: 0, source: null, expiresAt: null }, t.clock.now());
  });
}

/** The user's primary promo group; null without one. */
export function readMyGroup(app: App, actor: UserActor): Promise<PromoGroup | null> {
  return findPrimaryPromoGroup(app.db, actor.userId);
}
