import type { App } from '../../../core/app.ts';
import { addMs, HOUR_MS, SECOND_MS } from '../../../core/clock.ts';

import { putIfAbsent } from '../../../core/short-lived.ts';
import { deactivated, tokenPayloadInvalid, unauthorized } from '../errors.ts';
import { findCredentials } from '../repo.ts';
import { secretHash, signedPartHash } from '../rules.ts';
import { openSession, type SignIn } from '../sessions/sessions.ts';
import { signAutoLoginToken, userIdOf, verifyToken } from '../sessions/sign-tokens.ts';

const userUnknown = unauthorized('user_not_found', 'User not found');
const autoLoginTokenInvalid = unauthorized('auto_login_token_invalid', 'Invalid or expired auto-login token');

export const AUTO_LOGIN_REFUSES = [autoLoginTokenInvalid, deactivated];

const LIFE_MS = 72 * HOUR_MS;

/**
 * Creates a link token for a buyer whose account and password the purchase created (spec 01 section 2.1): valid for 72 hours, for one
 * sign-in and for this password only. May join the transaction that creates the account.
 */
export async function issueAutoLoginToken(t: App, userId: number): Promise<string> {
  const credentials = await findCredentials(t.db, userId);
  return signAutoLoginToken(t, userId, passwordMark(credentials?.passwordHash ?? null), addMs(t.clock.now(), LIFE_MS));
}

/**
 * Signs in by an auto-login token, once (spec 01 section 5.3, H20).
 * @throws AppError 401 for a token that is invalid, expired, used or from before a change of the password | 401 'User not found' | 403 'Account is deactivated'
 */
export async function signInWithAutoLogin(app: App, token: string): Promise<SignIn> {
  const payload = await verifyToken(app, token, 'auto_login');
  if (!payload) throw tokenInvalid();
  const userId = userIdOf(payload);
  if (userId === null) throw tokenPayloadInvalid();
  const user = await findCredentials(app.db, userId);
  if (!user) throw userUnknown();
  if (user.status !== 'active') throw deactivated();
  if (payload.pwd !== undefined && payload.pwd !== passwordMark(user.passwordHash)) throw tokenInvalid();
  const secondsLeft = Math.ceil(((payload.exp ?? 0) * SECOND_MS - app.clock.now().getTime()) / SECOND_MS);
  const isFirstUse = await putIfAbsent(app, `auto_login:${payload.jti ?? signedPartHash(token)}`, { userId }, secondsLeft + 1);
  if (!isFirstUse) throw tokenInvalid();
  return openSession(app, userId, {
    provedAt: null,
    ...(user.passwordHash === null ? {} : { passwordHash: user.passwordHash }),
  });
}

/** Identifies a password hash without revealing it; its salt makes the mark unguessable. */
function passwordMark(passwordHash: string | null): string {
  return secretHash(passwordHash ?? '').slice(0, 32);
}

function tokenInvalid() {
  return autoLoginTokenInvalid();
}
