import type { App } from '../../core/app.ts';
import { addMs, MINUTE_MS } from '../../core/clock.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { isAppError } from '../../core/errors.ts';
import { dropIfSame, put, take } from '../../core/short-lived.ts';
import { renewEnded } from './autopay/renew-due.ts';
import { resumeDaily } from './daily/charge-days.ts';
import { InsufficientFundsError } from './purchase/insufficient-funds.ts';
import { hasPaidSince, lockSaleStart } from './purchase/repo.ts';
import type { SaleStart } from './purchase/types.ts';
import { sellClassic } from './purchase-classic.ts';
import { purchaseDevicesInTransaction } from './purchase-devices.ts';
import { sellTariff } from './purchase-tariff.ts';
import { purchaseTrafficInTransaction } from './purchase-traffic.ts';
import { sellRenewal } from './renew-subscription.ts';
import { cartKey, readCart } from './saved-cart.ts';
import { tellBought, tellCart, tellRefused } from './tell-saved-order.ts';
import type { SavedCart } from './types.ts';

/** A payment as young as this is taken for the same wish, carried out a moment ago (spec 03 section 2.2, step 6; spec 02 H13). */
const SAME_WISH_MS = MINUTE_MS;

/** The saved orders that a payment within that time holds back. */
const HELD_BACK: ReadonlySet<SavedCart['cart_mode']> = new Set(['extend', 'tariff_purchase', 'daily_tariff_purchase']);

/** Marks the top-up as spent, in the transaction that spends it. @returns false when that was done before */
export type ClaimTopup = (t: App) => Promise<boolean>;

/**
 * What a new balance is used for, first match wins (spec 02 section 6): a daily subscription that stopped goes on; a saved order is
 * bought when the operator wants that, else its owner hears how it stands; without an order, autopay renews what ended a while ago.
 *
 * All of it is one transaction under the locks of the user and the subscription, with the mark of the top-up: a crash leaves either
 * nothing or a top-up that is not spent again, and a fault of the moment leaves the order for the next run. A subscription paid for
 * within a minute, by its owner or by another top-up, holds back everything that would buy it once more: the saved order stays, and
 * its owner hears that it waits to be confirmed.
 */
export async function spendTopup(app: App, userId: number, claim: ClaimTopup = async () => true): Promise<void> {
  const attempt: { order: SavedCart | null } = { order: null };
  try {
    await inTransaction(app, async (t) => {
      attempt.order = null;
      const start = await lockSaleStart(t.db, userId);
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

/** @param attempt is told of the order before it is sold, so that a refusal is known for one of it */
async function spend(t: App, start: SaleStart, attempt: { order: SavedCart | null }): Promise<void> {
  const userId = start.buyer.id;
  const isRepeat = await hasPaidSince(t.db, userId, addMs(t.clock.now(), -SAME_WISH_MS));
  if (!isRepeat && (await resumeDaily(t, userId))) return;
  const cart = await readCart(t, userId);
  if (cart === null) {
    if (!isRepeat) await renewEnded(t, userId);
    return;
  }
  if (cart.total_price <= 0) return;
  const isWanted = t.settings.get('AUTO_PURCHASE_AFTER_TOPUP_ENABLED') && !(isRepeat && HELD_BACK.has(cart.cart_mode));
  if (isWanted) await buySaved(t, start, attempt);
  else await tellCart(t, start.buyer, cart);
}

/**
 * Takes the order away and sells it. One that can never be carried out is only taken away, and its owner hears that.
 * @throws AppError the sale's refusal; the order stands again once that is rolled back
 */
async function buySaved(t: App, { buyer, subscription }: SaleStart, attempt: { order: SavedCart | null }): Promise<void> {
  const cart = await take<SavedCart>(t, cartKey(buyer.id));
  if (cart === null) return;
  const isForAnother = cart.cart_mode === 'extend' && cart.subscription_id !== subscription?.id;
  if (isForAnother || subscription?.status === 'disabled') return tellRefused(t, buyer, cart);
  attempt.order = cart;
  await sell(t, buyer.id, cart);
  await tellBought(t, buyer, cart);
}

/** The very sale that the owner asked for, at today's price and by today's rules. */
function sell(t: App, userId: number, cart: SavedCart): Promise<unknown> {
  switch (cart.cart_mode) {
    case 'extend':
      return sellRenewal(t, userId, { periodDays: cart.period_days });
    case 'tariff_purchase': {
      const { tariff_id: tariffId, period_days: periodDays, custom_traffic_gb: trafficGb } = cart;
      return sellTariff(t, userId, { tariffId, periodDays, trafficGb });
    }
    case 'daily_tariff_purchase':
      return sellTariff(t, userId, { tariffId: cart.tariff_id, periodDays: 1, trafficGb: null });
    case 'add_devices':
      return purchaseDevicesInTransaction(t, userId, cart.devices_to_add);
    case 'add_traffic':
      return purchaseTrafficInTransaction(t, userId, { gb: cart.traffic_gb });
    case 'subscription_purchase': {
      const { period_id: periodId, period_days: periodDays, traffic_gb: trafficGb, countries: squadUuids, devices } = cart;
      return sellClassic(t, userId, { periodId, periodDays, trafficGb, squadUuids, devices });
    }
  }
}

/**
 * After the refused sale is rolled back: an order that only lacks the money stays saved at its price of now, and its owner hears what
 * is missing; any other is sold no more and goes, and its owner hears that too. One that its owner has bought or replaced meanwhile is
 * left alone: the locks are taken anew, and what was bought must not be saved again.
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
    if (repriced === null) return tellRefused(t, start.buyer, order);
    await put(t, cartKey(userId), repriced, t.settings.get('CART_TTL_SECONDS'));
    await tellCart(t, start.buyer, repriced);
  });
}
