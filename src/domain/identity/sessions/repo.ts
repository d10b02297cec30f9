import { columns, type RowOf } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';

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

/** State of the account when the session was admitted, read by the statement that admitted it. */
export interface Admission {
  /** When all sessions of the user were ended last; a later end makes what is issued now void. */
  sessionsEndedAt: Date | null;
  /** The session. */
  familyId: string;
}

/**
 * Records a sign-in and stores its refresh token in one statement, if the user is (still) active and has (still) that password.
 * It takes the user's row lock, so a block or a password reset that commits first also refuses this session.
 * @returns null when the user may not sign in any more
 */
export async function insertSession(db: Db, session: SessionInsert): Promise<Admission | null> {
  const [row] = await db.sql<Admission>(
    `WITH account AS (
       UPDATE users SET cabinet_last_login = $6::timestamptz, last_activity = $6::timestamptz
       WHERE id = $1::int AND status = 'active' AND ($7::text IS NULL OR password_hash = $7::text) RETURNING id, sessions_ended_at)
     INSERT INTO cabinet_refresh_tokens (user_id, token_hash, family_id, device_info, expires_at, created_at)
     SELECT id, $2, $3::uuid, $4, $5::timestamptz, $6::timestamptz FROM account
     RETURNING (SELECT sessions_ended_at FROM account), family_id`,
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
  return row ?? null;
}

export interface TokenUse {
  userId: number;
  hash: string;
  /** Of the successor and its end, where the session rotates. */
  newHash: string;
  expiresAt: Date;
  now: Date;
  /** A token rotated before this time is not accepted any more. */
  graceSince: Date;
}

/**
 * Records a use of a refresh token and stores its successor where the session rotates, in one statement. Share-locks the user first, so
 * that it waits for a concurrent revocation and then finds the token revoked; a later revocation sees the successor.
 * @returns null when the token is not accepted; `findRefreshToken` returns the reason
 */
export async function applyRefreshToken(db: Db, use: TokenUse): Promise<(Admission & { rotates: boolean }) | null> {
  const [row] = await db.sql<Admission & { rotates: boolean }>(
    `WITH account AS (
       SELECT id, sessions_ended_at FROM users WHERE id = $1::int AND status = 'active' FOR SHARE),
     used AS (
       UPDATE cabinet_refresh_tokens SET last_used_at = $5::timestamptz,
         rotated_at = CASE WHEN rotates THEN coalesce(rotated_at, $5::timestamptz) ELSE rotated_at END
       WHERE token_hash = $2 AND user_id = (SELECT id FROM account) AND revoked_at IS NULL AND expires_at >= $5::timestamptz
         AND (rotated_at IS NULL OR rotated_at >= $6::timestamptz)
       RETURNING user_id, family_id, device_info, rotates),
     successor AS (
       INSERT INTO cabinet_refresh_tokens (user_id, token_hash, family_id, device_info, rotates, expires_at, created_at)
       SELECT user_id, $3, family_id, device_info, true, $4::timestamptz, $5::timestamptz FROM used WHERE rotates)
     SELECT family_id, rotates, (SELECT sessions_ended_at FROM account) FROM used`,
    [use.userId, use.hash, use.newHash, use.expiresAt, use.now, use.graceSince],
  );
  return row ?? null;
}

/** From now on each use of this refresh token gives a new one. */
export async function setRotates(db: Db, tokenHash: string): Promise<void> {
  await db.sql('UPDATE cabinet_refresh_tokens SET rotates = true WHERE token_hash = $1 RETURNING id', [tokenHash]);
}

const TOKEN_STATE = columns('RefreshToken', ['userId', 'familyId', 'expiresAt', 'rotatedAt', 'revokedAt']);

export type RefreshTokenState = RowOf<typeof TOKEN_STATE>;

export async function findRefreshToken(db: Db, tokenHash: string): Promise<RefreshTokenState | null> {
  const [row] = await db.sql<RefreshTokenState>(`SELECT ${TOKEN_STATE.of()} FROM cabinet_refresh_tokens WHERE token_hash = $1`, [
    tokenHash,
  ]);
  return row ?? null;
}

/** Waits for refreshes of this user that are under way and blocks later ones. */
export async function lockUser(db: Db, userId: number): Promise<void> {
  await db.sql('SELECT id FROM users WHERE id = $1::int FOR NO KEY UPDATE', [userId]);
}

/**
 * Makes everything void that was issued for the user until now: see `SessionUser.sessionsEndedAt`. The stored time always increases,
 * also when two ends are in one millisecond or the clock of another instance is ahead.
 */
export async function recordSessionsEnd(db: Db, userId: number, now: Date): Promise<void> {
  await db.sql(
    `UPDATE users SET sessions_ended_at = greatest(sessions_ended_at + interval '1 millisecond', $2::timestamptz)
     WHERE id = $1::int RETURNING id`,
    [userId, now],
  );
}

export async function haveEndedSince(db: Db, userIds: readonly number[], timestamp: Date): Promise<boolean> {
  const rows = await db.sql('SELECT id FROM users WHERE id = ANY($1::int[]) AND sessions_ended_at > $2::timestamptz', [
    userIds,
    timestamp,
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
