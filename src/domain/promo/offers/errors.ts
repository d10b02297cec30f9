import { type DeclaredRefusal, refusal } from '../../../core/errors.ts';
import { translatedRefusal } from '../../messaging/texts.ts';

/** Refusals of promo offers; English sentences are literal. */

export const offerNotFoundWeb = refusal('promo_offer_not_found', 404, 'Promo offer not found');
export const webTemplateNotFound = refusal('promo_offer_template_not_found', 404, 'Promo offer template not found');
export const adminTemplateNotFound = refusal('promo_offer_template_not_found', 404, 'Template not found');

export const recipientNotFound = refusal(
  'user_not_found',
  404,
  'User not found',
  (by: '' | ' by messenger_id' | ' by email' = '') => ({ detail: `User not found${by}` }),
);
export const userMismatch = refusal(
  'user_mismatch',
  400,
  'Provided user_id does not match messenger_id',
  (field: 'messenger_id' | 'email') => ({ detail: `Provided user_id does not match ${field}` }),
);
export const userRequired = refusal('user_required', 400, 'user_id or messenger_id is required');
export const filterMismatch = refusal('user_mismatch', 400, 'messenger_id does not match the provided user_id');
export const subscriptionNotFound = refusal('subscription_not_found', 404, 'Subscription not found');
export const subscriptionForeign = refusal('subscription_foreign', 400, 'Subscription does not belong to the user');
export const notificationTypeEmpty = refusal('notification_type_empty', 400, 'notification_type must not be empty');
export const effectTypeEmpty = refusal('effect_type_empty', 400, 'effect_type must not be empty');

export const noRecipients = refusal('no_recipients', 400, 'No recipients: specify target or user');

/** Sentences that the Web API gives in the service's language. */
export const offerNoAudience = translatedRefusal('offer_no_audience', 400, 'promo.offer_no_audience');
export const offerOneSubscription = translatedRefusal('offer_one_subscription', 400, 'promo.offer_one_subscription');

/** 404 for an offer that is not there or not the claimer's, else 400 (spec 04 section 9.5). */
export const CLAIM_REFUSALS = {
  not_found: refusal('offer_not_found', 404, 'Offer not found'),
  already_claimed: refusal('offer_already_claimed', 400, 'This offer has already been claimed'),
  expired: refusal('offer_expired', 400, 'This offer has expired'),
  invalid: refusal('offer_invalid', 400, 'Invalid offer'),
  no_subscription: refusal('offer_no_subscription', 400, 'Active subscription required for this offer'),
  no_squads: refusal('offer_no_squads', 400, 'Could not determine servers for test access'),
  already_connected: refusal('offer_already_connected', 400, 'These servers are already connected'),
};

/** With what a claim is refused. */
export const CLAIM_REFUSES: readonly DeclaredRefusal[] = Object.values(CLAIM_REFUSALS);

export type ClaimRefusal = Exclude<keyof typeof CLAIM_REFUSALS, 'not_found'>;
