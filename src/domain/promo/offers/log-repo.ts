import type { Db } from '../../../core/db/db.ts';
import { type AddValue, statementValues } from '../../../core/db/statement-values.ts';
import { toOfferUser, USER_COLUMNS, type UserColumns, whereOf } from './repo.ts';
import type { OfferLogAction, OfferLogEntry } from './types.ts';

export interface OfferLogFilter {
  userId: number | null;
  offerId: number | null;
  action: string | null;
  source: string | null;
  limit: number;
  offset: number;
}

interface LogRow extends UserColumns {
  id: number;
  userId: number | null;
  offerId: number | null;
  action: string;
  source: string | null;
  percent: number | null;
  effectType: string | null;
  details: Record<string, unknown>;
  createdAt: Date;
  offerType: string | null;
  discountPercent: number;
  bonusAmountKopeks: number;
  offerEffect: string;
  expiresAt: Date;
  claimedAt: Date | null;
  isActive: boolean;
}

function toEntry(row: LogRow): OfferLogEntry {
  return {
    id: row.id,
    userId: row.userId,
    offerId: row.offerId,
    action: row.action,
    source: row.source,
    percent: row.percent,
    effectType: row.effectType,
    details: row.details,
    createdAt: row.createdAt,
    user: toOfferUser(row),
    offer:
      row.offerType === null
        ? null
        : {
            id: row.offerId!,
            notificationType: row.offerType,
            discountPercent: row.discountPercent,
            bonusAmountKopeks: row.bonusAmountKopeks,
            effectType: row.offerEffect,
            expiresAt: row.expiresAt,
            claimedAt: row.claimedAt,
            isActive: row.isActive,
          },
  };
}

/** Newest first; texts are compared exactly. */
export async function listLog(db: Db, filter: OfferLogFilter): Promise<{ items: OfferLogEntry[]; total: number }> {
  const where = (add: AddValue) =>
    whereOf([
      filter.userId === null ? null : `l.user_id = ${add(filter.userId)}::bigint`,
      filter.offerId === null ? null : `l.offer_id = ${add(filter.offerId)}::bigint`,
      filter.action === null ? null : `l.action = ${add(filter.action)}`,
      filter.source === null ? null : `l.source = ${add(filter.source)}`,
    ]);
  const page = statementValues();
  const all = statementValues();
  const pageSql = `SELECT l.id, l.user_id, l.offer_id, l.action, l.source, l.percent, l.effect_type, l.details, l.created_at,
      ${USER_COLUMNS}, o.notification_type AS offer_type, o.discount_percent, o.bonus_amount_kopeks, o.effect_type AS offer_effect,
      o.expires_at, o.claimed_at, o.is_active
    FROM promo_offer_logs l LEFT JOIN users u ON u.id = l.user_id LEFT JOIN discount_offers o ON o.id = l.offer_id
    ${where(page.add)} ORDER BY l.created_at DESC, l.id DESC
    LIMIT ${page.add(filter.limit)}::int OFFSET ${page.add(filter.offset)}::bigint`;
  const [rows, [count]] = await Promise.all([
    db.sql<LogRow>(pageSql, page.values),
    db.sql<{ total: number }>(`SELECT count(*)::int AS total FROM promo_offer_logs l ${where(all.add)}`, all.values),
  ]);
  return { items: rows.map(toEntry), total: count!.total };
}

export interface NewLogEntry {
  userId: number;
  offerId: number | null;
  action: OfferLogAction;
  source: string | null;
  percent: number | null;
  effectType: string | null;
  details: Record<string, unknown>;
  now: Date;
}

export async function insertLog(db: Db, entry: NewLogEntry): Promise<void> {
  await db.sql(
    `INSERT INTO promo_offer_logs (user_id, offer_id, action, source, percent, effect_type, details, created_at)
     VALUES ($1::int, $2::int, $3, $4, $5::int, $6, $7::jsonb, $8::timestamptz) RETURNING id`,
    [
      entry.userId,
      entry.offerId,
      entry.action,
      entry.source,
      entry.percent,
      entry.effectType,
      JSON.stringify(entry.details),
      entry.now,
    ],
  );
}
