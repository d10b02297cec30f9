import { createCipheriv, createDecipheriv } from 'node:crypto';
import type { App } from '../../../core/app.ts';
import { MINUTE_MS, SECOND_MS } from '../../../core/clock.ts';
import { refusal } from '../../../core/errors.ts';
import { clearLimit, limitOrRefuse } from '../../../core/rate-limit.ts';
import { secretHash } from '../rules.ts';
import { derivedKey } from '../sessions/sign-tokens.ts';
import { type ChallengeKey, isSignedByPasskey } from './passkeys.ts';
import { listTotps, spendRecoveryCode, spendStep, type Totp } from './repo.ts';

/** What the user shows; exactly one of the three. */
export interface FactorProof {
  /** Six digits of an authenticator app. */
  code?: string | null | undefined;
  recoveryCode?: string | null | undefined;
  /** Answer of `navigator.credentials.get` as JSON. */
  passkey?: unknown;
}

export const factorInvalid = refusal('second_factor_invalid', 403, 'The code or passkey is not valid');

/** Loaded with the first authenticator app. */
const otpAuth = () => import('otpauth');

const ATTEMPTS = 10;
const ATTEMPTS_WINDOW_SECONDS = (15 * MINUTE_MS) / SECOND_MS;

/**
 * Uses a second factor up: a code or signature counts once, by whichever instance (spec 01 section 4.7).
 * @param challenge for what the passkey signs
 * @throws AppError 403 'The code or passkey is not valid' | 429 after 10 codes of an account in 15 minutes
 */
export async function showFactor(app: App, userId: number, proof: FactorProof, challenge: ChallengeKey): Promise<void> {
  const { code, recoveryCode, passkey } = proof;
  // A signature cannot be guessed: whoever uses the attempts of an account up does not keep its owner's passkey out.
  if (code == null && recoveryCode == null) {
    if (!(await isSignedByPasskey(app, userId, challenge, passkey))) throw factorInvalid();
    return;
  }
  // Apart from each other: whoever has stolen a session does not keep the owner from signing in.
  const limitKey = `second-factor:${challenge.startsWith('passkey:ticket') ? 'sign-in' : 'session'}:${userId}`;
  await limitOrRefuse(app, limitKey, ATTEMPTS, ATTEMPTS_WINDOW_SECONDS);
  const isValid =
    code == null
      ? await spendRecoveryCode(app.db, userId, recoveryHash(recoveryCode!), app.clock.now())
      : (await spendCode(app, await listTotps(app.db, userId, true), code)) !== null;
  if (!isValid) throw factorInvalid();
  await clearLimit(app, limitKey);
}

/**
 * Uses a code up that one of these authenticators shows now, or a step of 30 seconds before or after.
 * @returns its id; null when none shows it, or it was used
 */
export async function spendCode(app: App, totps: readonly Totp[], code: string): Promise<number | null> {
  const now = app.clock.now();
  const { Secret, TOTP } = await otpAuth();
  for (const { id, secret } of totps) {
    const text = await decrypted(app, secret);
    if (text === null) continue;
    const totp = new TOTP({ secret: Secret.fromBase32(text), ...FORM });
    const delta = totp.validate({ token: code, timestamp: now.getTime(), window: 1 });
    if (delta === null) continue;
    const step = Math.floor(now.getTime() / (FORM.period * SECOND_MS)) + delta;
    if (await spendStep(app.db, id, step, now)) return id;
  }
  return null;
}

/** What every authenticator app can do. */
const FORM = { algorithm: 'SHA1', digits: 6, period: 30 };
const SECRET_BYTES = 20;

/** A secret for an authenticator app: base32, and the `otpauth://` address of its QR code. */
export async function newTotpSecret(app: App, issuer: string, label: string): Promise<{ secret: string; uri: string }> {
  const { Secret, TOTP } = await otpAuth();
  const bytes = app.random.bytes(SECRET_BYTES);
  const secret = new Secret({ buffer: new Uint8Array(bytes).buffer });
  return { secret: secret.base32, uri: new TOTP({ issuer, label, secret, ...FORM }).toString() };
}

/** Spaces, dashes and the case of what was typed do not matter. */
export const recoveryHash = (code: string) => secretHash(`recovery:${code.toLowerCase().replace(/[^a-z0-9]/g, '')}`);

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** So that a copy of the database alone gives nobody codes; another `CABINET_JWT_SECRET` makes the authenticators void. */
const encryptionKey = (app: App) => derivedKey(app, 'second factors, secrets of authenticators');

/** @returns base64url of nonce, tag and text */
export async function encrypted(app: App, text: string): Promise<string> {
  const nonce = app.random.bytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, await encryptionKey(app), nonce);
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url');
}

/** @returns null for a text of another key */
async function decrypted(app: App, stored: string): Promise<string | null> {
  const bytes = Buffer.from(stored, 'base64url');
  const decipher = createDecipheriv(CIPHER, await encryptionKey(app), bytes.subarray(0, NONCE_BYTES));
  decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]).toString('utf8');
  } catch {
    app.log.warn('the secret of an authenticator cannot be read: CABINET_JWT_SECRET is another one');
    return null;
  }
}
