import type { Db } from '../../../core/db/db.ts';
import { type AddValue, statementValues } from '../../../core/db/statement-values.ts';
import { fullName } from '../../identity/rules.ts';
import type { Offer, OfferDetails, OfferSubscription, OfferTerms, OfferUser } from './types.ts';

export interface OfferRow {
  id: number;
  userId: number;
  subscriptionId: number | null;
  notificationType: string;
  discountPercent: number;
  bonusAmountKopeks: number;
  expiresAt: Date;
  claimedAt: Date | null;
  isActive: boolean;
  effectType: string;
  extraData: Record<string, unknown>;
  createdAt: Date;
  updatedAt: Date;
}

export const OFFER_COLUMNS = `o.id, o.user_id, o.subscription_id, o.notification_type, o.discount_percent, o.bonus_amount_kopeks,
  o.expires_at, o.claimed_at, o.is_active, o.effect_type, o.extra_data, o.created_at, o.updated_at`;

export function toOffer(row: OfferRow): Offer {
  return {
    id: row.id,
    userId: row.userId,
    subscriptionId: row.subscriptionId,
    notificationType: row.notificationType,
    discountPercent: row.discountPercent,
    bonusAmountKopeks: row.bonusAmountKopeks,
    expiresAt: row.expiresAt,
    claimedAt: row.claimedAt,
    isActive: row.isActive,
    effectType: row.effectType,
    extraData: row.extraData,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  };
}

/** Columns of the user `u` beside something else; all null where there is none. */
export interface UserColumns {
  shownUserId: number | null;
  messengerId: number | null;
  email: string | null;
  username: string | null;
  firstName: string | null;
  lastName: string | null;
}

export const USER_COLUMNS = 'u.id AS shown_user_id, u.messenger_id, u.email, u.username, u.first_name, u.last_name';

export function toOfferUser(row: UserColumns): OfferUser | null {
  if (row.shownUserId === null) return null;
  const user = {
    id: row.shownUserId,
    messengerId: row.messengerId,
    email: row.email,
    username: row.username,
    firstName: row.firstName,
    lastName: row.lastName,
  };
  return { ...user, fullName: fullName(user) };
}

interface DetailRow extends OfferRow, UserColumns {
  subStatus: string | null;
  isTrial: boolean;
  startDate: Date;
  endDate: Date;
  autopayEnabled: boolean;
}

const DETAIL_SQL = `SELECT ${OFFER_COLUMNS}, ${USER_COLUMNS}, s.status AS sub_status, s.is_trial, s.start_date, s.end_date,
    s.autopay_enabled
  FROM discount_offers o JOIN users u ON u.id = o.user_id LEFT JOIN subscriptions s ON s.id = o.subscription_id`;

function toDetails(row: DetailRow): OfferDetails {
  const subscription: OfferSubscription | null =
    row.subStatus === null
      ? null
      : {
          id: row.subscriptionId!,
          status: row.subStatus,
          isTrial: row.isTrial,
          startDate: row.startDate,
          endDate: row.endDate,
          autopayEnabled: row.autopayEnabled,
        };
  return { ...toOffer(row), user: toOfferUser(row)!, subscription };
}

export interface OfferFilter {
  userId: number | null;
  notificationType: string | null;
  isActive: boolean | null;
  limit: number;
  offset: number;
}

/** Newest first. Only a filter that is set stands in the statement, so that each has a plan of its own. */
export async function listOffers(db: Db, filter: OfferFilter): Promise<{ items: OfferDetails[]; total: number }> {
  const where = (add: AddValue) =>
    whereOf([
      filter.userId === null ? null : `o.user_id = ${add(filter.userId)}::bigint`,
      filter.notificationType === null ? null : `o.notification_type = ${add(filter.notificationType)}`,
      filter.isActive === null ? null : `o.is_active = ${filter.isActive ? 'true' : 'false'}`,
    ]);
  const page = statementValues();
  const all = statementValues();
  const pageSql = `${DETAIL_SQL} ${where(page.add)} ORDER BY o.created_at DESC, o.id DESC
    LIMIT ${page.add(filter.limit)}::int OFFSET ${page.add(filter.offset)}::bigint`;
  const [rows, [count]] = await Promise.all([
    db.sql<DetailRow>(pageSql, page.values),
    db.sql<{ total: number }>(`SELECT count(*)::int AS total FROM discount_offers o ${where(all.add)}`, all.values),
  ]);
  return { items: rows.map(toDetails), total: count!.total };
}

/** `WHERE` with the conditions that are set. */
export function whereOf(conditions: readonly (string | null)[]): string {
  const given = conditions.filter((condition) => condition !== null);
  return given.length > 0 ? `WHERE ${given.join(' AND ')}` : '';
}

export async function findOffer(db: Db, id: number): Promise<OfferDetails | null> {
  const [row] = await db.sql<DetailRow>(`${DETAIL_SQL} WHERE o.id = $1::bigint`, [id]);
  return row ? toDetails(row) : null;
}

/** A user's offers that are not over yet, newest first. */
export async function listOwnOffers(db: Db, userId: number, now: Date, limit: number): Promise<Offer[]> {
  const rows = await db.sql<OfferRow>(
    `SELECT ${OFFER_COLUMNS} FROM discount_offers o WHERE o.user_id = $1::int AND o.expires_at > $2::timestamptz
     ORDER BY o.created_at DESC, o.id DESC LIMIT $3::int`,
    [userId, now, limit],
  );
  return rows.map(toOffer);
}

/** What an upsert writes over the open offer of the type (spec 04 section 9.2); `at` = a new row's moment of creation. */
export const OVERWRITE_SQL = `ON CONFLICT (user_id, notification_type) WHERE is_active AND claimed_at IS NULL
  DO UPDATE SET subscription_id = EXCLUDED.subscription_id, discount_percent = EXCLUDED.discount_percent,
    bonus_amount_kopeks = EXCLUDED.bonus_amount_kopeks, expires_at = EXCLUDED.expires_at, effect_type = EXCLUDED.effect_type,
    extra_data = EXCLUDED.extra_data, updated_at = EXCLUDED.updated_at`;

/** Overwrites the open offer of a user and type, else makes one; the index decides between two at once. In a transaction. */
export async function upsertOffer(
  db: Db,
  offer: OfferTerms & { userId: number; subscriptionId: number | null; expiresAt: Date; now: Date },
): Promise<number> {
  const [row] = await db.sql<{ id: number }>(
    `INSERT INTO discount_offers (user_id, subscription_id, notification_type, discount_percent, bonus_amount_kopeks, expires_at,
       effect_type, extra_data, created_at, updated_at)
     VALUES ($1::int, $2::int, $3, $4::int, $5::bigint, $6::timestamptz, $7, $8::jsonb, $9::timestamptz, $9::timestamptz)
     ${OVERWRITE_SQL} RETURNING id`,
    [
      offer.userId,
      offer.subscriptionId,
      offer.notificationType,
      offer.discountPercent,
      offer.bonusAmountKopeks,
      offer.expiresAt,
      offer.effectType,
      JSON.stringify(offer.extraData),
      offer.now,
    ],
  );
  return row!.id;
}

/** Held until the end of the transaction, so that the user cannot go, nor claim meanwhile. */
export async function holdUser(db: Db, userId: number): Promise<boolean> {
  return (await db.sql('SELECT id FROM users WHERE id = $1::int FOR KEY SHARE', [userId])).length > 0;
}

/** Whose subscription it is; null for an unknown one. It cannot go until the end of the transaction. */
export async function holdSubscription(db: Db, subscriptionId: number): Promise<number | null> {
  const [row] = await db.sql<{ userId: number }>('SELECT user_id FROM subscriptions WHERE id = $1::bigint FOR KEY SHARE', [
    subscriptionId,
  ]);
  return row?.userId ?? null;
}
