import type { UserActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { refusal } from '../../../core/errors.ts';
import { forgetSessionUser } from '../authenticate-user.ts';
import { mailNotConfigured, userNotActive, userNotFound } from '../errors.ts';
import { findById } from '../repo.ts';
import { secretHash } from '../rules.ts';
import { openSession, type SignIn } from '../sessions/open-session.ts';
import { limitMails, mailVerification, newVerificationSecret } from './mail-secrets.ts';
import { requestPanelImport } from './panel-import.ts';
import { findVerificationAccount, setVerificationSecret, spendVerificationSecret } from './repo.ts';

export const verificationTokenInvalid = refusal('verification_token_invalid', 400, 'Invalid verification token');
const verificationTokenExpired = refusal('verification_token_expired', 400, 'Verification token has expired');
export const emailToVerifyMissing = refusal('email_missing', 400, 'No email address to verify');
const emailVerificationOff = refusal('email_verification_off', 400, 'Email verification is disabled');

/**
 * Uses up a verification link and signs its user in (spec 01 section 5.2).
 * @throws AppError 400 'Invalid verification token' | 400 'Verification token has expired' | 403 'User account is not active'
 */
export async function verifyEmail(app: App, token: string): Promise<SignIn> {
  const hash = secretHash(token);
  const userId = await inTransaction(app, async (t) => {
    const spent = await spendVerificationSecret(t.db, hash, t.clock.now());
    if (spent === null) return null;
    await forgetSessionUser(t, spent);
    await requestPanelImport(t, spent);
    return spent;
  });
  if (userId !== null) return openSession(app, userId);
  const account = await findVerificationAccount(app.db, hash);
  if (!account) throw verificationTokenInvalid();
  if (!account.expiresAt || account.expiresAt < app.clock.now()) throw verificationTokenExpired();
  throw userNotActive();
}

/**
 * Mails a new verification link; the old one becomes void (spec 01 section 5.2).
 * @throws AppError 400 nothing to verify | 400 'Email verification is disabled' | 503 'Email service is not configured' | 429
 */
export async function resendVerification(app: App, actor: UserActor): Promise<void> {
  const user = await findById(app.db, actor.userId);
  if (!user) throw userNotFound();
  const { email } = user;
  if (email === null) throw emailToVerifyMissing();
  if (user.emailVerified) throw alreadyVerified();
  if (!app.settings.get('CABINET_EMAIL_VERIFICATION_ENABLED')) throw emailVerificationOff();
  if (!app.ports.mail.isConfigured()) throw mailNotConfigured();
  await limitMails(app, user.id, 'verification');
  await inTransaction(app, async (t) => {
    const secret = newVerificationSecret(t);
    if (!(await setVerificationSecret(t.db, user.id, email, secret, t.clock.now()))) throw alreadyVerified();
    await mailVerification(t, user, email, secret);
  });
}

const alreadyVerified = refusal('email_already_verified', 400, 'Email is already verified');
