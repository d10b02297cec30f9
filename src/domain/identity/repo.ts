import { columns, type RowOf } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';
import type { NewUser } from './types.ts';

const USER = columns('User', [
  ...(['id', 'messengerId', 'authType', 'username', 'firstName', 'lastName', 'status', 'language', 'balanceKopeks'] as const),
  ...(['referralCode', 'referredById', 'email', 'emailVerified', 'googleId', 'yandexId', 'discordId', 'vkId'] as const),
  ...(['vpnpanelUuid', 'promoGroupId', 'restrictionTopup', 'restrictionSubscription', 'restrictionReason'] as const),
  ...(['partnerStatus', 'hasHadPaidSubscription', 'hasMadeFirstTopup', 'cabinetLastLogin', 'createdAt', 'updatedAt'] as const),
  'lastActivity',
]);

/**
 * A user as use cases see it, without secrets (password and token hashes). `email` is lower case; `emailVerified` is true only after a
 * secret sent to the address came back, or by a provider's verified claim (spec 01 H1); `promoGroupId` is the primary promo group: the
 * membership with the highest (priority, id).
 */
export type UserRecord = RowOf<typeof USER> & { hasPassword: boolean; referralCommissionPercent: number | null };

/** Columns of a `UserRecord`. */
export const USER_COLUMNS = `${USER.of()}, password_hash IS NOT NULL AS has_password,
  referral_commission_percent::float8 AS referral_commission_percent`;

const SESSION_USER = columns('User', [
  ...([
    'id',
    'status',
    'messengerId',
    'username',
    'language',
    'email',
    'emailVerified',
    'lastActivity',
    'sessionsEndedAt',
  ] as const),
]);

/**
 * Facts of a session's user, cached for seconds under `user:<id>`. Access tokens from before `sessionsEndedAt` are void; null: the
 * sessions were never ended together.
 */
export type SessionUser = RowOf<typeof SESSION_USER>;

async function findOne(db: Db, condition: string, value: unknown): Promise<UserRecord | null> {
  const [row] = await db.sql<UserRecord>(`SELECT ${USER_COLUMNS} FROM users WHERE ${condition}`, [value]);
  return row ?? null;
}

export const findById = (db: Db, id: number) => findOne(db, 'id = $1::int', id);
export const findByMessengerId = (db: Db, messengerId: number) => findOne(db, 'messenger_id = $1::bigint', messengerId);
/** @param email in lower case */
export const findByEmail = (db: Db, email: string) => findOne(db, 'email = $1', email);
/** Case-insensitive; of several, one with a messenger id first, then the one active last. Deleted accounts have no name. */
export async function findByUsername(db: Db, username: string): Promise<UserRecord | null> {
  const [row] = await db.sql<UserRecord>(
    `SELECT ${USER_COLUMNS} FROM users WHERE username IS NOT NULL AND lower(username) = lower($1)
     ORDER BY messenger_id IS NULL, last_activity DESC NULLS LAST, id DESC LIMIT 1`,
    [username],
  );
  return row ?? null;
}

/** One transaction at a time for a messenger name: names are not unique, so no key would prevent two new accounts. */
export async function lockUsername(db: Db, username: string): Promise<void> {
  await db.sql('SELECT pg_advisory_xact_lock(hashtext($1)) IS NULL AS locked', [`username:${username.toLowerCase()}`]);
}

/**
 * Binds a messenger id to the account that a purchase created for a name, if nobody can sign in to it and no other user has the id.
 * @returns the account's id; null when there is no such account
 */
export async function claimByUsername(db: Db, username: string, messengerId: number, now: Date): Promise<number | null> {
  const [row] = await db.sql<{ id: number }>(
    `UPDATE users SET messenger_id = $2::bigint, updated_at = $3::timestamptz WHERE id = (
       SELECT u.id FROM users u
       WHERE u.username IS NOT NULL AND lower(u.username) = lower($1) AND u.messenger_id IS NULL AND u.auth_type = 'messenger'
         AND u.status = 'active' AND u.email IS NULL AND u.password_hash IS NULL AND u.google_id IS NULL AND u.yandex_id IS NULL
         AND u.discord_id IS NULL AND u.vk_id IS NULL
         AND EXISTS (SELECT 1 FROM guest_purchases p WHERE p.user_id = u.id AND p.account_created)
       ORDER BY u.id LIMIT 1 FOR NO KEY UPDATE)
       AND NOT EXISTS (SELECT 1 FROM users k WHERE k.messenger_id = $2::bigint)
     RETURNING id`,
    [username, messengerId, now],
  );
  return row?.id ?? null;
}

/** Case-sensitive. */
export const findByReferralCode = (db: Db, code: string) => findOne(db, 'referral_code = $1', code);

export interface UserInsert extends Omit<NewUser, 'promoGroupId'> {
  language: string;
  referralCode: string;
  promoGroupId: number;
  assignedBy: string;
  now: Date;
}

/** Writes the user and the membership in the primary group. @returns null when a unique key refused the row */
export async function insertUser(db: Db, user: UserInsert): Promise<UserRecord | null> {
  const [row] = await db.sql<UserRecord>(
    `WITH made AS (
       INSERT INTO users (auth_type, messenger_id, username, first_name, last_name, email, email_verified, email_verified_at, password_hash,
         language, referred_by_id, referral_code, promo_group_id, created_at, updated_at, last_activity)
       VALUES ($1, $2::bigint, $3, $4, $5, $6, $7::boolean, CASE WHEN $7::boolean THEN $13::timestamptz END, $8, $9, $10::int, $11, $12::int,
         $13::timestamptz, $13::timestamptz, $13::timestamptz)
       ON CONFLICT DO NOTHING RETURNING *),
     membership AS (
       INSERT INTO user_promo_groups (user_id, promo_group_id, assigned_by, assigned_at)
       SELECT id, promo_group_id, $14, $13::timestamptz FROM made)
     SELECT ${USER_COLUMNS} FROM made`,
    [
      user.authType,
      user.messengerId,
      user.username,
      user.firstName,
      user.lastName,
      user.email,
      user.emailVerified,
      user.passwordHash,
      user.language,
      user.referredById,
      user.referralCode,
      user.promoGroupId,
      user.now,
      user.assignedBy,
    ],
  );
  return row ?? null;
}

export async function findDefaultPromoGroupId(db: Db): Promise<number | null> {
  const [row] = await db.sql<{ id: number }>('SELECT id FROM promo_groups WHERE is_default');
  return row?.id ?? null;
}

/** A default group without discounts; does nothing when there is one by now, or the name is taken. */
export async function insertDefaultPromoGroup(db: Db, name: string, now: Date): Promise<void> {
  await db.sql(
    `INSERT INTO promo_groups (name, is_default, created_at, updated_at) VALUES ($1, true, $2::timestamptz, $2::timestamptz)
     ON CONFLICT DO NOTHING RETURNING id`,
    [name, now],
  );
}

export const findSessionUser = (db: Db, id: number) => findSession(db, 'id = $1::int', id);
export const findSessionUserByMessengerId = (db: Db, messengerId: number) =>
  findSession(db, 'messenger_id = $1::bigint', messengerId);

export interface OpenSession extends SessionUser {
  sessionId: string;
  /** Whether any role is assigned to the user. */
  hasRoles: boolean;
  hasSecondFactor: boolean;
}

/** Those of these sessions that are open: neither revoked nor past their end, of a user who exists. One statement for any number. */
export function listOpenSessions(
  db: Db,
  sessions: readonly { userId: number; sessionId: string }[],
  now: Date,
): Promise<OpenSession[]> {
  return db.sql(
    `SELECT w.session_id, EXISTS (SELECT FROM user_roles r WHERE r.user_id = u.id) AS has_roles, s.has_second_factor, ${SESSION_USER.of('u')}
     FROM unnest($1::int[], $2::uuid[]) w (user_id, session_id) JOIN users u ON u.id = w.user_id
     JOIN LATERAL (SELECT t.has_second_factor FROM cabinet_refresh_tokens t WHERE t.family_id = w.session_id AND t.user_id = u.id
       AND t.revoked_at IS NULL AND t.rotated_at IS NULL AND t.expires_at >= $3::timestamptz LIMIT 1) s ON true`,
    [sessions.map(({ userId }) => userId), sessions.map(({ sessionId }) => sessionId), now],
  );
}

async function findSession(db: Db, condition: string, value: number): Promise<SessionUser | null> {
  const [row] = await db.sql<SessionUser>(`SELECT ${SESSION_USER.of()} FROM users WHERE ${condition}`, [value]);
  return row ?? null;
}

/** Moves `last_activity` unless it is younger than 5 minutes (spec 01 H22). */
export async function touchActivity(db: Db, id: number, now: Date): Promise<void> {
  await db.sql(
    `UPDATE users SET last_activity = $2::timestamptz
     WHERE id = $1::int AND (last_activity IS NULL OR last_activity < $2::timestamptz - interval '5 minutes') RETURNING id`,
    [id, now],
  );
}

export type Profile = Pick<UserRecord, 'username' | 'firstName' | 'lastName'>;

export async function updateProfile(db: Db, id: number, profile: Profile, now: Date): Promise<void> {
  await db.prisma.user.updateMany({ where: { id }, data: { ...profile, updatedAt: now } });
}

export async function setLanguage(db: Db, id: number, language: string, now: Date): Promise<void> {
  await db.prisma.user.updateMany({ where: { id }, data: { language, updatedAt: now } });
}

const PASSWORD_USER = columns('User', ['id', 'status', 'passwordHash', 'emailVerified']);

/** Data that a sign-in by password is checked against. Has a secret: never return it from a use case. */
export type PasswordUser = RowOf<typeof PASSWORD_USER>;

/** @param email in lower case */
export async function findPasswordUser(db: Db, email: string): Promise<PasswordUser | null> {
  const [row] = await db.sql<PasswordUser>(`SELECT ${PASSWORD_USER.of()} FROM users WHERE email = $1`, [email]);
  return row ?? null;
}

/** Has a secret: never return it from a use case. */
export async function findCredentials(db: Db, userId: number): Promise<Pick<PasswordUser, 'status' | 'passwordHash'> | null> {
  const [row] = await db.sql<PasswordUser>('SELECT status, password_hash FROM users WHERE id = $1::int', [userId]);
  return row ?? null;
}

const CANDIDATE = columns('User', ['id', 'status', 'messengerId', 'emailVerified']);

/** `hasOtherSignIn`: the account has a messenger account or one of a provider. */
export type AdminCandidate = RowOf<typeof CANDIDATE> & { hasPassword: boolean; hasOtherSignIn: boolean };

/** Locks the account of this e-mail, so that no sign-in or change of address comes between check and promotion. */
export async function lockAdminCandidate(db: Db, email: string): Promise<AdminCandidate | null> {
  const [row] = await db.sql<AdminCandidate>(
    `SELECT ${CANDIDATE.of()}, password_hash IS NOT NULL AS has_password,
       num_nonnulls(messenger_id, google_id, yandex_id, discord_id, vk_id) > 0 AS has_other_sign_in
     FROM users WHERE email = $1 FOR NO KEY UPDATE`,
    [email],
  );
  return row ?? null;
}

/**
 * Marks the address verified on the operator's statement; links mailed for it before become void.
 * @param passwordHash null = the password stays
 */
export async function verifyEmailByOperator(db: Db, userId: number, passwordHash: string | null, now: Date): Promise<void> {
  await db.sql(
    `UPDATE users SET email_verified = true, email_verified_at = coalesce(email_verified_at, $3::timestamptz),
       email_verification_token_hash = NULL, email_verification_expires = NULL,
       password_hash = coalesce($2, password_hash), password_reset_token_hash = NULL, password_reset_expires = NULL,
       updated_at = $3::timestamptz
     WHERE id = $1::int RETURNING id`,
    [userId, passwordHash, now],
  );
}

export type MessengerAccount = Profile & { messengerId: number };

/** A unique key refuses a messenger account of another user. */
export async function setMessengerAccount(db: Db, userId: number, account: MessengerAccount, now: Date): Promise<void> {
  await db.prisma.user.updateMany({ where: { id: userId }, data: { ...account, updatedAt: now } });
}

export async function markPaidSubscriber(db: Db, userId: number, now: Date): Promise<void> {
  await db.sql(
    `UPDATE users SET has_had_paid_subscription = true, updated_at = $2::timestamptz
     WHERE id = $1::int AND NOT has_had_paid_subscription RETURNING id`,
    [userId, now],
  );
}

/** Sets the flag of the first top-up. @returns false when it was set before */
export async function setFirstTopup(db: Db, userId: number, now: Date): Promise<boolean> {
  const rows = await db.sql<{ id: number }>(
    'UPDATE users SET has_made_first_topup = true, updated_at = $2::timestamptz WHERE id = $1::int AND NOT has_made_first_topup RETURNING id',
    [userId, now],
  );
  return rows.length > 0;
}
