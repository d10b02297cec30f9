import { columns, type RowOf, type Rows } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';

/** Hash and expiry of a mailed secret. */
export interface MailedSecret {
  hash: string;
  expiresAt: Date;
}

/** Everything that was mailed to an address becomes void with it. */
const FORGET_OLD_ADDRESS = `password_reset_token_hash = NULL, password_reset_expires = NULL,
  email_change_new = NULL, email_change_code_hash = NULL, email_change_expires = NULL, email_change_attempts = 0`;

/**
 * Sets an unverified address of an active user.
 * @param passwordHash null = the password stays
 * @param secret null = the address needs no verification
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

/** A new verification link for the present address; the old one becomes void. @returns false when there is nothing to verify */
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

/** @returns false when the user has another hash by now */
export async function replacePasswordHash(db: Db, userId: number, former: string, hash: string): Promise<boolean> {
  const rows = await db.sql<{ id: number }>(
    'UPDATE users SET password_hash = $3 WHERE id = $1::int AND password_hash = $2 RETURNING id',
    [userId, former, hash],
  );
  return rows.length > 0;
}

export async function findPasswordHash(db: Db, userId: number): Promise<string | null> {
  const [row] = await db.sql<{ passwordHash: string | null }>('SELECT password_hash FROM users WHERE id = $1::int', [userId]);
  return row?.passwordHash ?? null;
}

/** Uses up a verification link: of two concurrent requests one gets the user. */
export async function spendVerificationSecret(db: Db, hash: string, now: Date): Promise<number | null> {
  const [row] = await db.sql<{ id: number }>(
    `UPDATE users SET email_verified = true, email_verified_at = $2::timestamptz, email_verification_token_hash = NULL,
       email_verification_expires = NULL, updated_at = $2::timestamptz
     WHERE email_verification_token_hash = $1 AND email_verification_expires >= $2::timestamptz AND status = 'active' RETURNING id`,
    [hash, now],
  );
  return row?.id ?? null;
}

/** The account that a mailed secret belongs to. */
export type SecretAccount = Pick<Rows['User'], 'status'> & { expiresAt: Date | null };

export async function findVerificationAccount(db: Db, hash: string): Promise<SecretAccount | null> {
  const [row] = await db.sql<SecretAccount>(
    'SELECT status, email_verification_expires AS expires_at FROM users WHERE email_verification_token_hash = $1',
    [hash],
  );
  return row ?? null;
}

export async function findResetAccount(db: Db, hash: string): Promise<SecretAccount | null> {
  const [row] = await db.sql<SecretAccount>(
    'SELECT status, password_reset_expires AS expires_at FROM users WHERE password_reset_token_hash = $1',
    [hash],
  );
  return row ?? null;
}

export async function setResetSecret(db: Db, userId: number, email: string, secret: MailedSecret, now: Date): Promise<void> {
  await db.sql(
    `UPDATE users SET password_reset_token_hash = $3, password_reset_expires = $4::timestamptz, updated_at = $5::timestamptz
     WHERE id = $1::int AND email = $2 RETURNING id`,
    [userId, email, secret.hash, secret.expiresAt, now],
  );
}

/** Uses up a reset link: sets the password and marks the address verified, because the link was sent there. */
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
     RETURNING id, email, email_verified_at = $3::timestamptz AS is_first_proof`,
    [hash, passwordHash, now],
  );
  return row ?? null;
}

const CHANGE = columns('User', ['emailChangeNew', 'emailChangeCodeHash', 'emailChangeExpires', 'emailChangeAttempts']);

/** A change of the address that waits for its code. */
export type PendingEmailChange = RowOf<typeof CHANGE> & { emailChangeNew: string };

async function findChange(db: Db, userId: number, lock: string): Promise<PendingEmailChange | null> {
  const [row] = await db.sql<PendingEmailChange>(
    `SELECT ${CHANGE.of()} FROM users WHERE id = $1::int AND email_change_new IS NOT NULL ${lock}`,
    [userId],
  );
  return row ?? null;
}

export const findEmailChange = (db: Db, userId: number) => findChange(db, userId, '');
/** Locks the user's row, so that attempts are counted one after the other. */
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

export async function countEmailChangeAttempt(db: Db, userId: number): Promise<void> {
  await db.sql('UPDATE users SET email_change_attempts = email_change_attempts + 1 WHERE id = $1::int RETURNING id', [userId]);
}

/** Sets the new address as verified: the code came from there. */
export async function applyEmailChange(db: Db, userId: number, newEmail: string, now: Date): Promise<void> {
  await db.sql(
    `UPDATE users SET email = $2, email_verified = true, email_verified_at = $3::timestamptz, email_verification_token_hash = NULL,
       email_verification_expires = NULL, updated_at = $3::timestamptz, ${FORGET_OLD_ADDRESS} WHERE id = $1::int RETURNING id`,
    [userId, newEmail, now],
  );
}
