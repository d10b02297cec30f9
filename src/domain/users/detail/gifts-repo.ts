import type { Db } from '../../../core/db/db.ts';
import { fullName } from '../../identity/rules.ts';
import type { GiftInfo, GiftParty } from './types.ts';

/** A user as JSON inside a wider row. */
interface PartyJson {
  id: number;
  username: string | null;
  first_name: string | null;
  last_name: string | null;
  messenger_id: number | null;
  email: string | null;
}

interface GiftRow {
  id: number;
  token: string;
  status: string;
  tariffName: string | null;
  periodDays: number;
  deviceLimit: number | null;
  amountKopeks: number;
  paymentMethod: string | null;
  giftRecipientType: string | null;
  giftRecipientValue: string | null;
  giftMessage: string | null;
  createdAt: Date;
  paidAt: Date | null;
  deliveredAt: Date | null;
  buyer: PartyJson | null;
  receiver: PartyJson | null;
}

const PARTY = (
  alias: string,
) => `CASE WHEN ${alias}.id IS NOT NULL THEN json_build_object('id', ${alias}.id, 'username', ${alias}.username,
  'first_name', ${alias}.first_name, 'last_name', ${alias}.last_name, 'messenger_id', ${alias}.messenger_id, 'email', ${alias}.email) END`;

function toParty(party: PartyJson | null): GiftParty | null {
  if (party === null) return null;
  const name = fullName({
    id: party.id,
    firstName: party.first_name,
    lastName: party.last_name,
    username: party.username,
    messengerId: party.messenger_id,
    email: party.email,
  });
  return { id: party.id, username: party.username, fullName: name };
}

/** Gifts that the user bought (`buyer_user_id`) or got (`user_id`), newest first, and how many there are. */
export async function listGifts(
  db: Db,
  userId: number,
  side: 'buyer_user_id' | 'user_id',
  limit: number,
): Promise<{ gifts: GiftInfo[]; total: number }> {
  const [[count], rows] = await Promise.all([
    db.sql<{ total: number }>(`SELECT count(*)::int AS total FROM guest_purchases WHERE ${side} = $1::int AND is_gift`, [userId]),
    db.sql<GiftRow>(
      `SELECT p.id, left(p.token, 12) AS token, p.status, t.name AS tariff_name, p.period_days, t.device_limit, p.amount_kopeks,
         p.payment_method, p.gift_recipient_type, p.gift_recipient_value, p.gift_message, p.created_at, p.paid_at, p.delivered_at,
         ${PARTY('b')} AS buyer, ${PARTY('r')} AS receiver
       FROM guest_purchases p LEFT JOIN tariffs t ON t.id = p.tariff_id LEFT JOIN users b ON b.id = p.buyer_user_id
         LEFT JOIN users r ON r.id = p.user_id
       WHERE p.${side} = $1::int AND p.is_gift ORDER BY p.created_at DESC, p.id DESC LIMIT $2::int`,
      [userId, limit],
    ),
  ]);
  return { gifts: rows.map(toGift), total: count!.total };
}

function toGift(row: GiftRow): GiftInfo {
  return {
    id: row.id,
    token: row.token,
    status: row.status,
    tariffName: row.tariffName,
    periodDays: row.periodDays,
    deviceLimit: row.deviceLimit ?? 1,
    amountKopeks: row.amountKopeks,
    paymentMethod: row.paymentMethod,
    recipientType: row.giftRecipientType,
    recipientValue: row.giftRecipientValue,
    message: row.giftMessage,
    buyer: toParty(row.buyer),
    receiver: toParty(row.receiver),
    createdAt: row.createdAt,
    paidAt: row.paidAt,
    deliveredAt: row.deliveredAt,
  };
}
