import type { App } from '../../../core/app.ts';
import { MINUTE_MS, SECOND_MS } from '../../../core/clock.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { refusal } from '../../../core/errors.ts';
import { hashPassword, isImportedHash, passwordsOverloaded, verifyPassword } from '../../../core/password-hasher.ts';
import { clearLimit, isWithinLimit, limitOrRefuse } from '../../../core/rate-limit.ts';
import { forgetSessionUser } from '../authenticate.ts';
import { createUser } from '../create-account.ts';
import { emailAuthOff, unauthorized, userNotActive } from '../errors.ts';
import { findByEmail, findPasswordUser } from '../repo.ts';
import { normaliseEmail, secretHash } from '../rules.ts';
import { closeAllSessions, openSession, type SignIn } from '../sessions/sessions.ts';
import { requestPanelImport } from './email-address.ts';
import { mailReset, newResetSecret } from './mail-secrets.ts';
import { isTestEmail, isTestPassword } from './register-account.ts';
import { findPasswordHash, findResetAccount, replacePasswordHash, setResetSecret, spendResetSecret } from './repo.ts';

const credentialsInvalid = unauthorized('credentials_invalid', 'Invalid email or password');

const emailNotVerified = refusal('email_not_verified', 403, 'Please verify your email first');

export const PASSWORD_SIGN_IN_REFUSES = [credentialsInvalid, emailAuthOff, emailNotVerified, userNotActive, passwordsOverloaded];

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
  const passwordHash = await replacedHash(app, user.id, request.password, user.passwordHash);
  return openSession(app, user.id, { passwordHash });
}

/**
 * Replaces a hash of the existing product by one of ours (spec 07 section 6). Of two concurrent sign-ins one replaces it; the other compares
 * the password with what is stored then, which may also be another password.
 * @returns the hash that is stored @throws AppError 401
 */
async function replacedHash(app: App, userId: number, password: string, hash: string): Promise<string> {
  if (!isImportedHash(hash)) return hash;
  const replacement = await hashPassword(password);
  if (await replacePasswordHash(app.db, userId, hash, replacement)) return replacement;
  const stored = await findPasswordHash(app.db, userId);
  if (!stored || !(await verifyPassword(password, stored))) throw credentialsInvalid();
  return stored;
}

/** Creates the test account when its password is used for the first time. */
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

const resetTokenInvalid = refusal('reset_token_invalid', 400, 'Invalid reset token');

export const RESET_REFUSES = [resetTokenInvalid, resetTokenExpired, userNotActive, passwordsOverloaded];
