import { givenFields } from '../../../core/changes.ts';
import { allColumns, columns, nestedRow, plainRow, type RowOf, type Rows } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import { type AddValue, statementValues } from '../../../core/db/statement-values.ts';
import { isRowId } from '../../../core/row-id.ts';
import type { Prisma } from '../../../generated/prisma/client.ts';
import { fullName } from '../../identity/rules.ts';
import type { Offer, OfferDetails, OfferLogEntry, OfferTemplate, OfferTemplateValues, OfferTerms, OfferUser } from './types.ts';

const OFFER = allColumns('DiscountOffer');

const USER = columns('User', ['messengerId', 'email', 'username', 'firstName', 'lastName']);

/** Columns of the user `u` in the row of an offer or a log entry; all null without a user. */
const USER_COLUMNS = `u.id AS shown_user_id, ${USER.of('u')}`;

type UserColumns = RowOf<typeof USER> & { shownUserId: number | null };

function toOfferUser(row: UserColumns): OfferUser | null {
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
function whereOf(conditions: readonly (string | null)[]): string {
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

/** Locks an offer of this user; null for an unknown one and for another user's. The user's row must be locked before. */
export async function lockOfferOfUser(db: Db, userId: number, offerId: number): Promise<Offer | null> {
  const [row] = await db.sql<Offer>(
    `SELECT ${OFFER.of('o')} FROM discount_offers o WHERE o.id = $1::bigint AND o.user_id = $2::int FOR UPDATE`,
    [offerId, userId],
  );
  return row ?? null;
}

/** Claims the offer unless it was claimed or has expired (spec 04 section 9.6). @returns whether it did */
export async function takeOffer(db: Db, offerId: number, now: Date): Promise<boolean> {
  const rows = await db.sql(
    `UPDATE discount_offers SET claimed_at = $2::timestamptz, is_active = false, updated_at = $2::timestamptz
     WHERE id = $1::int AND claimed_at IS NULL AND is_active AND expires_at > $2::timestamptz RETURNING id`,
    [offerId, now],
  );
  return rows.length > 0;
}

/** Deactivates an expired offer. @returns whether it was still active */
export async function deactivateExpiredOffer(db: Db, offerId: number, now: Date): Promise<boolean> {
  const rows = await db.sql(
    `UPDATE discount_offers SET is_active = false, updated_at = $2::timestamptz
     WHERE id = $1::int AND is_active AND expires_at <= $2::timestamptz RETURNING id`,
    [offerId, now],
  );
  return rows.length > 0;
}

/** Squads that a locked subscription has only by temporary access. */
export async function listTemporarySquads(db: Db, subscriptionId: number): Promise<string[]> {
  const rows = await db.sql<{ squadUuid: string }>(
    `SELECT DISTINCT squad_uuid FROM subscription_temporary_access
     WHERE subscription_id = $1::int AND is_active AND NOT was_already_connected`,
    [subscriptionId],
  );
  return rows.map((row) => row.squadUuid);
}

interface NewAccess {
  subscriptionId: number;
  offerId: number;
  squads: readonly { uuid: string; wasAlreadyConnected: boolean }[];
  expiresAt: Date;
  now: Date;
}

/** One row per offer and squad, also when it is called again. */
export async function insertAccess(db: Db, access: NewAccess): Promise<void> {
  await db.sql(
    `INSERT INTO subscription_temporary_access (subscription_id, offer_id, squad_uuid, was_already_connected, expires_at, created_at)
     SELECT $1::int, $2::int, s.uuid, s.was_already_connected, $4::timestamptz, $5::timestamptz
     FROM jsonb_to_recordset($3::jsonb) AS s (uuid text, was_already_connected boolean)
     ON CONFLICT (offer_id, squad_uuid) DO NOTHING RETURNING id`,
    [
      access.subscriptionId,
      access.offerId,
      JSON.stringify(
        access.squads.map(({ uuid, wasAlreadyConnected }) => ({ uuid, was_already_connected: wasAlreadyConnected })),
      ),
      access.expiresAt,
      access.now,
    ],
  );
}

/** All of them, by type, then by id. */
export async function listTemplates(db: Db): Promise<OfferTemplate[]> {
  const rows = await db.prisma.promoOfferTemplate.findMany({ orderBy: [{ offerType: 'asc' }, { id: 'asc' }] });
  return rows.map((row) => plainRow('PromoOfferTemplate', row));
}

export async function findTemplate(db: Db, id: number): Promise<OfferTemplate | null> {
  if (!isRowId(id)) return null;
  const row = await db.prisma.promoOfferTemplate.findUnique({ where: { id } });
  return row && plainRow('PromoOfferTemplate', row);
}

export async function lockTemplate(db: Db, id: number): Promise<OfferTemplate | null> {
  const [row] = await db.sql<OfferTemplate>(
    `SELECT ${allColumns('PromoOfferTemplate').of()} FROM promo_offer_templates WHERE id = $1::bigint FOR UPDATE`,
    [id],
  );
  return row ?? null;
}

export async function updateTemplate(
  db: Db,
  id: number,
  values: Partial<OfferTemplateValues>,
  now: Date,
): Promise<OfferTemplate> {
  const row = await db.prisma.promoOfferTemplate.update({ where: { id }, data: { ...values, updatedAt: now } });
  return plainRow('PromoOfferTemplate', row);
}

/** Texts of the templates that the migration made, by type, in a service without users where nobody has changed them. */
export async function nameFirstTemplates(
  db: Db,
  texts: readonly Pick<OfferTemplate, 'offerType' | 'name' | 'messageText' | 'buttonText'>[],
): Promise<void> {
  await db.sql(
    `UPDATE promo_offer_templates t SET name = v.name, message_text = v."messageText", button_text = v."buttonText"
       FROM jsonb_to_recordset($1::jsonb) AS v ("offerType" text, name text, "messageText" text, "buttonText" text)
       WHERE t.offer_type = v."offerType" AND t.created_by IS NULL AND t.updated_at = t.created_at AND t.name <> v.name
         AND NOT EXISTS (SELECT FROM users) RETURNING t.id`,
    [JSON.stringify(texts)],
  );
}

export interface OfferLogFilter {
  /** Null and absent = all. */
  userId?: number | null | undefined;
  offerId?: number | null | undefined;
  action?: string | null | undefined;
  source?: string | null | undefined;
  limit: number;
  offset: number;
}

const LOG = allColumns('PromoOfferLog');

type LogRow = Rows['PromoOfferLog'] & UserColumns & { offer: object | null };

function toEntry({ shownUserId, messengerId, email, username, firstName, lastName, offer, ...entry }: LogRow): OfferLogEntry {
  const user = toOfferUser({ shownUserId, messengerId, email, username, firstName, lastName });
  return { ...entry, user, offer: nestedRow('DiscountOffer', offer) };
}

/** Newest first; texts are compared exactly. */
export async function listLog(db: Db, filter: OfferLogFilter): Promise<{ items: OfferLogEntry[]; total: number }> {
  const { userId, offerId, action, source } = givenFields(filter);
  const where = (add: AddValue) =>
    whereOf([
      userId === undefined ? null : `l.user_id = ${add(userId)}::bigint`,
      offerId === undefined ? null : `l.offer_id = ${add(offerId)}::bigint`,
      action === undefined ? null : `l.action = ${add(action)}`,
      source === undefined ? null : `l.source = ${add(source)}`,
    ]);
  const page = statementValues();
  const all = statementValues();
  const pageSql = `SELECT ${LOG.of('l')}, ${USER_COLUMNS}, to_jsonb(o) AS offer
    FROM promo_offer_logs l LEFT JOIN users u ON u.id = l.user_id LEFT JOIN discount_offers o ON o.id = l.offer_id
    ${where(page.add)} ORDER BY l.created_at DESC, l.id DESC
    LIMIT ${page.add(filter.limit)}::int OFFSET ${page.add(filter.offset)}::bigint`;
  const [rows, [count]] = await Promise.all([
    db.sql<LogRow>(pageSql, page.values),
    db.sql<{ total: number }>(`SELECT count(*)::int AS total FROM promo_offer_logs l ${where(all.add)}`, all.values),
  ]);
  return { items: rows.map(toEntry), total: count!.total };
}

export type LogDetails = Prisma.InputJsonObject;

export async function insertLog(db: Db, data: Omit<Rows['PromoOfferLog'], 'id'> & { details: LogDetails }): Promise<void> {
  await db.prisma.promoOfferLog.create({ data, select: { id: true } });
}
