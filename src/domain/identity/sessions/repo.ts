import type { Db } from '../../../core/db/db.ts';

/** The secret made for an installation without one; made now when there is none. Two first callers get the same one. */
export async function ensureStoredSecret(db: Db, key: string, candidate: string, now: Date): Promise<string> {
  await db.sql(
    `INSERT INTO service_state (key, value, updated_at) VALUES ($1, $2::jsonb, $3::timestamptz) ON CONFLICT (key) DO NOTHING RETURNING key`,
    [key, JSON.stringify({ secret: candidate }), now],
  );
  const [row] = await db.sql<{ value: { secret: string } }>('SELECT value FROM service_state WHERE key = $1', [key]);
  return row!.value.secret;
}

export interface SessionInsert {
  userId: number;
  tokenHash: string;
  familyId: string;
  deviceInfo: string | null;
  expiresAt: Date;
  now: Date;
  /** The hash the password was checked against; the sign-in fails when it has changed since. */
  passwordHash?: string;
}

/** What a session was admitted under, read by the very statement that admitted it. */
export interface Admission {
  /** When all sessions of the user were ended last; a later end makes what is issued now void. */
  sessionsEndedAt: Date | null;
}

/**
 * Notes a sign-in and stores its refresh token in one statement, if the user is (still) active and has (still) that password.
 * It takes the user's row lock, so blocking or a password reset that commits first also keeps this session out.
 * @returns null when the user may not sign in any more
 */
export async function insertSession(db: Db, session: SessionInsert): Promise<Admission | null> {
  const [row] = await db.sql<{ sessionsEndedAt: Date | null }>(
    `WITH holder AS (
       UPDATE users SET cabinet_last_login = $6::timestamptz, last_activity = $6::timestamptz
       WHERE id = $1::int AND status = 'active' AND ($7::text IS NULL OR password_hash = $7::text) RETURNING id, sessions_ended_at)
     INSERT INTO cabinet_refresh_tokens (user_id, token_hash, family_id, device_info, expires_at, created_at)
     SELECT id, $2, $3::uuid, $4, $5::timestamptz, $6::timestamptz FROM holder
     RETURNING (SELECT sessions_ended_at FROM holder)`,
    [
      session.userId,
      session.tokenHash,
      session.familyId,
      session.deviceInfo,
      session.expiresAt,
      session.now,
      session.passwordHash ?? null,
    ],
  );
  return admissionOf(row);
}

const admissionOf = (row: Admission | undefined): Admission | null => row ?? null;

export interface Rotation {
  userId: number;
  oldHash: string;
  newHash: string;
  expiresAt: Date;
  now: Date;
  /** A token rotated before this moment is not accepted any more. */
  graceSince: Date;
}

/**
 * Exchanges a refresh token for its successor in one statement. Share-locks the user first, so that it waits for a revocation
 * under way and then finds the token revoked; a revocation that comes later sees the successor.
 * @returns null when the token cannot be exchanged; `findRefreshToken` says why
 */
export async function rotateRefreshToken(db: Db, rotation: Rotation): Promise<Admission | null> {
  const [row] = await db.sql<{ sessionsEndedAt: Date | null }>(
    `WITH holder AS (
       SELECT id, sessions_ended_at FROM users WHERE id = $1::int AND status = 'active' FOR SHARE),
     rotated AS (
       UPDATE cabinet_refresh_tokens SET rotated_at = coalesce(rotated_at, $5::timestamptz)
       WHERE token_hash = $2 AND user_id = (SELECT id FROM holder) AND revoked_at IS NULL AND expires_at >= $5::timestamptz
         AND (rotated_at IS NULL OR rotated_at >= $6::timestamptz)
       RETURNING user_id, family_id, device_info)
     INSERT INTO cabinet_refresh_tokens (user_id, token_hash, family_id, device_info, expires_at, created_at)
     SELECT user_id, $3, family_id, device_info, $4::timestamptz, $5::timestamptz FROM rotated
     RETURNING (SELECT sessions_ended_at FROM holder)`,
    [rotation.userId, rotation.oldHash, rotation.newHash, rotation.expiresAt, rotation.now, rotation.graceSince],
  );
  return admissionOf(row);
}

export interface RefreshTokenState {
  userId: number;
  familyId: string;
  expiresAt: Date;
  rotatedAt: Date | null;
  revokedAt: Date | null;
}

export async function findRefreshToken(db: Db, tokenHash: string): Promise<RefreshTokenState | null> {
  const [row] = await db.sql<{
    userId: number;
    familyId: string;
    expiresAt: Date;
    rotatedAt: Date | null;
    revokedAt: Date | null;
  }>('SELECT user_id, family_id, expires_at, rotated_at, revoked_at FROM cabinet_refresh_tokens WHERE token_hash = $1', [
    tokenHash,
  ]);
  if (!row) return null;
  return {
    userId: row.userId,
    familyId: row.familyId,
    expiresAt: row.expiresAt,
    rotatedAt: row.rotatedAt,
    revokedAt: row.revokedAt,
  };
}

/** Waits for refreshes of this user that are under way and holds off later ones. */
export async function lockUser(db: Db, userId: number): Promise<void> {
  await db.sql('SELECT id FROM users WHERE id = $1::int FOR NO KEY UPDATE', [userId]);
}

/**
 * Everything that was issued for the user until now is void: see `SessionUser.sessionsEndedAt`. It always moves forward, also when two
 * ends share a millisecond or another instance's clock is ahead.
 */
export async function noteSessionsEnded(db: Db, userId: number, now: Date): Promise<void> {
  await db.sql(
    `UPDATE users SET sessions_ended_at = greatest(sessions_ended_at + interval '1 millisecond', $2::timestamptz)
     WHERE id = $1::int RETURNING id`,
    [userId, now],
  );
}

export async function haveEndedSince(db: Db, userIds: readonly number[], moment: Date): Promise<boolean> {
  const rows = await db.sql('SELECT id FROM users WHERE id = ANY($1::int[]) AND sessions_ended_at > $2::timestamptz', [
    userIds,
    moment,
  ]);
  return rows.length > 0;
}

/** @param familyId null = every session of the user */
export async function revokeSessions(db: Db, userId: number, familyId: string | null, now: Date): Promise<void> {
  await db.sql(
    `UPDATE cabinet_refresh_tokens SET revoked_at = $3::timestamptz
     WHERE user_id = $1::int AND ($2::uuid IS NULL OR family_id = $2::uuid) AND revoked_at IS NULL RETURNING id`,
    [userId, familyId, now],
  );
}
