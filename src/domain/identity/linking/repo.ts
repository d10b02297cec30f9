import type { Db } from '../../../core/db/db.ts';

export interface MessengerAccount {
  messengerId: number;
  username: string | null;
  firstName: string | null;
  lastName: string | null;
  now: Date;
}

/** A unique key refuses a messenger account that belongs to somebody else. */
export async function setMessengerAccount(db: Db, userId: number, account: MessengerAccount): Promise<void> {
  await db.sql(
    `UPDATE users SET messenger_id = $2::bigint, username = $3, first_name = $4, last_name = $5, updated_at = $6::timestamptz
     WHERE id = $1::int RETURNING id`,
    [userId, account.messengerId, account.username, account.firstName, account.lastName, account.now],
  );
}
