import type { Db } from '../../core/db/db.ts';

/** A card kept at the provider (spec 03 section 5.2). */
export interface SavedCard {
  id: number;
  methodType: string;
  last4: string | null;
  cardType: string | null;
  title: string | null;
  createdAt: Date;
}

export async function listActiveCards(db: Db, userId: number): Promise<SavedCard[]> {
  const rows = await db.sql<{
    id: number;
    methodType: string;
    cardLast4: string | null;
    cardType: string | null;
    title: string | null;
    createdAt: Date;
  }>(
    `SELECT id, method_type, card_last4, card_type, title, created_at FROM saved_payment_methods
     WHERE user_id = $1::int AND is_active ORDER BY created_at DESC, id DESC LIMIT 100`,
    [userId],
  );
  return rows.map((row) => ({
    id: row.id,
    methodType: row.methodType,
    last4: row.cardLast4,
    cardType: row.cardType,
    title: row.title,
    createdAt: row.createdAt,
  }));
}

/** @returns false when the user has no such active card */
export async function deactivateCard(db: Db, userId: number, cardId: number, now: Date): Promise<boolean> {
  const rows = await db.sql<{ id: number }>(
    `UPDATE saved_payment_methods SET is_active = false, updated_at = $3::timestamptz
     WHERE id = $1::bigint AND user_id = $2::int AND is_active RETURNING id`,
    [cardId, userId, now],
  );
  return rows.length > 0;
}
