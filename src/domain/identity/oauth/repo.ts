import type { Db } from '../../../core/db/db.ts';
import { USER_COLUMNS } from '../repo.ts';
import type { UserRecord } from '../types.ts';
import type { OAuthProvider } from './types.ts';

const COLUMNS: Readonly<Record<OAuthProvider, { name: string; type: 'text' | 'bigint' }>> = {
  google: { name: 'google_id', type: 'text' },
  yandex: { name: 'yandex_id', type: 'text' },
  discord: { name: 'discord_id', type: 'text' },
  vk: { name: 'vk_id', type: 'bigint' },
};

/** Secrets and codes that were mailed; they become void when the address changes its owner. */
const FORGET_MAILED = `email_verification_token_hash = NULL, email_verification_expires = NULL, password_reset_token_hash = NULL,
  password_reset_expires = NULL, email_change_new = NULL, email_change_code_hash = NULL, email_change_expires = NULL,
  email_change_attempts = 0`;

async function lockOne(db: Db, condition: string, value: unknown): Promise<UserRecord | null> {
  const [row] = await db.sql<UserRecord>(`SELECT ${USER_COLUMNS} FROM users WHERE ${condition} FOR NO KEY UPDATE`, [value]);
  return row ?? null;
}

export const lockUserById = (db: Db, id: number) => lockOne(db, 'id = $1::int', id);
/** @param email in lower case */
export const lockUserByEmail = (db: Db, email: string) => lockOne(db, 'email = $1', email);

export function lockUserByProviderId(db: Db, provider: OAuthProvider, providerId: string): Promise<UserRecord | null> {
  const { name, type } = COLUMNS[provider];
  return lockOne(db, `${name} = $1::${type}`, stored(provider, providerId));
}

export async function findIdByProviderId(db: Db, provider: OAuthProvider, providerId: string): Promise<number | null> {
  const { name, type } = COLUMNS[provider];
  const [row] = await db.sql<{ id: number }>(`SELECT id FROM users WHERE ${name} = $1::${type}`, [stored(provider, providerId)]);
  return row?.id ?? null;
}

/** Binds an account of the provider to a user, or unbinds it (null). A unique key refuses one of another user. */
export async function setProviderId(
  db: Db,
  userId: number,
  provider: OAuthProvider,
  providerId: string | null,
  now: Date,
): Promise<void> {
  const { name, type } = COLUMNS[provider];
  await db.sql(`UPDATE users SET ${name} = $2::${type}, updated_at = $3::timestamptz WHERE id = $1::int RETURNING id`, [
    userId,
    providerId === null ? null : stored(provider, providerId),
    now,
  ]);
}

/** The address belongs to another person: this user loses it together with the password. */
export async function releaseEmail(db: Db, userId: number, now: Date): Promise<void> {
  await db.sql(
    `UPDATE users SET email = NULL, email_verified = false, email_verified_at = NULL, password_hash = NULL, ${FORGET_MAILED},
       updated_at = $2::timestamptz WHERE id = $1::int RETURNING id`,
    [userId, now],
  );
}

/** The owner of the address has proved it and gets the account: the password, which a stranger may have set, is removed. */
export async function assignToEmailOwner(db: Db, userId: number, now: Date): Promise<void> {
  await db.sql(
    `UPDATE users SET email_verified = true, email_verified_at = $2::timestamptz, password_hash = NULL, ${FORGET_MAILED},
       updated_at = $2::timestamptz WHERE id = $1::int RETURNING id`,
    [userId, now],
  );
}

function stored(provider: OAuthProvider, providerId: string): string | number {
  return COLUMNS[provider].type === 'bigint' ? Number(providerId) : providerId;
}
