import { plainRow, type Rows } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';
import type { Campaign, CampaignRegistrant, CampaignValues } from './types.ts';

/** Case-sensitive. */
export async function findActiveBySlug(db: Db, slug: string): Promise<Campaign | null> {
  const [row] = await db.sql<Campaign>('SELECT * FROM advertising_campaigns WHERE start_parameter = $1 AND is_active', [slug]);
  return row ?? null;
}

/** The campaign if it is active, locked for share until the end of the transaction; registrants do not wait for each other. */
export async function lockActiveForShare(db: Db, id: number): Promise<Campaign | null> {
  const [row] = await db.sql<Campaign>('SELECT * FROM advertising_campaigns WHERE id = $1::int AND is_active FOR SHARE', [id]);
  return row ?? null;
}

/** Locks the campaign; registrants and changes wait until the end of the transaction. */
export async function lockCampaign(db: Db, id: number): Promise<Campaign | null> {
  const [row] = await db.sql<Campaign>('SELECT * FROM advertising_campaigns WHERE id = $1::bigint FOR UPDATE', [id]);
  return row ?? null;
}

/** @throws a unique violation of `start_parameter` when the slug is taken */
export async function insertCampaign(db: Db, values: CampaignValues, createdBy: number | null, now: Date): Promise<Campaign> {
  const data = { ...values, createdBy, createdAt: now, updatedAt: now };
  return plainRow('AdvertisingCampaign', await db.prisma.advertisingCampaign.create({ data }));
}

/** @throws a unique violation of `start_parameter` when the slug is taken */
export async function updateCampaign(db: Db, { id, ...values }: Campaign, now: Date): Promise<Campaign> {
  const data = { ...values, updatedAt: now };
  return plainRow('AdvertisingCampaign', await db.prisma.advertisingCampaign.update({ where: { id }, data }));
}

/** With its registrations; earnings of partners through it stay, without the campaign. */
export async function deleteCampaignRow(db: Db, id: number): Promise<void> {
  await db.prisma.advertisingCampaign.delete({ where: { id }, select: { id: true } });
}

/** Whether the user is an approved partner; locked for share, so that this does not change until the end of the transaction. */
export async function lockApprovedPartner(db: Db, userId: number): Promise<boolean> {
  const rows = await db.sql("SELECT id FROM users WHERE id = $1::bigint AND partner_status = 'approved' FOR SHARE", [userId]);
  return rows.length > 0;
}

/**
 * Locks an active user, then reads what the bonus depends on. Two statements on purpose: the second one's snapshot is taken under the lock
 * and contains what a sign-in at the same moment has just written. Null = no such user, or not active.
 */
export async function lockRegistrant(db: Db, userId: number): Promise<CampaignRegistrant | null> {
  const [user] = await db.sql<Pick<Rows['User'], 'id' | 'status' | 'language' | 'referredById'>>(
    'SELECT id, status, language, referred_by_id FROM users WHERE id = $1::int FOR NO KEY UPDATE',
    [userId],
  );
  if (user?.status !== 'active') return null;
  const [row] = await db.sql<Pick<CampaignRegistrant, 'isRegistered' | 'hasSubscription'>>(
    `SELECT EXISTS (SELECT 1 FROM advertising_campaign_registrations WHERE user_id = $1::int) AS is_registered,
       EXISTS (SELECT 1 FROM subscriptions WHERE user_id = $1::int) AS has_subscription`,
    [userId],
  );
  return { ...user, ...row! };
}

type NewRegistration = Pick<
  Rows['CampaignRegistration'],
  'campaignId' | 'userId' | 'bonusType' | 'balanceBonusKopeks' | 'subscriptionDurationDays' | 'tariffId' | 'tariffDurationDays'
>;

/** At most one per user: it prevents a second bonus (spec 01 H15). @returns false when the user has one */
export async function insertRegistration(db: Db, registration: NewRegistration, now: Date): Promise<boolean> {
  const data = [{ ...registration, createdAt: now }];
  const { count } = await db.prisma.campaignRegistration.createMany({ data, skipDuplicates: true });
  return count > 0;
}
