import { columns, type RowOf } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';

const FACTOR = columns('SecondFactor', ['id', 'kind', 'name', 'createdAt', 'lastUsedAt']);

/** A second factor that was tried once, as its owner sees it. */
export type SecondFactor = RowOf<typeof FACTOR>;

/** Confirmed ones, oldest first. */
export function listFactors(db: Db, userId: number): Promise<SecondFactor[]> {
  return db.sql<SecondFactor>(
    `SELECT ${FACTOR.of()} FROM second_factors WHERE user_id = $1::int AND confirmed_at IS NOT NULL ORDER BY id`,
    [userId],
  );
}

export interface TotpInsert {
  userId: number;
  name: string;
  /** Encrypted. */
  secret: string;
  now: Date;
}

/** An authenticator that does not count until a code of it was entered; it replaces one that never was. */
export async function insertTotp(db: Db, { userId, name, secret, now }: TotpInsert): Promise<number> {
  const [row] = await db.sql<{ id: number }>(
    `WITH abandoned AS (DELETE FROM second_factors WHERE user_id = $1::int AND confirmed_at IS NULL)
     INSERT INTO second_factors (user_id, kind, name, secret, created_at) VALUES ($1::int, 'totp', $2, $3, $4::timestamptz) RETURNING id`,
    [userId, name, secret, now],
  );
  return row!.id;
}

const TOTP = columns('SecondFactor', ['id', 'secret', 'lastStep']);

/** An authenticator app; `lastStep` is the time step of its last accepted code. */
export type Totp = RowOf<typeof TOTP> & { secret: string };

/** @param isConfirmed those that count, or the one that waits for its first code */
export function listTotps(db: Db, userId: number, isConfirmed: boolean): Promise<Totp[]> {
  return db.sql<Totp>(
    `SELECT ${TOTP.of()} FROM second_factors
     WHERE user_id = $1::int AND kind = 'totp' AND (confirmed_at IS NOT NULL) = $2::boolean ORDER BY id`,
    [userId, isConfirmed],
  );
}

/** Records that a code was used, and confirms its authenticator. @returns false when it, or one after it, has been used */
export async function spendStep(db: Db, id: number, step: number, now: Date): Promise<boolean> {
  const rows = await db.sql(
    `UPDATE second_factors SET last_step = $2::bigint, last_used_at = $3::timestamptz, confirmed_at = coalesce(confirmed_at, $3::timestamptz)
     WHERE id = $1::int AND (last_step IS NULL OR last_step < $2::bigint) RETURNING id`,
    [id, step, now],
  );
  return rows.length > 0;
}

const PASSKEY = columns('SecondFactor', ['id', 'credentialId', 'publicKey', 'signCount', 'transports']);

export type Passkey = RowOf<typeof PASSKEY> & { credentialId: string; publicKey: string; signCount: number };

export function listPasskeys(db: Db, userId: number): Promise<Passkey[]> {
  return db.sql<Passkey>(`SELECT ${PASSKEY.of()} FROM second_factors WHERE user_id = $1::int AND kind = 'passkey' ORDER BY id`, [
    userId,
  ]);
}

export interface PasskeyInsert {
  userId: number;
  name: string;
  credentialId: string;
  /** Base64url. */
  publicKey: string;
  signCount: number;
  transports: readonly string[];
  now: Date;
}

/** @returns null when an account has this passkey already */
export async function insertPasskey(db: Db, passkey: PasskeyInsert): Promise<number | null> {
  const { userId, name, credentialId, publicKey, signCount, transports, now } = passkey;
  const [row] = await db.sql<{ id: number }>(
    `INSERT INTO second_factors (user_id, kind, name, credential_id, public_key, sign_count, transports, created_at, confirmed_at)
     VALUES ($1::int, 'passkey', $2, $3, $4, $5::bigint, $6::jsonb, $7::timestamptz, $7::timestamptz)
     ON CONFLICT (credential_id) DO NOTHING RETURNING id`,
    [userId, name, credentialId, publicKey, signCount, JSON.stringify(transports), now],
  );
  return row?.id ?? null;
}

/** @returns false when a signature with this count, or a later one, was accepted: a copy of the authenticator signs, too */
export async function spendSignature(db: Db, id: number, signCount: number, now: Date): Promise<boolean> {
  const rows = await db.sql(
    `UPDATE second_factors SET sign_count = $2::bigint, last_used_at = $3::timestamptz
     WHERE id = $1::int AND (sign_count < $2::bigint OR (sign_count = 0 AND $2::bigint = 0)) RETURNING id`,
    [id, signCount, now],
  );
  return rows.length > 0;
}

/** @returns null when the user has no such factor */
export async function deleteFactor(db: Db, userId: number, id: number): Promise<{ kind: string; name: string } | null> {
  const [row] = await db.sql<{ kind: string; name: string }>(
    'DELETE FROM second_factors WHERE id = $2::int AND user_id = $1::int AND confirmed_at IS NOT NULL RETURNING kind, name',
    [userId, id],
  );
  return row ?? null;
}

/** @returns null when the account has no such factor */
export async function renameFactor(db: Db, userId: number, id: number, name: string): Promise<SecondFactor | null> {
  const [row] = await db.sql<SecondFactor>(
    `UPDATE second_factors SET name = $3 WHERE id = $2::int AND user_id = $1::int AND confirmed_at IS NOT NULL RETURNING ${FACTOR.of()}`,
    [userId, id, name],
  );
  return row ?? null;
}

/** @returns how many there were */
export async function deleteAllFactors(db: Db, userId: number): Promise<number> {
  const rows = await db.sql('DELETE FROM second_factors WHERE user_id = $1::int RETURNING id', [userId]);
  return rows.length;
}

/** In place of those of before. @param hashes of none: they are deleted */
export async function replaceRecoveryCodes(db: Db, userId: number, hashes: readonly string[], now: Date): Promise<void> {
  await db.sql('DELETE FROM recovery_codes WHERE user_id = $1::int RETURNING id', [userId]);
  if (hashes.length === 0) return;
  await db.sql(
    `INSERT INTO recovery_codes (user_id, code_hash, created_at)
     SELECT $1::int, h, $3::timestamptz FROM unnest($2::text[]) h RETURNING id`,
    [userId, hashes, now],
  );
}

export async function countRecoveryCodes(db: Db, userId: number): Promise<number> {
  const [row] = await db.sql<{ left: number }>(
    'SELECT count(*)::int AS left FROM recovery_codes WHERE user_id = $1::int AND used_at IS NULL',
    [userId],
  );
  return row!.left;
}

/** Of two at once with one code, one gets true. */
export async function spendRecoveryCode(db: Db, userId: number, hash: string, now: Date): Promise<boolean> {
  const rows = await db.sql(
    'UPDATE recovery_codes SET used_at = $3::timestamptz WHERE user_id = $1::int AND code_hash = $2 AND used_at IS NULL RETURNING id',
    [userId, hash, now],
  );
  return rows.length > 0;
}

/** What makes a sign-in that is under way void when it changes. */
export async function findSignInState(
  db: Db,
  userId: number,
): Promise<{ sessionsEndedAt: Date | null; passwordHash: string | null } | null> {
  const [row] = await db.sql<{ sessionsEndedAt: Date | null; passwordHash: string | null }>(
    'SELECT sessions_ended_at, password_hash FROM users WHERE id = $1::int',
    [userId],
  );
  return row ?? null;
}
