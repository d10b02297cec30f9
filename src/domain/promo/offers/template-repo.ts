import { allColumns, plainRow } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import { isRowId } from '../../../core/row-id.ts';
import type { OfferTemplate, OfferTemplateValues } from './types.ts';

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
