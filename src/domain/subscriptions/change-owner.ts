import type { Db } from '../../core/db/db.ts';

/** Deletes a locked subscription, when the accounts of two users become one. */
export async function deleteSubscription(db: Db, id: number): Promise<void> {
  await db.sql('DELETE FROM subscriptions WHERE id = $1::int RETURNING id', [id]);
}

/** Gives a locked subscription to another user, who must have none. */
export async function moveSubscription(db: Db, id: number, primaryId: number, now: Date): Promise<void> {
  await db.sql('UPDATE subscriptions SET user_id = $2::int, updated_at = $3::timestamptz WHERE id = $1::int RETURNING id', [
    id,
    primaryId,
    now,
  ]);
}
