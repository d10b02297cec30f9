import type { Db } from '../../core/db/db.ts';

export interface AdminCandidate {
  id: number;
  status: string;
  messengerId: number | null;
  emailVerified: boolean;
  hasPassword: boolean;
  /** It can be entered by messenger or by an account of a provider, too. */
  hasOtherWayIn: boolean;
}

/** Locks the account of this e-mail, so that no sign-in or change of address comes between check and promotion. */
export async function lockByEmail(db: Db, email: string): Promise<AdminCandidate | null> {
  const [row] = await db.sql<{
    id: number;
    status: string;
    messengerId: number | null;
    emailVerified: boolean;
    hasPassword: boolean;
    hasOtherWayIn: boolean;
  }>(
    `SELECT id, status, messenger_id, email_verified, password_hash IS NOT NULL AS has_password,
       num_nonnulls(messenger_id, google_id, yandex_id, discord_id, vk_id) > 0 AS has_other_way_in
     FROM users WHERE email = $1 FOR NO KEY UPDATE`,
    [email],
  );
  if (!row) return null;
  return {
    id: row.id,
    status: row.status,
    messengerId: row.messengerId,
    emailVerified: row.emailVerified,
    hasPassword: row.hasPassword,
    hasOtherWayIn: row.hasOtherWayIn,
  };
}

/**
 * The operator vouches for the address; links mailed for it before are void.
 * @param passwordHash null = the password stays
 */
export async function vouchForEmail(db: Db, userId: number, passwordHash: string | null, now: Date): Promise<void> {
  await db.sql(
    `UPDATE users SET email_verified = true, email_verified_at = coalesce(email_verified_at, $3::timestamptz),
       email_verification_token_hash = NULL, email_verification_expires = NULL,
       password_hash = coalesce($2, password_hash), password_reset_token_hash = NULL, password_reset_expires = NULL,
       updated_at = $3::timestamptz
     WHERE id = $1::int RETURNING id`,
    [userId, passwordHash, now],
  );
}
