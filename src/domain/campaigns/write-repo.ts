import type { Db } from '../../core/db/db.ts';
import { type CampaignRow, campaignParameters, toCampaign } from './campaign-row.ts';
import type { Campaign, CampaignValues } from './types.ts';

/** @returns null when the slug is taken */
export async function insertCampaign(
  db: Db,
  values: CampaignValues,
  createdBy: number | null,
  now: Date,
): Promise<Campaign | null> {
  const [row] = await db.sql<CampaignRow>(
    `INSERT INTO advertising_campaigns (name, start_parameter, bonus_type, balance_bonus_kopeks, subscription_duration_days,
       subscription_traffic_gb, subscription_device_limit, subscription_squads, tariff_id, tariff_duration_days, is_active,
       partner_user_id, created_by, created_at, updated_at)
     VALUES ($1, $2, $3, $4::bigint, $5::int, $6::int, $7::int, $8::jsonb, $9::int, $10::int, $11::boolean, $12::int, $13::int,
       $14::timestamptz, $14::timestamptz)
     ON CONFLICT (start_parameter) DO NOTHING RETURNING *`,
    [...campaignParameters(values), createdBy, now],
  );
  return row ? toCampaign(row) : null;
}

export async function updateCampaign(db: Db, id: number, values: CampaignValues, now: Date): Promise<Campaign> {
  const [row] = await db.sql<CampaignRow>(
    `UPDATE advertising_campaigns SET name = $1, start_parameter = $2, bonus_type = $3, balance_bonus_kopeks = $4::bigint,
       subscription_duration_days = $5::int, subscription_traffic_gb = $6::int, subscription_device_limit = $7::int,
       subscription_squads = $8::jsonb, tariff_id = $9::int, tariff_duration_days = $10::int, is_active = $11::boolean,
       partner_user_id = $12::int, updated_at = $13::timestamptz
     WHERE id = $14::int RETURNING *`,
    [...campaignParameters(values), now, id],
  );
  return toCampaign(row!);
}

/** Visitors and changes wait for each other from here on. */
export async function lockCampaign(db: Db, id: number): Promise<Campaign | null> {
  const [row] = await db.sql<CampaignRow>('SELECT * FROM advertising_campaigns WHERE id = $1::bigint FOR UPDATE', [id]);
  return row ? toCampaign(row) : null;
}

/** With its registrations; what partners earned through it stays, without the campaign. */
export async function deleteCampaignRow(db: Db, id: number): Promise<void> {
  await db.sql('DELETE FROM advertising_campaigns WHERE id = $1::int RETURNING id', [id]);
}

/** Is this user an approved partner, and stays one until the end of the transaction? */
export async function holdApprovedPartner(db: Db, userId: number): Promise<boolean> {
  const rows = await db.sql("SELECT id FROM users WHERE id = $1::bigint AND partner_status = 'approved' FOR SHARE", [userId]);
  return rows.length > 0;
}
