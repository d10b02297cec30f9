import type { App } from '../../core/app.ts';
import { addMs, MINUTE_MS } from '../../core/clock.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { isAppError } from '../../core/errors.ts';
import { dropIfSame, put, take } from '../../core/short-lived.ts';
import { renewEndedFrom } from './autopay/renew-due.ts';
import { resumeDailyFrom } from './daily.ts';
import type { SavableOrder } from './order.ts';
import { InsufficientFundsError } from './purchase/insufficient-funds.ts';
import { lockSaleStart } from './purchase/repo.ts';
import type { SaleNeeds, SaleStart } from './purchase/types.ts';
import { purchaseClassicInTransaction } from './purchase-classic.ts';
import { purchaseDevicesInTransaction } from './purchase-devices.ts';
import { purchaseTariffInTransaction } from './purchase-tariff.ts';
import { purchaseTrafficInTransaction } from './purchase-traffic.ts';
import { RENEWAL_NEEDS, sellRenewal } from './renew-subscription.ts';
import { cartKey, notifyOrderBought, notifyOrderRefused, notifySavedOrder, orderOfCart } from './saved-cart.ts';
import type { SavedCart } from './types.ts';

/** A payment within this time counts as the same purchase, made just before (spec 03 section 2.2, step 6; spec 02 H13). */
const REPEAT_WINDOW_MS = MINUTE_MS;

/** The saved orders that are not bought automatically after a payment within that time. */
const NOT_REPEATED: ReadonlySet<SavableOrder['kind'] | undefined> = new Set(['renewal', 'tariff'] as const);

/** Marks the top-up as spent, in the transaction that spends it. @returns false when that was done before */
export type ClaimTopup = (t: App) => Promise<boolean>;

/**
 * What a new balance is used for, first match wins (spec 02 section 6): a stopped daily subscription is resumed; a saved order is
 * bought when the operator has switched that on, else its owner is notified whether the balance covers it; without an order, autopay renews
 * a subscription that ended recently.
 *
 * All of it is one transaction under the locks of the user and the subscription, with the mark of the top-up: after a crash
 * either nothing is done or the top-up is not spent again, and a passing fault leaves the order for the next run. When a subscription was
 * paid for within the last minute, by its owner or by another top-up, nothing is bought that would pay for it once more: the saved order
 * stays, and its owner is notified that it waits for confirmation.
 */
export async function spendTopup(app: App, userId: number, claim: ClaimTopup = async () => true): Promise<void> {
  const attempt: { order: SavedCart | null } = { order: null };
  try {
    await inTransaction(app, async (t) => {
      attempt.order = null;
      const start = await lockSaleStart(t.db, userId, topupNeeds(userId, t.clock.now()));
      if (start && (await claim(t))) await spend(t, start, attempt);
    });
  } catch (error) {
    if (attempt.order === null || !isAppError(error)) throw error;
    app.log.info({ userId, cartMode: attempt.order.cart_mode, code: error.code }, 'a saved order was not bought after a top-up');
    await settleRefusal(
      app,
      userId,
      { order: attempt.order, repriced: error instanceof InsufficientFundsError ? error.cart : null },
      claim,
    );
  }
}

/** Answer of `topup_facts()` in prisma/sql/spend-topup.sql. */
interface TopupFacts {
  paid_recently: boolean;
  is_stopped: boolean;
  cart: SavedCart | null;
}

function topupNeeds(userId: number, now: Date): SaleNeeds {
  const reads = {
    sql: 'topup_facts($10::int, $11, $12::timestamptz, $13::timestamptz)',
    values: [userId, cartKey(userId), addMs(now, -REPEAT_WINDOW_MS), now],
  };
  return { ...RENEWAL_NEEDS, reads };
}

/**
 * @param start with `topupNeeds`; nothing is bought twice from it
 * @param attempt receives the order before it is bought, so that a later refusal is known to concern it
 */
async function spend(t: App, start: SaleStart, attempt: { order: SavedCart | null }): Promise<void> {
  const { paid_recently: isRepeat, is_stopped: isStopped, cart } = start.read as TopupFacts;
  if (!isRepeat && (await resumeDailyFrom(t, start, isStopped))) return;
  if (cart === null) {
    if (!isRepeat) await renewEndedFrom(t, start);
    return;
  }
  if (cart.total_price <= 0) return;
  const isBought =
    t.settings.get('AUTO_PURCHASE_AFTER_TOPUP_ENABLED') && !(isRepeat && NOT_REPEATED.has(orderOfCart(cart)?.kind));
  if (isBought) await buySaved(t, start, attempt);
  else await notifySavedOrder(t, start.buyer, cart);
}

/**
 * Removes the saved order and buys it. One that can never be bought is only removed, and its owner is notified.
 * @throws AppError the refusal of the purchase; its rollback restores the saved order
 */
async function buySaved(t: App, start: SaleStart, attempt: { order: SavedCart | null }): Promise<void> {
  const { buyer, subscription } = start;
  const cart = await take<SavedCart>(t, cartKey(buyer.id));
  if (cart === null) return;
  const order = orderOfCart(cart);
  const isForAnother = cart.cart_mode === 'extend' && cart.subscription_id !== subscription?.id;
  if (order === null || isForAnother || subscription?.status === 'disabled') return notifyOrderRefused(t, buyer, cart);
  attempt.order = cart;
  await purchase(t, start, order);
  await notifyOrderBought(t, buyer, cart);
}

/** The purchase that the owner asked for, at the present price and by the present rules. */
function purchase(t: App, start: SaleStart, order: SavableOrder): Promise<unknown> {
  const userId = start.buyer.id;
  switch (order.kind) {
    case 'renewal':
      return sellRenewal(t, start, order);
    case 'tariff':
      return purchaseTariffInTransaction(t, userId, order);
    case 'devices':
      return purchaseDevicesInTransaction(t, userId, order);
    case 'traffic':
      return purchaseTrafficInTransaction(t, userId, order);
    case 'classic':
      return purchaseClassicInTransaction(t, userId, order);
  }
}

/**
 * After the refused purchase is rolled back: an order for which only money is missing stays saved at its present price, and its owner is
 * notified of the missing amount; any other is deleted, and its owner is notified. One that its owner has bought or replaced meanwhile is
 * not touched: the locks are taken again, and what was bought must not be saved again.
 */
function settleRefusal(
  app: App,
  userId: number,
  { order, repriced }: { order: SavedCart; repriced: SavedCart | null },
  claim: ClaimTopup,
): Promise<void> {
  return inTransaction(app, async (t) => {
    const start = await lockSaleStart(t.db, userId);
    if (!start || !(await claim(t))) return;
    if (!(await dropIfSame(t, cartKey(userId), order))) return;
    if (repriced === null) return notifyOrderRefused(t, start.buyer, order);
    await put(t, cartKey(userId), repriced, t.settings.get('CART_TTL_SECONDS'));
    await notifySavedOrder(t, start.buyer, repriced);
  });
}
