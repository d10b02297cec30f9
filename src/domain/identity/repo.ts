import type { Db } from '../../core/db/db.ts';
import type { AuthType, SessionUser, UserRecord, UserStatus } from './types.ts';

export interface UserRow {
  id: number;
  messengerId: number | null;
  authType: AuthType;
  username: string | null;
  firstName: string | null;
  lastName: string | null;
  status: UserStatus;
  language: string;
  balanceKopeks: number;
  referralCode: string;
  referredById: number | null;
  email: string | null;
  emailVerified: boolean;
  hasPassword: boolean;
  googleId: string | null;
  yandexId: string | null;
  discordId: string | null;
  vkId: number | null;
  vpnpanelUuid: string | null;
  promoGroupId: number | null;
  referralCommissionPercent: number | null;
  restrictionTopup: boolean;
  restrictionSubscription: boolean;
  restrictionReason: string | null;
  partnerStatus: string;
  hasHadPaidSubscription: boolean;
  hasMadeFirstTopup: boolean;
  cabinetLastLogin: Date | null;
  createdAt: Date;
  updatedAt: Date;
  lastActivity: Date | null;
}

/** Columns of a `UserRow`; no secret among them. */
export const USER_COLUMNS = `id, messenger_id, auth_type, username, first_name, last_name, status, language, balance_kopeks, referral_code,
  referred_by_id, email, email_verified, password_hash IS NOT NULL AS has_password, google_id, yandex_id, discord_id, vk_id, vpnpanel_uuid,
  promo_group_id, referral_commission_percent::float8 AS referral_commission_percent, restriction_topup, restriction_subscription, restriction_reason, partner_status,
  has_had_paid_subscription, has_made_first_topup, cabinet_last_login, created_at, updated_at, last_activity`;

export function toUser(row: UserRow): UserRecord {
  return {
    id: row.id,
    messengerId: row.messengerId,
    authType: row.authType,
    username: row.username,
    firstName: row.firstName,
    lastName: row.lastName,
    status: row.status,
    language: row.language,
    balanceKopeks: row.balanceKopeks,
    referralCode: row.referralCode,
    referredById: row.referredById,
    email: row.email,
    emailVerified: row.emailVerified,
    hasPassword: row.hasPassword,
    googleId: row.googleId,
    yandexId: row.yandexId,
    discordId: row.discordId,
    vkId: row.vkId,
    vpnpanelUuid: row.vpnpanelUuid,
    promoGroupId: row.promoGroupId,
    referralCommissionPercent: row.referralCommissionPercent,
    restrictionTopup: row.restrictionTopup,
    restrictionSubscription: row.restrictionSubscription,
    restrictionReason: row.restrictionReason,
    partnerStatus: row.partnerStatus,
    hasHadPaidSubscription: row.hasHadPaidSubscription,
    hasMadeFirstTopup: row.hasMadeFirstTopup,
    cabinetLastLogin: row.cabinetLastLogin,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    lastActivity: row.lastActivity,
  };
}

async function findOne(db: Db, condition: string, value: unknown): Promise<UserRecord | null> {
  const [row] = await db.sql<UserRow>(`SELECT ${USER_COLUMNS} FROM users WHERE ${condition}`, [value]);
  return row ? toUser(row) : null;
}

export const findById = (db: Db, id: number) => findOne(db, 'id = $1::int', id);
export const findByMessengerId = (db: Db, messengerId: number) => findOne(db, 'messenger_id = $1::bigint', messengerId);
/** @param email in lower case */
export const findByEmail = (db: Db, email: string) => findOne(db, 'email = $1', email);
/** In any case of letters; of several, one that the messenger reaches, then the one seen last. Deleted accounts have no name. */
export async function findByUsername(db: Db, username: string): Promise<UserRecord | null> {
  const [row] = await db.sql<UserRow>(
    `SELECT ${USER_COLUMNS} FROM users WHERE username IS NOT NULL AND lower(username) = lower($1)
     ORDER BY messenger_id IS NULL, last_activity DESC NULLS LAST, id DESC LIMIT 1`,
    [username],
  );
  return row ? toUser(row) : null;
}

/** One transaction at a time for a messenger name: names are not unique, so no key would keep two new accounts apart. */
export async function lockUsername(db: Db, username: string): Promise<void> {
  await db.sql('SELECT pg_advisory_xact_lock(hashtext($1)) IS NULL AS locked', [`username:${username.toLowerCase()}`]);
}

/**
 * Binds a messenger id to the account that a purchase made for a name: without a single way in, and of nobody who is known already.
 * @returns the account's id; null when there is none
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

export interface UserInsert {
  authType: AuthType;
  messengerId: number | null;
  username: string | null;
  firstName: string | null;
  lastName: string | null;
  email: string | null;
  emailVerified: boolean;
  passwordHash: string | null;
  language: string;
  referredById: number | null;
  referralCode: string;
  promoGroupId: number;
  assignedBy: string;
  now: Date;
}

/** Writes the user and the membership in the primary group. @returns null when a unique key refused the row */
export async function insertUser(db: Db, user: UserInsert): Promise<UserRecord | null> {
  const [row] = await db.sql<UserRow>(
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
  return row ? toUser(row) : null;
}

export async function findDefaultPromoGroupId(db: Db): Promise<number | null> {
  const [row] = await db.sql<{ id: number }>('SELECT id FROM promo_groups WHERE is_default');
  return row?.id ?? null;
}

/** A default group without discounts; does nothing where there is one by now, or the name is taken. */
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

async function findSession(db: Db, condition: string, value: number): Promise<SessionUser | null> {
  const [row] = await db.sql<UserRow & { sessionsEndedAt: Date | null }>(
    `SELECT id, status, messenger_id, username, language, email, email_verified, last_activity, sessions_ended_at
     FROM users WHERE ${condition}`,
    [value],
  );
  if (!row) return null;
  return {
    id: row.id,
    status: row.status,
    messengerId: row.messengerId,
    username: row.username,
    language: row.language,
    email: row.email,
    emailVerified: row.emailVerified,
    lastActivity: row.lastActivity,
    sessionsEndedAt: row.sessionsEndedAt,
  };
}

/** Moves `last_activity` unless it is younger than 5 minutes (spec 01 H22). */
export async function touchActivity(db: Db, id: number, now: Date): Promise<void> {
  await db.sql(
    `UPDATE users SET last_activity = $2::timestamptz
     WHERE id = $1::int AND (last_activity IS NULL OR last_activity < $2::timestamptz - interval '5 minutes') RETURNING id`,
    [id, now],
  );
}

export interface Profile {
  username: string | null;
  firstName: string | null;
  lastName: string | null;
}

export async function updateProfile(db: Db, id: number, profile: Profile, now: Date): Promise<void> {
  await db.sql(
    'UPDATE users SET username = $2, first_name = $3, last_name = $4, updated_at = $5::timestamptz WHERE id = $1::int RETURNING id',
    [id, profile.username, profile.firstName, profile.lastName, now],
  );
}

/** The row a sign-in by password is judged by. */
export interface PasswordUser {
  id: number;
  status: UserStatus;
  passwordHash: string | null;
  emailVerified: boolean;
}

export async function findPasswordUser(db: Db, email: string): Promise<PasswordUser | null> {
  const [row] = await db.sql<{ id: number; status: UserStatus; passwordHash: string | null; emailVerified: boolean }>(
    'SELECT id, status, password_hash, email_verified FROM users WHERE email = $1',
    [email],
  );
  return row ? { id: row.id, status: row.status, passwordHash: row.passwordHash, emailVerified: row.emailVerified } : null;
}
