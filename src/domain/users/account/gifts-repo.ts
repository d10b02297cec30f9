import { columns, type RowOf } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import type { UserRecord } from '../../identity/types.ts';

const PURCHASE = columns('GuestPurchase', [
  ...(['id', 'status', 'periodDays', 'amountKopeks', 'paymentMethod', 'giftRecipientType', 'giftRecipientValue'] as const),
  ...(['giftMessage', 'createdAt', 'paidAt', 'deliveredAt'] as const),
]);

type Participant = Pick<UserRecord, 'id' | 'username' | 'firstName' | 'lastName' | 'messengerId' | 'email'>;

/** A gift as an administrator sees it (spec 03 section 8.1); kopeks. */
export type GiftRow = RowOf<typeof PURCHASE> & {
  /** The first 12 characters, never the whole secret. */
  token: string;
  tariffName: string | null;
  deviceLimit: number;
  buyer: Participant | null;
  receiver: Participant | null;
};

const participant = (u: string) => `CASE WHEN ${u}.id IS NOT NULL THEN json_build_object('id', ${u}.id, 'username', ${u}.username,
  'firstName', ${u}.first_name, 'lastName', ${u}.last_name, 'messengerId', ${u}.messenger_id, 'email', ${u}.email) END`;

/** Gifts that the user bought (`buyer_user_id`) or got (`user_id`), newest first, and how many there are. */
export async function listGifts(
  db: Db,
  userId: number,
  side: 'buyer_user_id' | 'user_id',
  limit: number,
): Promise<{ gifts: GiftRow[]; total: number }> {
  const [[count], gifts] = await Promise.all([
    db.sql<{ total: number }>(`SELECT count(*)::int AS total FROM guest_purchases WHERE ${side} = $1::int AND is_gift`, [userId]),
    db.sql<GiftRow>(
      `SELECT ${PURCHASE.of('p')}, left(p.token, 12) AS token, t.name AS tariff_name, coalesce(t.device_limit, 1) AS device_limit,
         ${participant('b')} AS buyer, ${participant('r')} AS receiver
       FROM guest_purchases p LEFT JOIN tariffs t ON t.id = p.tariff_id LEFT JOIN users b ON b.id = p.buyer_user_id
         LEFT JOIN users r ON r.id = p.user_id
       WHERE p.${side} = $1::int AND p.is_gift ORDER BY p.created_at DESC, p.id DESC LIMIT $2::int`,
      [userId, limit],
    ),
  ]);
  return { gifts, total: count!.total };
}
