import type { AdminActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { type AppError, type Refusal, refusal } from '../../../core/errors.ts';
import { formatPrice } from '../../../core/money.ts';
import { text, translatedRefusal } from '../../messaging/texts.ts';
import { findReferralUser } from '../repo.ts';
import type { AmountRefusal, RequestRefusal } from './rules.ts';

/** Refusals to a user in the user's language, to an administrator in the language of the administrator's account. */
export const withdrawalNotPending = translatedRefusal('withdrawal_not_pending', 400, 'errors.withdrawal_not_pending');
export const withdrawalNotFound = translatedRefusal('withdrawal_not_found', 404, 'errors.withdrawal_not_found');
export const withdrawalProcessed = translatedRefusal('withdrawal_processed', 400, 'errors.withdrawal_processed');
export const withdrawalNotApproved = translatedRefusal('withdrawal_not_approved', 400, 'errors.withdrawal_not_approved');
export const withdrawalUserMissing = translatedRefusal('withdrawal_user_missing', 400, 'errors.withdrawal_user_missing');
export const withdrawalBalanceLow = translatedRefusal('withdrawal_balance_low', 400, 'errors.withdrawal_balance_low');
export const withdrawalSecondApprover = translatedRefusal('withdrawal_second_approver', 400, 'errors.withdrawal_second_approver');
/** A decision on one of them. */
export const decidedWithdrawalNotFound = translatedRefusal('withdrawal_not_found', 400, 'errors.withdrawal_not_found');

/** Why none can be requested; the sentences have amounts. */
export const REQUEST_REFUSALS: Readonly<Record<(RequestRefusal | AmountRefusal)['reason'], Refusal>> = {
  withdrawal_off: refusal('withdrawal_off', 400, text('en', 'errors.withdrawal_off')),
  withdrawal_below_minimum: refusal('withdrawal_below_minimum', 400, 'Minimum withdrawal: <n> ₽. Available: <n> ₽.'),
  withdrawal_cooldown: refusal('withdrawal_cooldown', 400, 'The next request can be made in <n> d.'),
  withdrawal_pending: refusal('withdrawal_pending', 400, text('en', 'errors.withdrawal_pending')),
  withdrawal_exceeds_available: refusal('withdrawal_exceeds_available', 400, 'The amount exceeds what is available: <n> ₽'),
  withdrawal_exceeds_referral: refusal('withdrawal_exceeds_referral', 400, 'Only referral earnings can be withdrawn: <n> ₽'),
};

/** Why a user cannot request a withdrawal, as a sentence in this language. */
export function describeRefusal(app: App, language: string, refusal: RequestRefusal | AmountRefusal): string {
  const label = (kopeks: number) => formatPrice(kopeks, app.settings.get('PRICE_ROUNDING_ENABLED'));
  switch (refusal.reason) {
    case 'withdrawal_below_minimum':
      return text(language, 'errors.withdrawal_below_minimum', {
        minimum: label(refusal.minimumKopeks),
        available: label(refusal.availableKopeks),
      });
    case 'withdrawal_cooldown':
      return text(language, 'errors.withdrawal_cooldown', { days: refusal.days });
    case 'withdrawal_exceeds_available':
    case 'withdrawal_exceeds_referral':
      return text(language, `errors.${refusal.reason}`, { available: label(refusal.availableKopeks) });
    default:
      return text(language, `errors.${refusal.reason}`);
  }
}

export function requestRefused(app: App, language: string, why: RequestRefusal | AmountRefusal): AppError {
  return REQUEST_REFUSALS[why.reason]({ detail: describeRefusal(app, language, why) });
}

/** The refusal in the language of the administrator's account. */
export async function refusedToAdmin(
  app: App,
  actor: AdminActor,
  declared: Refusal<[language: string | null | undefined]>,
): Promise<AppError> {
  const admin = await findReferralUser(app.db, actor.userId);
  return declared(admin?.language ?? app.settings.get('DEFAULT_LANGUAGE'));
}
