import type { UserActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { isUniqueViolation } from '../../../core/db/db-errors.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { type AppError, refusal } from '../../../core/errors.ts';
import { hashPassword, passwordsOverloaded } from '../../../core/password-hasher.ts';
import { tooManyRequests } from '../../../core/rate-limit.ts';
import { forgetSessionUser } from '../authenticate.ts';
import { disposableEmail, emailTaken, mailNotConfigured, userNotActive, userNotFound } from '../errors.ts';
import { findByEmail, findById } from '../repo.ts';
import { normaliseEmail, secretHash } from '../rules.ts';
import { closeAllSessions, openSession, type SignIn } from '../sessions/sessions.ts';
import type { UserRecord } from '../types.ts';
import { refuseDisposable } from './disposable-addresses.ts';
import {
  changeCodeHash,
  changeCodeMinutes,
  checkEmailAddress,
  limitMails,
  mailAddressChanged,
  mailChangeCode,
  mailVerification,
  maskedAddress,
  newChangeCode,
  newVerificationSecret,
} from './mail-secrets.ts';
import {
  applyEmailChange,
  clearEmailChange,
  countEmailChangeAttempt,
  findEmailChange,
  findVerificationAccount,
  lockEmailChange,
  setEmailChange,
  setUnverifiedEmail,
  setVerificationSecret,
  spendVerificationSecret,
} from './repo.ts';

const emailMissing = refusal('email_missing', 400, 'No email address to change');
const emailSame = refusal('email_same', 400, 'New email is the same as current email');
const emailJustVerified = refusal('email_just_verified', 409, 'Your email has just been verified. Please try again.');
const emailCodeExpired = refusal('email_code_expired', 400, 'Verification code has expired');
const emailCodeInvalid = refusal('email_code_invalid', 400, 'Invalid verification code');

export const EMAIL_CHANGE_REFUSES = [emailMissing, emailSame, disposableEmail, emailTaken, mailNotConfigured, tooManyRequests];

/** Wrong codes after which the change must be requested again (spec 01 H9). */
const MAX_ATTEMPTS = 5;

export interface EmailChangeRequested {
  newEmail: string;
  /** True: an unverified address was replaced and a link was mailed to the new one. False: a code was mailed. */
  isReplaced: boolean;
  /** Minutes until the code expires; 0 when replaced. */
  expiresInMinutes: number;
}

/**
 * Starts a change of the caller's e-mail (spec 01 section 5.2). An unverified address is replaced immediately; a verified one waits for
 * the code that is mailed to the new address.
 * @throws AppError 400 with the reasons of the table | 503 'Email service is not configured' | 429
 */
export async function requestEmailChange(
  app: App,
  actor: UserActor,
  request: { newEmail: string },
): Promise<EmailChangeRequested> {
  const newEmail = normaliseEmail(request.newEmail);
  checkEmailAddress(newEmail, 'new_email');
  const user = await findById(app.db, actor.userId);
  if (!user) throw userNotFound();
  if (user.email === null) throw emailMissing();
  if (user.email === newEmail) throw emailSame();
  await refuseDisposable(app, newEmail);
  if (await findByEmail(app.db, newEmail)) throw emailTaken();
  if (user.emailVerified && !app.ports.mail.isConfigured()) {
    await clearEmailChange(app.db, user.id);
    throw mailNotConfigured();
  }
  await limitMails(app, user.id, 'email_change');
  return user.emailVerified ? mailCode(app, user, newEmail) : replaceUnverified(app, user, newEmail);
}

async function mailCode(app: App, user: UserRecord, newEmail: string): Promise<EmailChangeRequested> {
  await inTransaction(app, async (t) => {
    const code = newChangeCode(t, user.id, newEmail);
    await setEmailChange(t.db, user.id, newEmail, code, t.clock.now());
    await mailChangeCode(t, user, newEmail, code);
  });
  return { newEmail, isReplaced: false, expiresInMinutes: changeCodeMinutes(app) };
}

async function replaceUnverified(app: App, user: UserRecord, newEmail: string): Promise<EmailChangeRequested> {
  const secret = app.settings.get('CABINET_EMAIL_VERIFICATION_ENABLED') ? newVerificationSecret(app) : null;
  try {
    await inTransaction(app, async (t) => {
      const isSet = await setUnverifiedEmail(t.db, user.id, newEmail, null, secret, t.clock.now());
      // The old address has just been verified: the next request gets a code.
      if (!isSet) throw emailJustVerified();
      await forgetSessionUser(t, user.id);
      if (secret) await mailVerification(t, user, newEmail, secret);
    });
  } catch (error) {
    throw isUniqueViolation(error, 'email') ? emailTaken() : error;
  }
  return { newEmail, isReplaced: true, expiresInMinutes: 0 };
}

/**
 * Enters the code from the new address. Attempts are counted under the row lock; the fifth wrong one ends the
 * change (spec 01 H9). Refusals that clear the change commit before they are thrown.
 * @returns the new address
 * @throws AppError 400 with the reasons of the table
 */
export async function confirmEmailChange(app: App, actor: UserActor, code: string): Promise<string> {
  try {
    const outcome = await inTransaction(app, (t) => checkCode(t, actor.userId, code));
    if ('refusal' in outcome) throw outcome.refusal;
    return outcome.newEmail;
  } catch (error) {
    if (!isUniqueViolation(error, 'email')) throw error;
    await clearEmailChange(app.db, actor.userId);
    throw takenMeanwhile();
  }
}

async function checkCode(t: App, userId: number, code: string): Promise<{ newEmail: string } | { refusal: AppError }> {
  const now = t.clock.now();
  const change = await lockEmailChange(t.db, userId);
  if (!change) return { refusal: noPendingChange() };
  const newEmail = change.emailChangeNew;
  if (!change.emailChangeExpires || change.emailChangeExpires < now) {
    await clearEmailChange(t.db, userId);
    return { refusal: emailCodeExpired() };
  }
  if (changeCodeHash(userId, newEmail, code) !== change.emailChangeCodeHash) {
    if (change.emailChangeAttempts + 1 >= MAX_ATTEMPTS) await clearEmailChange(t.db, userId);
    else await countEmailChangeAttempt(t.db, userId);
    return { refusal: emailCodeInvalid() };
  }
  const owner = await findByEmail(t.db, newEmail);
  if (owner && owner.id !== userId) {
    await clearEmailChange(t.db, userId);
    return { refusal: takenMeanwhile() };
  }
  const user = await findById(t.db, userId);
  await applyEmailChange(t.db, userId, newEmail, now);
  await forgetSessionUser(t, userId);
  // A change imports nothing (spec 01 section 5.5), but a panel user must get the new address.
  if (user?.vpnpanelUuid) await requestPanelImport(t, userId);
  if (user?.email) await mailAddressChanged(t, user, user.email, maskedAddress(newEmail));
  return { newEmail };
}

/** @throws AppError 400 'No pending email change' */
export async function cancelEmailChange(app: App, actor: UserActor): Promise<void> {
  if (!(await clearEmailChange(app.db, actor.userId))) throw noPendingChange();
}

/** The change that waits for its code, null when there is none or it has expired. */
export async function readEmailChange(app: App, actor: UserActor): Promise<{ newEmail: string; expiresAt: Date } | null> {
  const change = await findEmailChange(app.db, actor.userId);
  if (!change?.emailChangeExpires || change.emailChangeExpires < app.clock.now()) return null;
  return { newEmail: change.emailChangeNew, expiresAt: change.emailChangeExpires };
}

export const noPendingChange = refusal('email_change_missing', 400, 'No pending email change');

const takenMeanwhile = refusal('email_taken_meanwhile', 400, 'This email is already taken');

export const EMAIL_CODE_REFUSES = [noPendingChange, emailCodeExpired, emailCodeInvalid, takenMeanwhile];

/**
 * Adds an e-mail and a password to the caller's account. A former password becomes void, together with its sessions
 * (spec 01 H8).
 * @returns the stored address, and whether it must be verified by a link
 * @throws AppError 400 disposable | 400 'This email is already registered' | 400 'You already have a verified email' | 429
 */
export async function linkEmail(
  app: App,
  actor: UserActor,
  request: { email: string; password: string },
): Promise<{ email: string; requiresVerification: boolean }> {
  const email = normaliseEmail(request.email);
  checkEmailAddress(email, 'email');
  await refuseDisposable(app, email);
  if (await findByEmail(app.db, email)) throw emailTaken();
  const user = await findById(app.db, actor.userId);
  if (!user) throw userNotFound();
  if (user.email !== null && user.emailVerified) throw emailToLinkVerified();
  const requiresVerification = app.settings.get('CABINET_EMAIL_VERIFICATION_ENABLED');
  await limitMails(app, user.id, 'verification');
  const passwordHash = await hashPassword(request.password);
  const secret = requiresVerification ? newVerificationSecret(app) : null;
  try {
    await inTransaction(app, async (t) => {
      const isSet = await setUnverifiedEmail(t.db, user.id, email, passwordHash, secret, t.clock.now());
      if (!isSet) throw emailToLinkVerified();
      if (user.hasPassword) await closeAllSessions(t, user.id);
      await forgetSessionUser(t, user.id);
      if (secret) await mailVerification(t, user, email, secret);
    });
  } catch (error) {
    throw isUniqueViolation(error, 'email') ? emailTaken() : error;
  }
  return { email, requiresVerification };
}

const emailToLinkVerified = refusal('email_already_verified', 400, 'You already have a verified email');

export const EMAIL_LINK_REFUSES = [disposableEmail, emailTaken, emailToLinkVerified, tooManyRequests, passwordsOverloaded];

const verificationTokenInvalid = refusal('verification_token_invalid', 400, 'Invalid verification token');
const verificationTokenExpired = refusal('verification_token_expired', 400, 'Verification token has expired');
export const VERIFICATION_REFUSES = [verificationTokenInvalid, verificationTokenExpired, userNotActive];

const emailToVerifyMissing = refusal('email_missing', 400, 'No email address to verify');
const emailVerificationOff = refusal('email_verification_off', 400, 'Email verification is disabled');

/**
 * Uses up a verification link and signs its user in.
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
  if (userId !== null) return openSession(app, userId, { provedAt: null });
  const account = await findVerificationAccount(app.db, hash);
  if (!account) throw verificationTokenInvalid();
  if (!account.expiresAt || account.expiresAt < app.clock.now()) throw verificationTokenExpired();
  throw userNotActive();
}

/**
 * Mails a new verification link; the old one becomes void.
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

export const RESEND_REFUSES = [emailToVerifyMissing, alreadyVerified, emailVerificationOff, mailNotConfigured, tooManyRequests];

/**
 * Queues the import of a subscription that the panel may have under a newly verified address, or the update of the
 * panel user's address. Call in the transaction that verifies it; the job queries the panel after the commit.
 */
export async function requestPanelImport(t: App, userId: number): Promise<void> {
  await t.jobs.send('users.import-from-panel', { userId }, { singletonKey: String(userId) });
}
