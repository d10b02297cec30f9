import { givenFields } from '../../../core/changes.ts';
import { allColumns, columns, nestedRow, type RowOf } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import { type AddValue, statementValues } from '../../../core/db/statement-values.ts';
import { fullName } from '../../identity/rules.ts';
import type { Offer, OfferDetails, OfferTerms, OfferUser } from './types.ts';

export const OFFER = allColumns('DiscountOffer');

const USER = columns('User', ['messengerId', 'email', 'username', 'firstName', 'lastName']);

/** Columns of the user `u` in the row of an offer or a log entry; all null without a user. */
export const USER_COLUMNS = `u.id AS shown_user_id, ${USER.of('u')}`;

export type UserColumns = RowOf<typeof USER> & { shownUserId: number | null };

export function toOfferUser(row: UserColumns): OfferUser | null {
  const { shownUserId: id, messengerId, email, username, firstName, lastName } = row;
  if (id === null) return null;
  const user = { id, messengerId, email, username, firstName, lastName };
  return { ...user, fullName: fullName(user) };
}

const SUBSCRIPTION = columns('Subscription', [
  ...(['id', 'status', 'isTrial', 'startDate', 'endDate', 'autopayEnabled'] as const),
]);

type DetailRow = Offer & UserColumns & { subscription: object | null };

const DETAIL_SQL = `SELECT ${OFFER.of('o')}, ${USER_COLUMNS}, 
    CASE WHEN s.id IS NOT NULL THEN (SELECT to_jsonb(x) FROM (SELECT ${SUBSCRIPTION.of('s')}) x) END AS subscription
  FROM discount_offers o JOIN users u ON u.id = o.user_id LEFT JOIN subscriptions s ON s.id = o.subscription_id`;

function toDetails({
  shownUserId,
  messengerId,
  email,
  username,
  firstName,
  lastName,
  subscription,
  ...offer
}: DetailRow): OfferDetails {
  const user = toOfferUser({ shownUserId, messengerId, email, username, firstName, lastName })!;
  return { ...offer, user, subscription: nestedRow('Subscription', subscription) };
}

export interface OfferFilter {
  /** Null and absent = all. */
  userId?: number | null | undefined;
  notificationType?: string | null | undefined;
  isActive?: boolean | null | undefined;
  limit: number;
  offset: number;
}

/** Newest first. The statement has only the filters that are set, so that each combination gets its own plan. */
export async function listOffers(db: Db, filter: OfferFilter): Promise<{ items: OfferDetails[]; total: number }> {
  const { userId, notificationType, isActive } = givenFields(filter);
  const where = (add: AddValue) =>
    whereOf([
      userId === undefined ? null : `o.user_id = ${add(userId)}::bigint`,
      notificationType === undefined ? null : `o.notification_type = ${add(notificationType)}`,
      isActive === undefined ? null : `o.is_active = ${isActive ? 'true' : 'false'}`,
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

/** A user's offers that have not expired, newest first. */
export function listOffersOfUser(db: Db, userId: number, now: Date, limit: number): Promise<Offer[]> {
  return db.sql<Offer>(
    `SELECT ${OFFER.of('o')} FROM discount_offers o WHERE o.user_id = $1::int AND o.expires_at > $2::timestamptz
     ORDER BY o.created_at DESC, o.id DESC LIMIT $3::int`,
    [userId, now, limit],
  );
}

/** The newest claimed offer of a type, expired or not: the discount that it gave may last longer than the offer. */
export async function findLatestClaimed(db: Db, userId: number, notificationType: string): Promise<Offer | null> {
  const [offer] = await db.sql<Offer>(
    `SELECT ${OFFER.of('o')} FROM discount_offers o
     WHERE o.user_id = $1::int AND o.notification_type = $2 AND o.claimed_at IS NOT NULL AND o.effect_type <> 'test_access'
     ORDER BY o.created_at DESC, o.id DESC LIMIT 1`,
    [userId, notificationType],
  );
  return offer ?? null;
}

/** Offers whose temporary access the user has now, with its end; the latest end first. */
export async function listLiveAccess(db: Db, userId: number, now: Date): Promise<{ offer: Offer; expiresAt: Date }[]> {
  const rows = await db.sql<Offer & { accessUntil: Date }>(
    `SELECT ${OFFER.of('o')}, a.access_until FROM subscriptions s
     CROSS JOIN LATERAL (SELECT x.offer_id, max(x.expires_at) AS access_until FROM subscription_temporary_access x
       WHERE x.subscription_id = s.id AND x.is_active AND x.expires_at > $2::timestamptz GROUP BY x.offer_id) a
     JOIN discount_offers o ON o.id = a.offer_id AND o.user_id = s.user_id
     WHERE s.user_id = $1::int ORDER BY a.access_until DESC, o.id DESC`,
    [userId, now],
  );
  return rows.map(({ accessUntil, ...offer }) => ({ offer, expiresAt: accessUntil }));
}

/** What an upsert overwrites in the open offer of the type (spec 04 section 9.2). */
export const OVERWRITE_SQL = `ON CONFLICT (user_id, notification_type) WHERE is_active AND claimed_at IS NULL
  DO UPDATE SET subscription_id = EXCLUDED.subscription_id, discount_percent = EXCLUDED.discount_percent,
    bonus_amount_kopeks = EXCLUDED.bonus_amount_kopeks, expires_at = EXCLUDED.expires_at, effect_type = EXCLUDED.effect_type,
    extra_data = EXCLUDED.extra_data, updated_at = EXCLUDED.updated_at`;

/** Overwrites the open offer of a user and type, else creates one; the unique index covers two concurrent calls. In a transaction. */
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

/** Whether the user exists; locked for share until the end of the transaction, so that the user can neither be deleted nor claim. */
export async function lockUserForShare(db: Db, userId: number): Promise<boolean> {
  return (await db.sql('SELECT id FROM users WHERE id = $1::int FOR KEY SHARE', [userId])).length > 0;
}

/** The owner of a subscription, which cannot be deleted until the end of the transaction; null for an unknown one. */
export async function lockSubscriptionForShare(db: Db, subscriptionId: number): Promise<number | null> {
  const [row] = await db.sql<{ userId: number }>('SELECT user_id FROM subscriptions WHERE id = $1::bigint FOR KEY SHARE', [
    subscriptionId,
  ]);
  return row?.userId ?? null;
}
