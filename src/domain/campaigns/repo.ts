import { plainRow, type Rows } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';
import { partnerName } from './rules.ts';
import type { Campaign, CampaignCard, CampaignCounters, CampaignRegistrant, CampaignValues } from './types.ts';

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
 * and contains what a sign-in at the same time has just written. Null = no such user, or not active.
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

interface CardRow extends Campaign, CampaignCounters {
  tariffName: string | null;
  partnerFirstName: string | null;
  partnerUsername: string | null;
}

/** Sums over the counters of a campaign, which triggers maintain. */
const COUNTERS = `coalesce(sum(y.registrations), 0)::int AS registrations,
  coalesce(sum(y.balance_issued_kopeks), 0)::bigint AS balance_issued_kopeks,
  coalesce(sum(y.subscription_registrations), 0)::int AS subscription_registrations,
  coalesce(sum(y.tariff_registrations), 0)::int AS tariff_registrations,
  coalesce(sum(y.deposits_kopeks), 0)::bigint AS deposits_kopeks, coalesce(sum(y.spent_kopeks), 0)::bigint AS spent_kopeks,
  coalesce(sum(y.payers), 0)::int AS payers, coalesce(sum(y.had_paid), 0)::int AS had_paid,
  coalesce(sum(y.conversions), 0)::int AS conversions, coalesce(sum(y.trials), 0)::int AS trials,
  coalesce(sum(y.active_trials), 0)::int AS active_trials, coalesce(sum(y.first_payments), 0)::int AS first_payments,
  coalesce(sum(y.first_payments_kopeks), 0)::bigint AS first_payments_kopeks`;

/** @param page SQL that selects the campaigns */
function cardsSql(page: string): string {
  return `SELECT c.*, t.name AS tariff_name, p.first_name AS partner_first_name, p.username AS partner_username, f.*
    FROM (${page}) c LEFT JOIN tariffs t ON t.id = c.tariff_id LEFT JOIN users p ON p.id = c.partner_user_id
      CROSS JOIN LATERAL (SELECT ${COUNTERS} FROM campaign_counters y WHERE y.campaign_id = c.id) f
    ORDER BY c.created_at DESC, c.id DESC`;
}

function toCard({ partnerFirstName: firstName, partnerUsername: username, ...row }: CardRow): CampaignCard {
  const { partnerUserId: id } = row;
  return { ...row, partnerName: id === null ? null : partnerName({ id, firstName, username }) };
}

export interface CampaignFilter {
  includeInactive: boolean;
  limit: number;
  offset: number;
}

/** Newest first, with the counters of the whole page in one statement. */
export async function listCards(db: Db, filter: CampaignFilter): Promise<{ items: CampaignCard[]; total: number }> {
  const where = filter.includeInactive ? '' : 'WHERE is_active';
  const [rows, total] = await Promise.all([
    db.sql<CardRow>(
      cardsSql(`SELECT * FROM advertising_campaigns ${where} ORDER BY created_at DESC, id DESC LIMIT $1::int OFFSET $2::bigint`),
      [filter.limit, filter.offset],
    ),
    db.prisma.advertisingCampaign.count({ where: filter.includeInactive ? {} : { isActive: true } }),
  ]);
  return { items: rows.map(toCard), total };
}

export async function findCard(db: Db, id: number): Promise<CampaignCard | null> {
  const [row] = await db.sql<CardRow>(cardsSql('SELECT * FROM advertising_campaigns WHERE id = $1::bigint'), [id]);
  return row ? toCard(row) : null;
}

export interface CampaignTotals {
  total: number;
  active: number;
  totalRegistrations: number;
  totalBalanceIssuedKopeks: number;
  totalSubscriptionIssued: number;
  totalTariffIssued: number;
}

/** Over every campaign. */
export async function findTotals(db: Db): Promise<CampaignTotals> {
  const [row] = await db.sql<CampaignTotals>(
    `SELECT count(*)::int AS total, (count(*) FILTER (WHERE c.is_active))::int AS active,
       coalesce(sum(y.registrations), 0)::int AS total_registrations,
       coalesce(sum(y.balance), 0)::bigint AS total_balance_issued_kopeks,
       coalesce(sum(y.subscriptions), 0)::int AS total_subscription_issued,
       coalesce(sum(y.tariffs), 0)::int AS total_tariff_issued
     FROM advertising_campaigns c LEFT JOIN (
       SELECT campaign_id, sum(registrations) AS registrations, sum(balance_issued_kopeks) AS balance,
         sum(subscription_registrations) AS subscriptions, sum(tariff_registrations) AS tariffs
       FROM campaign_counters GROUP BY campaign_id) y ON y.campaign_id = c.id`,
  );
  return row!;
}
