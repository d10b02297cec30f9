import type { App } from '../../../core/app.ts';
import { isAppError, refusal } from '../../../core/errors.ts';
import { deactivated, unauthorized } from '../errors.ts';
import { findById } from '../repo.ts';
import { openSession, type SignIn } from '../sessions/open-session.ts';
import { peekSignIn, takeSignIn } from './stored-sign-in.ts';

const userUnknown = unauthorized('user_not_found', 'User not found');

export const signInGone = refusal('sign_in_gone', 410, 'Token expired or not found');
export const signInPending = refusal('sign_in_pending', 202, 'Waiting for confirmation');
const signInStateInvalid = refusal('sign_in_state_invalid', 410, 'Invalid token state');
const signInConsumed = refusal('sign_in_consumed', 410, 'Token already consumed');
const signInDataInvalid = refusal('sign_in_data_invalid', 500, 'Invalid token data');

/**
 * Checks whether a sign-in has been confirmed in the bot; the first poll after that gets the session (spec 01 section 5.4).
 * @throws AppError 202 'Waiting for confirmation' | 410 | 500 'Invalid token data' | 401 'User not found' | 403 'Account is deactivated'
 */
export async function pollDeepLink(app: App, token: string): Promise<SignIn> {
  const seen = await peekSignIn(app, token);
  if (!seen) throw signInGone();
  // No failure: the contract answers a poll before the confirmation with 202 and a detail.
  if (seen.status === 'pending') throw signInPending();
  if (seen.status !== 'linked') throw signInStateInvalid();
  const taken = await takeSignIn(app, token);
  if (taken?.status !== 'linked') throw signInConsumed();
  if (!Number.isInteger(taken.user_id)) throw signInDataInvalid();
  const user = await findById(app.db, taken.user_id);
  if (!user) throw userUnknown();
  if (user.status !== 'active') throw deactivated();
  try {
    return await openSession(app, user.id, { deviceInfo: 'deep_link' });
  } catch (error) {
    throw isAppError(error) && error.status === 403 ? deactivated() : error;
  }
}
