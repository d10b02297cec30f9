import type { App } from '../../../core/app.ts';
import { addMs, HOUR_MS, MINUTE_MS } from '../../../core/clock.ts';
import { ValidationError } from '../../../core/errors.ts';
import { hexToken } from '../../../core/random.ts';
import { limitOrRefuse } from '../../../core/rate-limit.ts';
import { sendMail } from '../../messaging/send-mail.ts';
import { fullName, secretHash } from '../rules.ts';
import type { UserRecord } from '../types.ts';
import type { MailedSecret } from './repo.ts';

/** Links and codes that verify an address; the mail has the text, the database its hash (spec 01 H11). */

const SECRET_BYTES = 32;
const SENDS = 3;
const SENDS_WINDOW_SECONDS = 600;

type Recipient = Pick<UserRecord, 'id' | 'language' | 'firstName' | 'lastName' | 'username' | 'messengerId' | 'email'>;

export interface NewSecret extends MailedSecret {
  text: string;
}

/** Refuses the fourth mail of one kind to a user within 10 minutes (spec 01 H9). @throws AppError 429 'Too many requests' */
export async function limitMails(app: App, userId: number, kind: 'verification' | 'email_change'): Promise<void> {
  await limitOrRefuse(app, `mail:${kind}:${userId}`, SENDS, SENDS_WINDOW_SECONDS);
}

/** 64 hex characters, valid for CABINET_EMAIL_VERIFICATION_EXPIRE_HOURS. */
export function newVerificationSecret(app: App): NewSecret {
  return newLinkSecret(app, app.settings.get('CABINET_EMAIL_VERIFICATION_EXPIRE_HOURS'));
}

/** 64 hex characters, valid for CABINET_PASSWORD_RESET_EXPIRE_HOURS. */
export function newResetSecret(app: App): NewSecret {
  return newLinkSecret(app, app.settings.get('CABINET_PASSWORD_RESET_EXPIRE_HOURS'));
}

function newLinkSecret(app: App, hours: number): NewSecret {
  const text = hexToken(app.random, SECRET_BYTES);
  return { text, hash: secretHash(text), expiresAt: addMs(app.clock.now(), Math.max(1, hours) * HOUR_MS) };
}

/** Minutes that a change code is valid. */
export function changeCodeMinutes(app: App): number {
  return Math.max(1, app.settings.get('CABINET_EMAIL_CHANGE_CODE_EXPIRE_MINUTES'));
}

/** Six digits for one user and one new address. */
export function newChangeCode(app: App, userId: number, newEmail: string): NewSecret {
  const text = String(app.random.int(100_000, 1_000_000));
  return {
    text,
    hash: changeCodeHash(userId, newEmail, text),
    expiresAt: addMs(app.clock.now(), changeCodeMinutes(app) * MINUTE_MS),
  };
}

export async function mailVerification(t: App, user: Recipient, to: string, secret: NewSecret): Promise<void> {
  await sendMail(t, {
    to,
    language: user.language,
    type: 'email_verification',
    params: {
      username: fullName({ ...user, email: to }),
      verification_url: cabinetLink(t.settings.get('CABINET_URL'), 'verify-email', secret.text),
      expire_hours: Math.max(1, t.settings.get('CABINET_EMAIL_VERIFICATION_EXPIRE_HOURS')),
    },
  });
}

export async function mailReset(t: App, user: Recipient, to: string, secret: NewSecret): Promise<void> {
  await sendMail(t, {
    to,
    language: user.language,
    type: 'password_reset',
    params: {
      username: fullName(user),
      reset_url: cabinetLink(t.settings.get('CABINET_URL'), 'reset-password', secret.text),
      expire_hours: Math.max(1, t.settings.get('CABINET_PASSWORD_RESET_EXPIRE_HOURS')),
    },
  });
}

/** @returns false when no mail can be sent */
export async function mailChangeCode(t: App, user: Recipient, to: string, secret: NewSecret): Promise<boolean> {
  return sendMail(t, {
    to,
    language: user.language,
    type: 'email_change_code',
    params: { username: fullName(user), code: secret.text, expire_minutes: changeCodeMinutes(t) },
  });
}

/** Notifies the user's former address (spec 01 H9). */
export async function mailAddressChanged(t: App, user: Recipient, oldEmail: string, newEmail: string): Promise<void> {
  await sendMail(t, {
    to: oldEmail,
    language: user.language,
    type: 'email_changed',
    params: { username: fullName(user), new_email: newEmail },
  });
}

const MAX_EMAIL_LENGTH = 254;

/** Top-level names that no mail can be sent to. */
const RESERVED_ENDINGS: ReadonlySet<string> = new Set(['arpa', 'invalid', 'local', 'localhost', 'onion', 'test']);

/**
 * Refuses a text in the form of an address that no mail can be sent to.
 * @param email in lower case
 * @param field name of the body field
 * @throws ValidationError 422
 */
export function checkEmailAddress(email: string, field: string): void {
  const domain = email.slice(email.lastIndexOf('@') + 1);
  const problem = addressProblem(email, domain);
  if (problem === null) return;
  const msg = `value is not a valid email address: ${problem}`;
  throw new ValidationError([{ loc: ['body', field], type: 'value_error', msg, input: email, ctx: { error: problem } }]);
}

function addressProblem(email: string, domain: string): string | null {
  if (email.length > MAX_EMAIL_LENGTH) return 'The email address is too long.';
  if (!domain.includes('.')) return 'The part after the @-sign is not valid. It should have a period.';
  const ending = domain.slice(domain.lastIndexOf('.') + 1);
  return RESERVED_ENDINGS.has(ending) ? 'The part after the @-sign is a special-use or reserved name.' : null;
}

/** How a change code is stored: bound to its user and address, so that equal codes of two users have different hashes. */
export function changeCodeHash(userId: number, newEmail: string, code: string): string {
  return secretHash(`${userId}:${newEmail}:${code}`);
}

/** A page of the cabinet front end with a token. */
export function cabinetLink(cabinetUrl: string, page: string, token: string): string {
  return `${cabinetUrl.replace(/\/+$/, '')}/${page}?token=${token}`;
}

/** `n***@example.com`: enough for its owner to recognise it. */
export function maskedAddress(email: string): string {
  return `${email.slice(0, 1)}***${email.slice(email.lastIndexOf('@'))}`;
}
