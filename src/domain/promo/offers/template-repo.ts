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

/** Texts of the templates that the migration made, by type, in a shop without users where nobody has changed them. */
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
