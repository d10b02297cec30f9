import type { App } from '../../../core/app.ts';
import { type AppError, refuse } from '../../../core/errors.ts';
import { text } from '../../messaging/texts.ts';

/** Refusals of promo offers; English sentences are literal (spec 04 section 9). */

export const offerNotFoundWeb = () => refuse('promo_offer_not_found', 404, 'Promo offer not found');
export const webTemplateNotFound = () => refuse('promo_offer_template_not_found', 404, 'Promo offer template not found');
export const adminTemplateNotFound = () => refuse('promo_offer_template_not_found', 404, 'Template not found');

export const userNotFound = (by: '' | ' by messenger_id' | ' by email' = '') =>
  refuse('user_not_found', 404, `User not found${by}`);
export const userMismatch = (field: 'messenger_id' | 'email') =>
  refuse('user_mismatch', 400, `Provided user_id does not match ${field}`);
export const userRequired = () => refuse('user_required', 400, 'user_id or messenger_id is required');
export const filterMismatch = () => refuse('user_mismatch', 400, 'messenger_id does not match the provided user_id');
export const subscriptionNotFound = () => refuse('subscription_not_found', 404, 'Subscription not found');
export const subscriptionForeign = () => refuse('subscription_foreign', 400, 'Subscription does not belong to the user');
export const mustNotBeEmpty = (field: 'notification_type' | 'effect_type') =>
  refuse(`${field}_empty`, 400, `${field} must not be empty`);

export const noRecipients = () => refuse('no_recipients', 400, 'No recipients: specify target or user');

/** Sentences that the Web API gives in the service's language. */
export function webBroadcastRefused(app: App, key: 'offer_no_audience' | 'offer_one_subscription'): AppError {
  return refuse(key, 400, text(app.settings.get('DEFAULT_LANGUAGE'), `promo.${key}`));
}

const CLAIM_TEXTS = {
  already_claimed: 'This offer has already been claimed',
  expired: 'This offer has expired',
  invalid: 'Invalid offer',
  no_subscription: 'Active subscription required for this offer',
  no_squads: 'Could not determine servers for test access',
  already_connected: 'These servers are already connected',
} as const;

export type ClaimRefusal = keyof typeof CLAIM_TEXTS;

/** 404 for an offer that is not there or not the claimer's, else 400 (spec 04 section 9.5). */
export function claimRefused(reason: ClaimRefusal | 'not_found'): AppError {
  if (reason === 'not_found') return refuse('offer_not_found', 404, 'Offer not found');
  return refuse(`offer_${reason}`, 400, CLAIM_TEXTS[reason]);
}
