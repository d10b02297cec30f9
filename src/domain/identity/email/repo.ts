import type { Db } from '../../../core/db/db.ts';
import type { UserStatus } from '../types.ts';

/** A secret that was mailed: its hash and its end. Null = the address needs no proof now. */
export interface MailedSecret {
  hash: string;
  expiresAt: Date;
}

/** Everything that was sent to an address dies with it. */
const FORGET_OLD_ADDRESS = `password_reset_token_hash = NULL, password_reset_expires = NULL,
  email_change_new = NULL, email_change_code_hash = NULL, email_change_expires = NULL, email_change_attempts = 0`;

/**
 * Gives an active user an address that is not proved yet.
 * @param passwordHash null = the password stays
 * @returns false when the user has a verified address by now
 */
export async function setUnverifiedEmail(
  db: Db,
  userId: number,
  email: string,
  passwordHash: string | null,
  secret: MailedSecret | null,
  now: Date,
): Promise<boolean> {
  const rows = await db.sql<{ id: number }>(
    `UPDATE users SET email = $2, password_hash = coalesce($3, password_hash), email_verified = false, email_verified_at = NULL,
       email_verification_token_hash = $4, email_verification_expires = $5::timestamptz, updated_at = $6::timestamptz, ${FORGET_OLD_ADDRESS}
     WHERE id = $1::int AND status = 'active' AND NOT (email IS NOT NULL AND email_verified) RETURNING id`,
    [userId, email, passwordHash, secret?.hash ?? null, secret?.expiresAt ?? null, now],
  );
  return rows.length > 0;
}

/** A new verification link for the address the user has now; the old one is void. @returns false when there is nothing to verify */
export async function setVerificationSecret(
  db: Db,
  userId: number,
  email: string,
  secret: MailedSecret,
  now: Date,
): Promise<boolean> {
  const rows = await db.sql<{ id: number }>(
    `UPDATE users SET email_verification_token_hash = $3, email_verification_expires = $4::timestamptz, updated_at = $5::timestamptz
     WHERE id = $1::int AND email = $2 AND NOT email_verified RETURNING id`,
    [userId, email, secret.hash, secret.expiresAt, now],
  );
  return rows.length > 0;
}

/** Spends a verification link: of two requests at once, one gets the user. */
export async function spendVerificationSecret(db: Db, hash: string, now: Date): Promise<number | null> {
  const [row] = await db.sql<{ id: number }>(
    `UPDATE users SET email_verified = true, email_verified_at = $2::timestamptz, email_verification_token_hash = NULL,
       email_verification_expires = NULL, updated_at = $2::timestamptz
     WHERE email_verification_token_hash = $1 AND email_verification_expires >= $2::timestamptz AND status = 'active' RETURNING id`,
    [hash, now],
  );
  return row?.id ?? null;
}

export interface SecretHolder {
  status: UserStatus;
  expiresAt: Date | null;
}

export async function findVerificationHolder(db: Db, hash: string): Promise<SecretHolder | null> {
  return findHolder(db, 'email_verification_token_hash', 'email_verification_expires', hash);
}

export async function findResetHolder(db: Db, hash: string): Promise<SecretHolder | null> {
  return findHolder(db, 'password_reset_token_hash', 'password_reset_expires', hash);
}

async function findHolder(db: Db, hashColumn: string, expiryColumn: string, hash: string): Promise<SecretHolder | null> {
  const [row] = await db.sql<{ status: UserStatus; expiresAt: Date | null }>(
    `SELECT status, ${expiryColumn} AS expires_at FROM users WHERE ${hashColumn} = $1`,
    [hash],
  );
  return row ? { status: row.status, expiresAt: row.expiresAt } : null;
}

export async function setResetSecret(db: Db, userId: number, email: string, secret: MailedSecret, now: Date): Promise<void> {
  await db.sql(
    `UPDATE users SET password_reset_token_hash = $3, password_reset_expires = $4::timestamptz, updated_at = $5::timestamptz
     WHERE id = $1::int AND email = $2 RETURNING id`,
    [userId, email, secret.hash, secret.expiresAt, now],
  );
}

/** Spends a reset link: new password, and the address counts as proved, for the link was sent there. `isFirstProof`: by this alone. */
export async function spendResetSecret(
  db: Db,
  hash: string,
  passwordHash: string,
  now: Date,
): Promise<{ id: number; email: string; isFirstProof: boolean } | null> {
  const [row] = await db.sql<{ id: number; email: string; isFirstProof: boolean }>(
    `UPDATE users SET password_hash = $2, password_reset_token_hash = NULL, password_reset_expires = NULL, email_verified = true,
       email_verified_at = coalesce(email_verified_at, $3::timestamptz), email_verification_token_hash = NULL,
       email_verification_expires = NULL, email_change_new = NULL, email_change_code_hash = NULL, email_change_expires = NULL,
       updated_at = $3::timestamptz
     WHERE password_reset_token_hash = $1 AND password_reset_expires >= $3::timestamptz AND status = 'active'
     RETURNING id, email, email_verified_at = $3::timestamptz AS "isFirstProof"`,
    [hash, passwordHash, now],
  );
  return row ?? null;
}

export interface PendingEmailChange {
  newEmail: string;
  codeHash: string | null;
  expiresAt: Date | null;
  attempts: number;
}

async function findChange(db: Db, userId: number, lock: string): Promise<PendingEmailChange | null> {
  const [row] = await db.sql<{
    emailChangeNew: string | null;
    emailChangeCodeHash: string | null;
    emailChangeExpires: Date | null;
    emailChangeAttempts: number;
  }>(
    `SELECT email_change_new, email_change_code_hash, email_change_expires, email_change_attempts FROM users WHERE id = $1::int ${lock}`,
    [userId],
  );
  if (!row?.emailChangeNew) return null;
  return {
    newEmail: row.emailChangeNew,
    codeHash: row.emailChangeCodeHash,
    expiresAt: row.emailChangeExpires,
    attempts: row.emailChangeAttempts,
  };
}

export const findEmailChange = (db: Db, userId: number) => findChange(db, userId, '');
/** Locks the user's row, so that tries are counted one after the other. */
export const lockEmailChange = (db: Db, userId: number) => findChange(db, userId, 'FOR UPDATE');

export async function setEmailChange(db: Db, userId: number, newEmail: string, secret: MailedSecret, now: Date): Promise<void> {
  await db.sql(
    `UPDATE users SET email_change_new = $2, email_change_code_hash = $3, email_change_expires = $4::timestamptz,
       email_change_attempts = 0, updated_at = $5::timestamptz WHERE id = $1::int RETURNING id`,
    [userId, newEmail, secret.hash, secret.expiresAt, now],
  );
}

/** @returns false when there was no pending change */
export async function clearEmailChange(db: Db, userId: number): Promise<boolean> {
  const rows = await db.sql<{ id: number }>(
    `UPDATE users SET email_change_new = NULL, email_change_code_hash = NULL, email_change_expires = NULL, email_change_attempts = 0
     WHERE id = $1::int AND email_change_new IS NOT NULL RETURNING id`,
    [userId],
  );
  return rows.length > 0;
}

export async function countEmailChangeTry(db: Db, userId: number): Promise<void> {
  await db.sql('UPDATE users SET email_change_attempts = email_change_attempts + 1 WHERE id = $1::int RETURNING id', [userId]);
}

/** The new address is the user's own and proved: the code came from there. */
export async function applyEmailChange(db: Db, userId: number, newEmail: string, now: Date): Promise<void> {
  await db.sql(
    `UPDATE users SET email = $2, email_verified = true, email_verified_at = $3::timestamptz, email_verification_token_hash = NULL,
       email_verification_expires = NULL, updated_at = $3::timestamptz, ${FORGET_OLD_ADDRESS} WHERE id = $1::int RETURNING id`,
    [userId, newEmail, now],
  );
}
