/** Every refusal of a purchase that the balance does not cover. The bodies differ by operation, as documented; all amounts are kopeks. */

import type { UserActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { AppError, refusal } from '../../../core/errors.ts';
import { formatPrice, rublesOf } from '../../../core/money.ts';
import { userNotFound } from '../../identity/errors.ts';
import { text } from '../../messaging/texts.ts';
import type { SavedCart, Subscription, SubscriptionChanges } from '../types.ts';
import { type BuyerDetails, findBuyerDetails } from './repo.ts';
import type { Buyer } from './types.ts';

export const insufficientFundsRefusal = refusal('insufficient_funds', 402, {
  code: 'insufficient_funds',
  message: 'Not enough money on the balance. <n> ₽ is missing.',
  missing_amount: 1,
});

export const insufficientFundsWithCart = refusal('insufficient_funds', 402, {
  code: 'insufficient_funds',
  message: 'Not enough money on the balance. <n> ₽ is missing.',
  missing_amount: 1,
  cart_saved: true,
  cart_mode: 'extend',
});

/** The price, and the part of it that the balance does not cover; kopeks. */
export interface MissingFunds {
  requiredKopeks: number;
  missingKopeks: number;
}

/** Builds the refusal of one operation. */
export type InsufficientFundsRefusal = (t: App, buyer: Buyer, missing: MissingFunds) => AppError;

/**
 * The refusal of an order that can be saved for a later top-up: 402 with `cart_saved` and `cart_mode`. It rolls the purchase back, so the
 * cart is saved by `keepCartOnRefusal` afterwards, in a transaction of its own (spec 02 section 5.15).
 */
export class InsufficientFundsError extends AppError {
  readonly cart: SavedCart;

  /** @param more further documented keys of one operation */
  constructor(message: string, missingKopeks: number, cart: SavedCart, more: Record<string, unknown> = {}) {
    super(insufficientFundsWithCart.code, insufficientFundsWithCart.status, {
      code: 'insufficient_funds',
      message,
      missing_amount: missingKopeks,
      cart_saved: true,
      cart_mode: cart.cart_mode,
      ...more,
    });
    this.name = 'InsufficientFundsError';
    this.cart = cart;
  }
}

/**
 * The usual refusal, 402 `{code: 'insufficient_funds', message, missing_amount}` (spec 02 sections 5.2, 5.3, 5.9 and 5.10).
 * @param cart the order to save for a later top-up; null = nothing is saved
 */
export function insufficientFunds(
  t: App,
  buyer: Pick<Buyer, 'language'>,
  missingKopeks: number,
  cart: SavedCart | null,
): AppError {
  const message = insufficientFundsMessage(t, buyer, missingKopeks);
  if (cart !== null) return new InsufficientFundsError(message, missingKopeks, cart);
  return insufficientFundsRefusal({ detail: { code: 'insufficient_funds', message, missing_amount: missingKopeks } });
}

/** How much is missing, as a sentence in the user's language; previews show it before anything is refused. */
export function insufficientFundsMessage(app: App, buyer: Pick<Buyer, 'language'>, missingKopeks: number): string {
  return text(buyer.language, 'errors.insufficient_funds', { missing: priceLabel(app, missingKopeks) });
}

/** Devices: the usual refusal with further names for the same amounts (spec 02 section 5.5). */
export function insufficientFundsForDevices(buyer: Buyer, requiredKopeks: number, cart: SavedCart): InsufficientFundsError {
  const error = 'Insufficient balance';
  const missingKopeks = cart.missing_amount;
  return new InsufficientFundsError(error, missingKopeks, cart, {
    error,
    required_kopeks: requiredKopeks,
    current_kopeks: buyer.balanceKopeks,
    missing_kopeks: missingKopeks,
  });
}

/** Another traffic package: 402 with a sentence alone (spec 02 section 5.4). */
export const insufficientFundsForTrafficSwitch = refusal(
  'insufficient_funds',
  402,
  'Insufficient balance. Need <n> RUB',
  (requiredKopeks: number) => ({ detail: needSentence(requiredKopeks) }),
);

/** Servers in the middle of a period: 402 with both amounts in a sentence (spec 02 section 5.13). */
export const insufficientFundsForServers = refusal(
  'insufficient_funds',
  402,
  'Insufficient balance. Need <n> RUB, have <n> RUB',
  (requiredKopeks: number, balanceKopeks: number) => ({
    detail: `${needSentence(requiredKopeks)}, have ${rublesOf(balanceKopeks).toFixed(2)} RUB`,
  }),
);

/** A day of a daily tariff: 402 `{code: 'insufficient_balance', message, required, balance}` (spec 02 section 5.12). */
export const insufficientFundsForDay = refusal(
  'insufficient_balance',
  402,
  { code: 'insufficient_balance', message: 'Resuming takes <n> ₽; the balance is <n> ₽.', required: 1, balance: 1 },
  (t: App, buyer: Buyer, requiredKopeks: number) => ({
    detail: {
      code: 'insufficient_balance',
      message: text(buyer.language, 'errors.insufficient_balance_daily', {
        required: priceLabel(t, requiredKopeks),
        balance: priceLabel(t, buyer.balanceKopeks),
      }),
      required: requiredKopeks,
      balance: buyer.balanceKopeks,
    },
  }),
);

/** The fee of a trial in the cabinet: 400 with a sentence alone (spec 02 section 5.7). */
export const insufficientFundsForTrial = refusal(
  'insufficient_funds',
  400,
  'Insufficient balance. Need <n> RUB',
  (_t: App, _buyer: Buyer, { requiredKopeks }: MissingFunds) => ({ detail: needSentence(requiredKopeks) }),
);

/** The fee of a trial in the mini-app: 402 with all three amounts (spec 02 section 12.2). */
export const insufficientFundsForMiniappTrial = refusal(
  'insufficient_funds',
  402,
  {
    code: 'insufficient_funds',
    message: 'Not enough money on the balance. <n> ₽ is missing.',
    missing_amount_kopeks: 1,
    required_amount_kopeks: 1,
    balance_kopeks: 1,
  },
  (t: App, buyer: Buyer, { requiredKopeks, missingKopeks }: MissingFunds) => ({
    detail: {
      code: 'insufficient_funds',
      message: insufficientFundsMessage(t, buyer, missingKopeks),
      missing_amount_kopeks: missingKopeks,
      required_amount_kopeks: requiredKopeks,
      balance_kopeks: buyer.balanceKopeks,
    },
  }),
);

/** Traffic in the mini-app: 402 `{code: 'insufficient_balance', message, required, balance}`. */
export const insufficientFundsForMiniappTraffic = refusal(
  'insufficient_balance',
  402,
  {
    code: 'insufficient_balance',
    message: 'Not enough money on the balance. <n> ₽ is missing.',
    required: 1,
    balance: 1,
  },
  (t: App, buyer: Buyer, { requiredKopeks, missingKopeks }: MissingFunds) => ({
    detail: {
      code: 'insufficient_balance',
      message: insufficientFundsMessage(t, buyer, missingKopeks),
      required: requiredKopeks,
      balance: buyer.balanceKopeks,
    },
  }),
);

/** In the mini-app: the refusal of the operation itself, with another name for the amount. */
export const insufficientFundsInMiniapp = refusal(
  'insufficient_funds',
  402,
  { code: 'insufficient_funds', message: 'Insufficient balance', missing_amount_kopeks: 1 },
  ({ message, cart }: InsufficientFundsError) => ({
    detail: {
      code: 'insufficient_funds',
      message,
      missing_amount_kopeks: cart.missing_amount,
    },
  }),
);

function needSentence(requiredKopeks: number): string {
  return `Insufficient balance. Need ${rublesOf(requiredKopeks).toFixed(2)} RUB`;
}

function priceLabel(app: App, kopeks: number): string {
  return formatPrice(kopeks, app.settings.get('PRICE_ROUNDING_ENABLED'));
}

/** The user of a request with promo group and subscription, without a lock. @throws AppError 404 'User not found' */
export async function requireBuyerDetails(app: App, actor: UserActor): Promise<BuyerDetails> {
  const found = await findBuyerDetails(app.db, actor.userId);
  if (!found) throw userNotFound();
  return found;
}

export const noServers = refusal('no_servers', 400, {
  code: 'no_servers',
  message: 'No servers are available for this purchase',
});

/** The text where a sale would give no server. */
export const NO_SERVERS = 'No servers are available for this purchase';

/**
 * Refuses a sale after which the subscription would have no server, before any money moves (08 P5).
 * @param subscription before the sale; null = a new one
 * @throws AppError 400 no_servers
 */
export function requireServers(subscription: Pick<Subscription, 'connectedSquads'> | null, changes: SubscriptionChanges): void {
  const squads = changes.connectedSquads ?? subscription?.connectedSquads ?? [];
  if (squads.length === 0) throw noServers({ detail: { code: 'no_servers', message: NO_SERVERS } });
}
