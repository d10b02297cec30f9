import { type DeclaredRefusal, refusal } from '../../../core/errors.ts';
import { formatPrice } from '../../../core/money.ts';
import { idempotencyKeyInUse } from '../../ledger/run-once.ts';
import { landingNotFound } from '../landings/landings.ts';

/** Refusals of purchases without an account; the texts are the literal ones of spec 03 section 7.2. */
export const giftsOff = refusal('landing_gifts_off', 400, 'Gift purchases are not enabled for this landing page');
export const methodNotOnLanding = refusal(
  'landing_method_unavailable',
  400,
  'Payment method is not available on this landing page',
);
export const tariffNotOnLanding = refusal('landing_tariff_unavailable', 400, 'Tariff is not available on this landing page');
export const tariffInactive = refusal('tariff_inactive', 400, 'Tariff not found or inactive');
export const tariffWithoutServers = refusal('no_servers', 400, {
  code: 'no_servers',
  message: 'No servers are available for this purchase',
});
export const tariffNotForGifts = refusal('tariff_not_for_gifts', 400, 'This tariff is not available for gift purchases');
export const periodNotOnLanding = refusal(
  'landing_period_unavailable',
  400,
  'Period is not available for this tariff on this landing page',
);
export const periodUnavailable = refusal('period_unavailable', 400, 'Period is not available for this tariff');
export const priceMissing = refusal('price_missing', 400, 'Price is not configured for this period');
export const belowMinimum = refusal(
  'amount_below_minimum',
  400,
  'Amount is below the minimum (<n>) for this payment method',
  (kopeks: number) => ({ detail: `Amount is below the minimum (${formatPrice(kopeks, false)}) for this payment method` }),
);
export const aboveMaximum = refusal(
  'amount_above_maximum',
  400,
  'Amount exceeds the maximum (<n>) for this payment method',
  (kopeks: number) => ({ detail: `Amount exceeds the maximum (${formatPrice(kopeks, false)}) for this payment method` }),
);
export const providerUnavailable = refusal(
  'provider_unavailable',
  502,
  'Payment provider is unavailable, please try again later',
  (cause?: unknown) => ({ cause }),
);
export const providerAnswerInvalid = refusal(
  'provider_answer_invalid',
  502,
  'Payment provider returned an invalid response',
  (cause: unknown) => ({ cause }),
);

/** With what the start of a purchase on a page is refused. */
export const LANDING_PURCHASE_REFUSES: readonly DeclaredRefusal[] = [
  landingNotFound,
  giftsOff,
  methodNotOnLanding,
  tariffNotOnLanding,
  tariffInactive,
  tariffNotForGifts,
  tariffWithoutServers,
  periodNotOnLanding,
  periodUnavailable,
  priceMissing,
  belowMinimum,
  aboveMaximum,
  idempotencyKeyInUse,
  providerUnavailable,
  providerAnswerInvalid,
];

export const purchaseNotFound = refusal('purchase_not_found', 404, 'Purchase not found');
export const notPendingActivation = refusal('purchase_not_pending', 400, 'Purchase is not pending activation');
export const tariffGone = refusal('purchase_tariff_gone', 500, 'Tariff not found');
export const noUserLinked = refusal('purchase_without_user', 500, 'No user linked to purchase');
export const linkedUserGone = refusal('purchase_user_gone', 500, 'User not found');
export const activationFailed = refusal('activation_failed', 500, 'Activation failed, please try again', (cause: unknown) => ({
  cause,
}));

/** A running subscription would be replaced, and the token alone is no consent (spec 03 H22). */
export const signInToActivate = refusal(
  'activation_needs_sign_in',
  401,
  'Sign in as the recipient to replace the current subscription',
  () => ({ headers: { 'WWW-Authenticate': 'Bearer' } }),
);
export const notTheRecipient = refusal(
  'activation_not_recipient',
  403,
  'Only the recipient can replace the current subscription',
);
