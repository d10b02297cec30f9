import { timingSafeEqual } from 'node:crypto';
import type { App } from '../../../core/app.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { refusal } from '../../../core/errors.ts';
import { hashPassword, passwordsOverloaded } from '../../../core/password-hasher.ts';
import { configAdmins } from '../../access/effective-access.ts';
import { createUser, resolveReferrer } from '../create-account.ts';
import { disposableEmail, emailAuthOff, emailTaken } from '../errors.ts';
import { findByEmail } from '../repo.ts';
import { normaliseEmail, secretHash } from '../rules.ts';
import { refuseDisposable } from './disposable-addresses.ts';
import { checkEmailAddress, mailVerification, newVerificationSecret } from './mail-secrets.ts';
import { setVerificationSecret } from './repo.ts';

const testPasswordInvalid = refusal('test_password_invalid', 400, 'Invalid test email password');

export const REGISTRATION_REFUSES = [emailAuthOff, testPasswordInvalid, disposableEmail, emailTaken, passwordsOverloaded];

export interface Registration {
  email: string;
  /** 8 to 128 characters. */
  password: string;
  firstName?: string | null | undefined;
  language: string;
  referralCode?: string | null | undefined;
}

/**
 * Creates an account with e-mail and password and mails the verification link (spec 01 section 5.2). With verification switched off
 * the account may sign in immediately, but its address still counts as unverified (H1).
 * @returns the new account, the stored address, and whether it must be verified before the first sign-in
 * @throws AppError 403 when e-mail sign-in is off | 400 'Disposable email addresses are not allowed' | 400 'This email is already registered'
 */
export async function registerAccount(
  app: App,
  request: Registration,
): Promise<{ userId: number; email: string; requiresVerification: boolean }> {
  const email = normaliseEmail(request.email);
  if (!app.settings.get('CABINET_EMAIL_AUTH_ENABLED')) throw emailAuthOff();
  const isTest = isTestEmail(app, email);
  if (isTest && !isTestPassword(app, request.password)) throw testPasswordInvalid();
  if (!isTest) checkEmailAddress(email, 'email');
  await refuseDisposable(app, email);
  if (await findByEmail(app.db, email)) throw emailTaken();
  const requiresVerification = app.settings.get('CABINET_EMAIL_VERIFICATION_ENABLED') && !isTest;
  const referredById = await resolveReferrer(app, request.referralCode ?? null, { messengerId: null, email });
  const passwordHash = await hashPassword(request.password);
  const userId = await inTransaction(app, async (t) => {
    const user = await createUser(t, {
      authType: 'email',
      messengerId: null,
      username: null,
      firstName: request.firstName ?? null,
      lastName: null,
      email,
      emailVerified: isTest,
      passwordHash,
      language: request.language,
      referredById,
    });
    if (!requiresVerification) return user.id;
    const secret = newVerificationSecret(t);
    await setVerificationSecret(t.db, user.id, email, secret, t.clock.now());
    await mailVerification(t, user, email, secret);
    return user.id;
  });
  return { userId, email, requiresVerification };
}

/** Whether this is the address of the test account; never in production and never for an administrator's address (spec 01 section 2.7). */
export function isTestEmail(app: App, email: string): boolean {
  const testEmail = app.settings.get('TEST_EMAIL').trim().toLowerCase();
  if (app.env.isProduction || testEmail === '' || app.settings.get('TEST_EMAIL_PASSWORD') === '') return false;
  return email === testEmail && !configAdmins(app).emails.has(email);
}

export function isTestPassword(app: App, password: string): boolean {
  const digest = (text: string) => Buffer.from(secretHash(text), 'hex');
  return timingSafeEqual(digest(password), digest(app.settings.get('TEST_EMAIL_PASSWORD')));
}
