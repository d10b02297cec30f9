import type { App } from '../../../core/app.ts';
import { addMs, MINUTE_MS } from '../../../core/clock.ts';
import { columns, type RowOf } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import type { Random } from '../../../core/random.ts';
import { readEffectiveAccess } from '../../access/effective-access.ts';
import { forgetSessionUser } from '../authenticate.ts';
import { tokenPayloadInvalid, unauthorized, userNotActive } from '../errors.ts';
import { findById, findSessionUser } from '../repo.ts';
import { secretHash } from '../rules.ts';
import { requireSecondFactor } from '../second-factor/policy.ts';
import type { UserRecord } from '../types.ts';
import { accessSeconds, refreshExpiry, signAccessToken, signRefreshToken, userIdOf, verifyToken } from './sign-tokens.ts';
import type { TokenPair } from './types.ts';

/** The result of every sign-in. */
export interface SignIn extends TokenPair {
  user: UserRecord;
  /** Whether this request created the account; set by sign-ins that may create one. */
  isNew?: boolean;
}

export interface SessionOptions {
  /** How the session began: null, `oauth:{provider}`, `deep_link` or `merge`. */
  deviceInfo?: string;
  /** The hash a password was checked against: a reset in between makes the sign-in fail. */
  passwordHash?: string;
  /** When the user proved who he is; null where a link that was sent to him signs him in. Default: now. */
  provedAt?: Date | null;
  /** The second factor was shown; else a user who has one is asked for it. */
  hasSecondFactor?: boolean;
  /** The last end of all sessions as the first part of the sign-in saw it: another one since then makes it fail. Default: any. */
  sessionsEndedAt?: Date | null;
}

/**
 * The last step of every sign-in: records it and issues a token pair of a new family (spec 01 sections 2.1 and 5). Not for use inside
 * a transaction; the account must be committed.
 * @throws AppError 403 'User account is not active', also when that or the password has just changed | 403 {code: 'second_factor_required'}
 */
export async function openSession(app: App, userId: number, options: SessionOptions = {}): Promise<SignIn> {
  const { hasSecondFactor = false } = options;
  if (!hasSecondFactor) {
    const { deviceInfo = null, passwordHash = null } = options;
    await requireSecondFactor(app, userId, { deviceInfo, passwordHash });
  }
  const now = app.clock.now();
  const expiresAt = refreshExpiry(app);
  const refreshToken = await signRefreshToken(app, userId, expiresAt);
  const admission = await insertSession(app.db, {
    userId,
    tokenHash: secretHash(refreshToken),
    familyId: newFamilyId(app.random),
    deviceInfo: options.deviceInfo ?? null,
    // The clock of who signed the proof may be ahead of ours.
    hasSecondFactor,
    ...(options.sessionsEndedAt === undefined ? {} : { sessionsEndedAt: options.sessionsEndedAt }),
    provedAt: options.provedAt === null ? null : new Date(Math.min((options.provedAt ?? now).getTime(), now.getTime())),
    expiresAt,
    now,
    ...(options.passwordHash === undefined ? {} : { passwordHash: options.passwordHash }),
  });
  const user = admission ? await findById(app.db, userId) : null;
  if (!admission || !user) throw userNotActive();
  return { ...(await accessTokenFor(app, user, admission)), refreshToken, user };
}

/** An access token with the user's current roles. Not for use inside a transaction. */
export async function accessTokenFor(
  app: App,
  user: { id: number; messengerId: number | null },
  { sessionsEndedAt, familyId, ...proved }: Admission,
): Promise<Omit<TokenPair, 'refreshToken'>> {
  const access = await readEffectiveAccess(app, user.id);
  const accessToken = await signAccessToken(app, {
    userId: user.id,
    messengerId: user.messengerId,
    permissions: access.permissions,
    roles: access.roles,
    roleLevel: access.level,
    sessionsEndedAt,
    sessionId: familyId,
    ...proved,
  });
  return { accessToken, expiresIn: accessSeconds(app) };
}

export interface SessionProof {
  sessionId: string;
  provedAt: Date;
  /** The hash a password was checked against. */
  passwordHash: string | null;
  hasSecondFactor: boolean;
}

/**
 * Records that the user has proved again who he is, in the caller's transaction if there is one. The session's refresh token stays.
 * @returns for `accessTokenFor`; null when the session has ended, or the password is another one
 */
export function recordProof(t: App, userId: number, proof: SessionProof): Promise<Admission | null> {
  return setProved(t.db, { userId, ...proof, now: t.clock.now() });
}

/** A random id in the form of a UUID (the column's type). */
function newFamilyId(random: Random): string {
  return random
    .bytes(16)
    .toString('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

export const refreshTokenInvalid = unauthorized('refresh_token_invalid', 'Invalid or expired refresh token');
export const refreshTokenRevoked = unauthorized('refresh_token_revoked', 'Refresh token not found or revoked');
export const refreshTokenReused = unauthorized('refresh_token_reused', 'Refresh token not found or revoked');
const refreshTokenExpired = unauthorized('refresh_token_expired', 'Refresh token is no longer valid');
const userInactive = unauthorized('user_inactive', 'User not found or inactive');

/** A rotated token works this long, so that tabs which refresh at the same time all stay signed in (spec 01 section 5.3, spec 10 U2). */
const GRACE_MS = MINUTE_MS;

/**
 * A new access token for a refresh token, which stays the same for its whole life: clients store only the access token of an answer (spec 10
 * U2). Where the client asked for rotation, the refresh token is a new one too, and an old one that is used after the grace was stolen or
 * copied: the session ends.
 * @throws AppError 401 with the reason of spec 01 section 5.3
 */
export async function refreshSession(app: App, text: string): Promise<TokenPair> {
  const hash = secretHash(text);
  const payload = await verifyToken(app, text, 'refresh');
  // The existing product signed the texts of imported sessions with its own secret: that their hash is stored is the proof (spec 07 section 6).
  const userId = payload ? userIdOf(payload) : await findImportedOwner(app.db, hash);
  if (userId === null) throw payload ? tokenPayloadInvalid() : refreshTokenInvalid();
  const now = app.clock.now();
  const expiresAt = refreshExpiry(app);
  const refreshToken = await signRefreshToken(app, userId, expiresAt);
  const admission = await applyRefreshToken(app.db, {
    userId,
    hash,
    newHash: secretHash(refreshToken),
    expiresAt,
    now,
    graceSince: addMs(now, -GRACE_MS),
  });
  if (!admission) throw await refusal(app, await findRefreshToken(app.db, hash), now);
  const user = await findSessionUser(app.db, userId);
  const token = await accessTokenFor(app, { id: userId, messengerId: user?.messengerId ?? null }, admission);
  return { ...token, refreshToken: admission.rotates ? refreshToken : text };
}

/** Makes the refresh token of a sign-in rotate, for a client that stores each new one. To be called before the token is answered. */
export async function requestRotation(app: App, refreshToken: string): Promise<void> {
  await setRotates(app.db, secretHash(refreshToken));
}

async function refusal(app: App, token: RefreshTokenState | null, now: Date) {
  if (!token || token.revokedAt) return refreshTokenRevoked();
  if (token.rotatedAt && token.rotatedAt < addMs(now, -GRACE_MS)) {
    await endFamily(app, token);
    app.log.warn({ userId: token.userId }, 'an old refresh token was used again; the session is ended');
    return refreshTokenReused();
  }
  if (token.expiresAt < now) return refreshTokenExpired();
  return userInactive();
}

/** Ends the session of this refresh token, in every tab. Does nothing for an unknown token. */
export async function closeSession(app: App, text: string): Promise<void> {
  const token = await findRefreshToken(app.db, secretHash(text));
  if (token) await endFamily(app, token);
}

/**
 * Ends every session of a user: for password changes, block, soft delete and merge, in their transaction (spec 01 H8). Access tokens
 * are refused from the commit on; otherwise their bearer could link another sign-in method to the account until they expire. Call
 * `forgetSessionUser` in the same transaction.
 */
export async function closeAllSessions(t: App, userId: number): Promise<void> {
  await inTransaction(t, async (tx) => {
    await lockUser(tx.db, userId);
    await recordSessionsEnd(tx.db, userId, tx.clock.now());
    await revokeSessions(tx.db, userId, null, tx.clock.now());
  });
}

/** Ends every session of a user but one, in the caller's transaction. Access tokens of the others work until they expire. */
export async function closeOtherSessions(t: App, userId: number, sessionId: string): Promise<void> {
  await lockUser(t.db, userId);
  await revokeOthers(t.db, userId, sessionId, t.clock.now());
  await forgetSessionUser(t, userId);
}

/** Whether all sessions of one of these users were ended after that time. */
export function haveSessionsEndedSince(app: App, userIds: readonly number[], timestamp: Date): Promise<boolean> {
  return haveEndedSince(app.db, userIds, timestamp);
}

async function endFamily(app: App, { userId, familyId }: RefreshTokenState): Promise<void> {
  await inTransaction(app, async (t) => {
    await lockUser(t.db, userId);
    await revokeSessions(t.db, userId, familyId, t.clock.now());
    // Sockets of the session are looked at again (spec 10 U3).
    await forgetSessionUser(t, userId);
  });
}

interface SessionInsert {
  userId: number;
  tokenHash: string;
  familyId: string;
  deviceInfo: string | null;
  provedAt: Date | null;
  hasSecondFactor: boolean;
  /** The sign-in fails when it is another one by now; absent = any. */
  sessionsEndedAt?: Date | null;
  expiresAt: Date;
  now: Date;
  /** The hash the password was checked against; the sign-in fails when it has changed since. */
  passwordHash?: string;
}

/** State of the account when the session was admitted, read by the statement that admitted it. */
export interface Admission {
  /** When all sessions of the user were ended last; a later end makes what is issued now void. */
  sessionsEndedAt: Date | null;
  familyId: string;
  provedAt: Date | null;
  hasSecondFactor: boolean;
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
       WHERE id = $1::int AND status = 'active' AND ($7::text IS NULL OR password_hash = $7::text)
         AND ($10::boolean OR sessions_ended_at IS NOT DISTINCT FROM $11::timestamptz)
       RETURNING id, sessions_ended_at)
     INSERT INTO cabinet_refresh_tokens (user_id, token_hash, family_id, device_info, proved_at, has_second_factor, expires_at, created_at)
     SELECT id, $2, $3::uuid, $4, $8::timestamptz, $9::boolean, $5::timestamptz, $6::timestamptz FROM account
     RETURNING (SELECT sessions_ended_at FROM account), family_id, proved_at, has_second_factor`,
    [
      session.userId,
      session.tokenHash,
      session.familyId,
      session.deviceInfo,
      session.expiresAt,
      session.now,
      session.passwordHash ?? null,
      session.provedAt,
      session.hasSecondFactor,
      session.sessionsEndedAt === undefined,
      session.sessionsEndedAt ?? null,
    ],
  );
  return row ?? null;
}

interface TokenUse {
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
async function applyRefreshToken(db: Db, use: TokenUse): Promise<(Admission & { rotates: boolean }) | null> {
  const [row] = await db.sql<Admission & { rotates: boolean }>(
    `WITH account AS (
       SELECT id, sessions_ended_at FROM users WHERE id = $1::int AND status = 'active' FOR SHARE),
     used AS (
       UPDATE cabinet_refresh_tokens SET last_used_at = $5::timestamptz,
         rotated_at = CASE WHEN rotates THEN coalesce(rotated_at, $5::timestamptz) ELSE rotated_at END
       WHERE token_hash = $2 AND user_id = (SELECT id FROM account) AND revoked_at IS NULL AND expires_at >= $5::timestamptz
         AND (rotated_at IS NULL OR rotated_at >= $6::timestamptz)
       RETURNING user_id, family_id, device_info, rotates, proved_at, has_second_factor),
     successor AS (
       INSERT INTO cabinet_refresh_tokens (user_id, token_hash, family_id, device_info, rotates, proved_at, has_second_factor, expires_at, created_at)
       SELECT user_id, $3, family_id, device_info, true, proved_at, has_second_factor, $4::timestamptz, $5::timestamptz FROM used WHERE rotates)
     SELECT family_id, rotates, proved_at, has_second_factor, (SELECT sessions_ended_at FROM account) FROM used`,
    [use.userId, use.hash, use.newHash, use.expiresAt, use.now, use.graceSince],
  );
  return row ?? null;
}

/** Share-locks the user as `applyRefreshToken` does: an end of all sessions or another password that commits first refuses the proof. */
async function setProved(db: Db, proof: SessionProof & { userId: number; now: Date }): Promise<Admission | null> {
  const [row] = await db.sql<Admission>(
    `WITH account AS (
       SELECT id, sessions_ended_at FROM users
       WHERE id = $1::int AND status = 'active' AND ($4::text IS NULL OR password_hash = $4::text) FOR SHARE),
     proved AS (
       UPDATE cabinet_refresh_tokens SET proved_at = greatest(proved_at, $3::timestamptz),
         has_second_factor = has_second_factor OR $6::boolean
       WHERE user_id = (SELECT id FROM account) AND family_id = $2::uuid AND revoked_at IS NULL AND expires_at >= $5::timestamptz
       RETURNING family_id, proved_at, has_second_factor)
     SELECT family_id, max(proved_at) AS proved_at, bool_or(has_second_factor) AS has_second_factor,
       (SELECT sessions_ended_at FROM account) FROM proved GROUP BY family_id`,
    [proof.userId, proof.sessionId, proof.provedAt, proof.passwordHash, proof.now, proof.hasSecondFactor],
  );
  return row ?? null;
}

/** From now on each use of this refresh token gives a new one. */
async function setRotates(db: Db, tokenHash: string): Promise<void> {
  await db.sql('UPDATE cabinet_refresh_tokens SET rotates = true WHERE token_hash = $1 RETURNING id', [tokenHash]);
}

const TOKEN_STATE = columns('RefreshToken', ['userId', 'familyId', 'expiresAt', 'rotatedAt', 'revokedAt']);

type RefreshTokenState = RowOf<typeof TOKEN_STATE>;

async function findImportedOwner(db: Db, tokenHash: string): Promise<number | null> {
  const [row] = await db.sql<{ userId: number }>(
    'SELECT user_id FROM cabinet_refresh_tokens WHERE token_hash = $1 AND imported_at IS NOT NULL',
    [tokenHash],
  );
  return row?.userId ?? null;
}

async function findRefreshToken(db: Db, tokenHash: string): Promise<RefreshTokenState | null> {
  const [row] = await db.sql<RefreshTokenState>(`SELECT ${TOKEN_STATE.of()} FROM cabinet_refresh_tokens WHERE token_hash = $1`, [
    tokenHash,
  ]);
  return row ?? null;
}

/** Waits for refreshes and changes of second factors of this user that are under way, and blocks later ones. */
export async function lockUser(db: Db, userId: number): Promise<void> {
  await db.sql('SELECT id FROM users WHERE id = $1::int FOR NO KEY UPDATE', [userId]);
}

/**
 * Makes everything void that was issued for the user until now: see `SessionUser.sessionsEndedAt`. The stored time always increases,
 * also when two ends are in one millisecond or the clock of another instance is ahead.
 */
async function recordSessionsEnd(db: Db, userId: number, now: Date): Promise<void> {
  await db.sql(
    `UPDATE users SET sessions_ended_at = greatest(sessions_ended_at + interval '1 millisecond', $2::timestamptz)
     WHERE id = $1::int RETURNING id`,
    [userId, now],
  );
}

async function haveEndedSince(db: Db, userIds: readonly number[], timestamp: Date): Promise<boolean> {
  const rows = await db.sql('SELECT id FROM users WHERE id = ANY($1::int[]) AND sessions_ended_at > $2::timestamptz', [
    userIds,
    timestamp,
  ]);
  return rows.length > 0;
}

/** @param familyId null = every session of the user */
async function revokeSessions(db: Db, userId: number, familyId: string | null, now: Date): Promise<void> {
  await db.sql(
    `UPDATE cabinet_refresh_tokens SET revoked_at = $3::timestamptz
     WHERE user_id = $1::int AND ($2::uuid IS NULL OR family_id = $2::uuid) AND revoked_at IS NULL RETURNING id`,
    [userId, familyId, now],
  );
}

/** After the last second factor is gone: the sessions of the user count as begun without one. */
export async function forgetShownFactors(t: App, userId: number): Promise<void> {
  await t.db.sql(
    'UPDATE cabinet_refresh_tokens SET has_second_factor = false WHERE user_id = $1::int AND has_second_factor RETURNING id',
    [userId],
  );
}

async function revokeOthers(db: Db, userId: number, familyId: string, now: Date): Promise<void> {
  await db.sql(
    `UPDATE cabinet_refresh_tokens SET revoked_at = $3::timestamptz
     WHERE user_id = $1::int AND family_id <> $2::uuid AND revoked_at IS NULL RETURNING id`,
    [userId, familyId, now],
  );
}
