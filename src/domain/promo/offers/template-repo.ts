import type { Db } from '../../../core/db/db.ts';
import type { OfferTemplate, OfferTemplateValues } from './types.ts';

interface TemplateRow {
  id: number;
  offerType: string;
  name: string;
  messageText: string;
  buttonText: string;
  validHours: number;
  discountPercent: number;
  bonusAmountKopeks: number;
  activeDiscountHours: number | null;
  testDurationHours: number | null;
  testSquadUuids: string[];
  isActive: boolean;
  createdBy: number | null;
  createdAt: Date;
  updatedAt: Date;
}

function toTemplate(row: TemplateRow): OfferTemplate {
  return {
    id: row.id,
    offerType: row.offerType,
    name: row.name,
    messageText: row.messageText,
    buttonText: row.buttonText,
    validHours: row.validHours,
    discountPercent: row.discountPercent,
    bonusAmountKopeks: row.bonusAmountKopeks,
    activeDiscountHours: row.activeDiscountHours,
    testDurationHours: row.testDurationHours,
    testSquadUuids: row.testSquadUuids,
    isActive: row.isActive,
    createdBy: row.createdBy,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  };
}

/** All of them, by type, then by id. */
export async function listTemplates(db: Db): Promise<OfferTemplate[]> {
  return (await db.sql<TemplateRow>('SELECT * FROM promo_offer_templates ORDER BY offer_type, id')).map(toTemplate);
}

export async function findTemplate(db: Db, id: number): Promise<OfferTemplate | null> {
  const [row] = await db.sql<TemplateRow>('SELECT * FROM promo_offer_templates WHERE id = $1::bigint', [id]);
  return row ? toTemplate(row) : null;
}

export async function lockTemplate(db: Db, id: number): Promise<OfferTemplate | null> {
  const [row] = await db.sql<TemplateRow>('SELECT * FROM promo_offer_templates WHERE id = $1::bigint FOR UPDATE', [id]);
  return row ? toTemplate(row) : null;
}

export async function updateTemplate(db: Db, id: number, values: OfferTemplateValues, now: Date): Promise<OfferTemplate> {
  const [row] = await db.sql<TemplateRow>(
    `UPDATE promo_offer_templates SET name = $2, message_text = $3, button_text = $4, valid_hours = $5::int,
       discount_percent = $6::int, bonus_amount_kopeks = $7::bigint, active_discount_hours = $8::int, test_duration_hours = $9::int,
       test_squad_uuids = $10::jsonb, is_active = $11::boolean, updated_at = $12::timestamptz
     WHERE id = $1::int RETURNING *`,
    [
      id,
      values.name,
      values.messageText,
      values.buttonText,
      values.validHours,
      values.discountPercent,
      values.bonusAmountKopeks,
      values.activeDiscountHours,
      values.testDurationHours,
      JSON.stringify(values.testSquadUuids),
      values.isActive,
      now,
    ],
  );
  return toTemplate(row!);
}
