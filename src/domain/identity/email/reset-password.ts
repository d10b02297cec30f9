import type { App } from '../../../core/app.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { refusal } from '../../../core/errors.ts';
import { hashPassword } from '../../../core/password-hasher.ts';
import { clearLimit, isWithinLimit } from '../../../core/rate-limit.ts';
import { forgetSessionUser } from '../authenticate-user.ts';
import { userNotActive } from '../errors.ts';
import { findByEmail } from '../repo.ts';
import { normaliseEmail, secretHash } from '../rules.ts';
import { closeAllSessions } from '../sessions/refresh-session.ts';
import { mailReset, newResetSecret } from './mail-secrets.ts';
import { requestPanelImport } from './panel-import.ts';
import { findResetAccount, setResetSecret, spendResetSecret } from './repo.ts';
import { accountLimitKey } from './sign-in-with-password.ts';

const resetTokenExpired = refusal('reset_token_expired', 400, 'Reset token has expired');

const MAX_EMAIL_LENGTH = 255;
const SENDS = 3;
const SENDS_WINDOW_SECONDS = 600;

/**
 * Requests a reset link. The job checks later whether the account exists, so that every address takes the same time here
 * (spec 01 H10).
 */
export async function requestPasswordReset(app: App, email: string): Promise<void> {
  const address = normaliseEmail(email);
  if (address.length > MAX_EMAIL_LENGTH) return;
  await app.jobs.send('identity.password-reset', { email: address });
}

/**
 * Mails the link if there is an account that can use it: with a verified address, or an unverified one that the account was created
 * with; completing the reset then verifies it (spec 01 section 5.2, H1).
 */
export async function mailPasswordReset(app: App, email: string): Promise<void> {
  const user = await findByEmail(app.db, email);
  if (user?.status !== 'active' || !app.ports.mail.isConfigured()) return;
  const isSignUpAddress = user.authType === 'email' && user.hasPassword;
  if (!user.emailVerified && !isSignUpAddress) return;
  if (!(await isWithinLimit(app, `mail:reset:${user.id}`, SENDS, SENDS_WINDOW_SECONDS))) return;
  await inTransaction(app, async (t) => {
    const secret = newResetSecret(t);
    await setResetSecret(t.db, user.id, email, secret, t.clock.now());
    await mailReset(t, user, email, secret);
  });
}

/**
 * Uses up a reset link: sets the password, verifies the address, ends every session (spec 01 section 5.2, H8, H11).
 * @throws AppError 400 'Invalid reset token' | 400 'Reset token has expired' | 403 'User account is not active'
 */
export async function resetPassword(app: App, request: { token: string; password: string }): Promise<void> {
  const hash = secretHash(request.token);
  const account = await findResetAccount(app.db, hash);
  if (!account) throw resetTokenInvalid();
  if (!account.expiresAt || account.expiresAt < app.clock.now()) throw resetTokenExpired();
  if (account.status !== 'active') throw userNotActive();
  const passwordHash = await hashPassword(request.password);
  const user = await inTransaction(app, async (t) => {
    const spent = await spendResetSecret(t.db, hash, passwordHash, t.clock.now());
    if (!spent) throw resetTokenInvalid();
    await closeAllSessions(t, spent.id);
    await forgetSessionUser(t, spent.id);
    if (spent.isFirstProof) await requestPanelImport(t, spent.id);
    return spent;
  });
  await clearLimit(app, accountLimitKey(user.email));
}

export const resetTokenInvalid = refusal('reset_token_invalid', 400, 'Invalid reset token');
