import type { AdminActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { type AppError, refuse } from '../../../core/errors.ts';
import { formatPrice } from '../../../core/money.ts';
import { text } from '../../messaging/texts.ts';
import { findReferralUser } from '../repo.ts';
import type { AmountRefusal, RequestRefusal } from './rules.ts';

/** Refusals without values; the names are those of the texts. */
type PlainReason =
  | 'withdrawal_not_found'
  | 'withdrawal_not_pending'
  | 'withdrawal_processed'
  | 'withdrawal_not_approved'
  | 'withdrawal_user_missing'
  | 'withdrawal_balance_low'
  | 'withdrawal_second_approver';

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

export function requestRefused(app: App, language: string, refusal: RequestRefusal | AmountRefusal): AppError {
  return refuse(refusal.reason, 400, describeRefusal(app, language, refusal));
}

/** A refusal to a user, in the user's language. */
export function withdrawalRefused(language: string | null, reason: PlainReason, status: 400 | 404 = 400): AppError {
  return refuse(reason, status, text(language, `errors.${reason}`));
}

/** A refusal to an administrator, in the language of the administrator's account. */
export async function refusedToAdmin(
  app: App,
  actor: AdminActor,
  reason: PlainReason,
  status: 400 | 404 = 400,
): Promise<AppError> {
  const admin = await findReferralUser(app.db, actor.userId);
  return withdrawalRefused(admin?.language ?? app.settings.get('DEFAULT_LANGUAGE'), reason, status);
}
