import type { UserActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { isUniqueViolation } from '../../../core/db/db-errors.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { type AppError, refusal } from '../../../core/errors.ts';
import { forgetSessionUser } from '../authenticate-user.ts';
import { emailTaken, mailNotConfigured, userNotFound } from '../errors.ts';
import { findByEmail, findById } from '../repo.ts';
import { normaliseEmail } from '../rules.ts';
import type { UserRecord } from '../types.ts';
import { refuseDisposable } from './disposable-addresses.ts';
import {
  changeCodeMinutes,
  limitMails,
  mailAddressChanged,
  mailChangeCode,
  mailVerification,
  newChangeCode,
  newVerificationSecret,
} from './mail-secrets.ts';
import { requestPanelImport } from './panel-import.ts';
import {
  applyEmailChange,
  clearEmailChange,
  countEmailChangeAttempt,
  findEmailChange,
  lockEmailChange,
  setEmailChange,
  setUnverifiedEmail,
} from './repo.ts';
import { changeCodeHash, checkEmailAddress, maskedAddress } from './rules.ts';

export const emailMissing = refusal('email_missing', 400, 'No email address to change');
const emailSame = refusal('email_same', 400, 'New email is the same as current email');
const emailJustVerified = refusal('email_just_verified', 409, 'Your email has just been verified. Please try again.');
const emailCodeExpired = refusal('email_code_expired', 400, 'Verification code has expired');
const emailCodeInvalid = refusal('email_code_invalid', 400, 'Invalid verification code');

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
 * Enters the code from the new address (spec 01 section 5.2). Attempts are counted under the row lock; the fifth wrong one ends the
 * change (H9). Refusals that clear the change commit before they are thrown.
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
