import type { App } from '../../../core/app.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { refusal } from '../../../core/errors.ts';
import { hashPassword } from '../../../core/password-hasher.ts';
import { createUser } from '../create-user.ts';
import { emailAuthOff, emailTaken } from '../errors.ts';
import { findByEmail } from '../repo.ts';
import { resolveReferrer } from '../resolve-referrer.ts';
import { normaliseEmail } from '../rules.ts';
import { refuseDisposable } from './disposable-addresses.ts';
import { mailVerification, newVerificationSecret } from './mail-secrets.ts';
import { setVerificationSecret } from './repo.ts';
import { checkEmailAddress } from './rules.ts';
import { isTestEmail, isTestPassword } from './test-account.ts';

const testPasswordInvalid = refusal('test_password_invalid', 400, 'Invalid test email password');

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
