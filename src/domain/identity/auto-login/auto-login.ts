import type { App } from '../../../core/app.ts';
import { addMs, HOUR_MS, SECOND_MS } from '../../../core/clock.ts';
import { refuse } from '../../../core/errors.ts';
import { putIfAbsent } from '../../../core/short-lived.ts';
import { unauthorized } from '../errors.ts';
import { secretHash, signedPartHash } from '../rules.ts';
import { openSession, type SignIn } from '../sessions/open-session.ts';
import { signAutoLoginToken, userIdOf, verifyToken } from '../sessions/sign-tokens.ts';
import { findCredentials } from './repo.ts';

const LIFE_MS = 72 * HOUR_MS;

/**
 * Makes a link token for a buyer whose account and password were made by the purchase (spec 01 section 2.1): good for 72 hours, one
 * sign-in and this password. May join the transaction that makes the account.
 */
export async function issueAutoLoginToken(t: App, userId: number): Promise<string> {
  const credentials = await findCredentials(t.db, userId);
  return signAutoLoginToken(t, userId, passwordMark(credentials?.passwordHash ?? null), addMs(t.clock.now(), LIFE_MS));
}

/**
 * Signs in by an auto-login token, once (spec 01 section 5.3, H20).
 * @throws AppError 401 invalid, expired, used or outlived by its password | 401 'User not found' | 403 'Account is deactivated'
 */
export async function signInWithAutoLogin(app: App, token: string): Promise<SignIn> {
  const payload = await verifyToken(app, token, 'auto_login');
  if (!payload) throw tokenInvalid();
  const userId = userIdOf(payload);
  if (userId === null) throw unauthorized('token_payload_invalid', 'Invalid token payload');
  const user = await findCredentials(app.db, userId);
  if (!user) throw unauthorized('user_not_found', 'User not found');
  if (user.status !== 'active') throw deactivated();
  if (payload.pwd !== undefined && payload.pwd !== passwordMark(user.passwordHash)) throw tokenInvalid();
  const secondsLeft = Math.ceil(((payload.exp ?? 0) * SECOND_MS - app.clock.now().getTime()) / SECOND_MS);
  const isFirstUse = await putIfAbsent(app, `auto_login:${payload.jti ?? signedPartHash(token)}`, { userId }, secondsLeft + 1);
  if (!isFirstUse) throw tokenInvalid();
  return openSession(app, userId, user.passwordHash === null ? {} : { passwordHash: user.passwordHash });
}

/** Names a password hash without giving it away; its salt makes it unguessable. */
function passwordMark(passwordHash: string | null): string {
  return secretHash(passwordHash ?? '').slice(0, 32);
}

function tokenInvalid() {
  return unauthorized('auto_login_token_invalid', 'Invalid or expired auto-login token');
}

function deactivated() {
  return refuse('account_deactivated', 403, 'Account is deactivated');
}
