import type { App } from '../../../core/app.ts';
import { type AppError, refuse } from '../../../core/errors.ts';
import { type TextKey, text } from '../../messaging/texts.ts';

type Refusal =
  | 'already_partner'
  | 'already_pending'
  | 'user_missing'
  | 'application_not_found'
  | 'application_processed'
  | 'not_partner'
  | 'campaign_not_found'
  | 'campaign_taken'
  | 'campaign_not_assigned';

/** A refusal to an administrator, in the language of the installation (spec 04 section 3.3, "RU"). */
export function partnerRefusal(app: App, status: 400 | 404, reason: Refusal): AppError {
  return applicantRefusal(app.settings.get('DEFAULT_LANGUAGE'), reason, status);
}

/** The same to the user, in the user's language. */
export function applicantRefusal(language: string | null, reason: Refusal, status: 400 | 404 = 400): AppError {
  return refuse(reason, status, text(language, `partners.${reason}` satisfies TextKey));
}
