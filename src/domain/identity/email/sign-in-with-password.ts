import type { App } from '../../../core/app.ts';
import { MINUTE_MS, SECOND_MS } from '../../../core/clock.ts';
import { refusal } from '../../../core/errors.ts';
import { hashPassword, verifyPassword } from '../../../core/password-hasher.ts';
import { clearLimit, limitOrRefuse } from '../../../core/rate-limit.ts';
import { createUser } from '../create-user.ts';
import { emailAuthOff, unauthorized, userNotActive } from '../errors.ts';
import { findPasswordUser } from '../repo.ts';
import { normaliseEmail, secretHash } from '../rules.ts';
import { openSession, type SignIn } from '../sessions/open-session.ts';
import { isTestEmail, isTestPassword } from './test-account.ts';

export const credentialsInvalid = unauthorized('credentials_invalid', 'Invalid email or password');

export const emailNotVerified = refusal('email_not_verified', 403, 'Please verify your email first');

const ATTEMPTS = 10;
const ATTEMPTS_WINDOW_SECONDS = (15 * MINUTE_MS) / SECOND_MS;

/** Counter of attempts for one address, from any client and whether or not the account exists (spec 01 H12). */
export function accountLimitKey(email: string): string {
  return `login:account:${secretHash(email)}`;
}

/**
 * Signs in with e-mail and password (spec 01 section 5.2). An unknown address, an account without a password and a wrong password get
 * the same answer after the same work (H10).
 * @throws AppError 401 'Invalid email or password' | 403 | 429 after 10 attempts in 15 minutes
 */
export async function signInWithPassword(app: App, request: { email: string; password: string }): Promise<SignIn> {
  if (!app.settings.get('CABINET_EMAIL_AUTH_ENABLED')) throw emailAuthOff();
  const email = normaliseEmail(request.email);
  await limitOrRefuse(app, accountLimitKey(email), ATTEMPTS, ATTEMPTS_WINDOW_SECONDS);
  const isTest = isTestEmail(app, email);
  if (isTest) await ensureTestAccount(app, email, request.password);
  const user = await findPasswordUser(app.db, email);
  const isCorrect = await verifyPassword(request.password, user?.passwordHash ?? null);
  if (!user?.passwordHash || !isCorrect) throw credentialsInvalid();
  await clearLimit(app, accountLimitKey(email));
  if (!user.emailVerified && !isTest && app.settings.get('CABINET_EMAIL_VERIFICATION_ENABLED')) throw emailNotVerified();
  if (user.status !== 'active') throw userNotActive();
  return openSession(app, user.id, { passwordHash: user.passwordHash });
}

/** Creates the test account when its password is used for the first time (spec 01 section 2.7). */
async function ensureTestAccount(app: App, email: string, password: string): Promise<void> {
  if (!isTestPassword(app, password) || (await findPasswordUser(app.db, email))) return;
  await createUser(app, {
    authType: 'email',
    messengerId: null,
    username: null,
    firstName: 'Test User',
    lastName: null,
    email,
    emailVerified: true,
    passwordHash: await hashPassword(password),
    language: 'ru',
    referredById: null,
  });
}
