import { givenFields } from '../../../core/changes.ts';
import { allColumns, nestedRow, type Rows } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import { type AddValue, statementValues } from '../../../core/db/statement-values.ts';
import type { Prisma } from '../../../generated/prisma/client.ts';
import { toOfferUser, USER_COLUMNS, type UserColumns, whereOf } from './repo.ts';
import type { OfferLogEntry } from './types.ts';

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
