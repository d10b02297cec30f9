import type { Db } from '../../../core/db/db.ts';
import type {
  ApplicationRequest,
  ApplicationStatus,
  ListedApplication,
  ListedPartner,
  LockedApplicant,
  PartnerApplication,
} from './types.ts';

const COLUMNS = `a.id, a.user_id AS "userId", a.company_name AS "companyName", a.website_url AS "websiteUrl",
  a.messenger_channel AS "messengerChannel", a.description, a.expected_monthly_referrals AS "expectedMonthlyReferrals",
  a.desired_commission_percent AS "desiredCommissionPercent", a.status, a.admin_comment AS "adminComment",
  a.approved_commission_percent AS "approvedCommissionPercent", a.created_at AS "createdAt", a.processed_at AS "processedAt"`;

/** Locks the user, the first lock of every change of a partnership (spec 04 section 3.4). */
export async function lockApplicant(db: Db, userId: number): Promise<LockedApplicant | null> {
  const [row] = await db.sql<LockedApplicant>(
    `SELECT id, status, language, partner_status AS "partnerStatus", referral_commission_percent::float8 AS "commissionPercent"
     FROM users WHERE id = $1::bigint FOR NO KEY UPDATE`,
    [userId],
  );
  return row ?? null;
}

/** @param percent `undefined` leaves the commission as it is */
export async function setPartnerStatus(
  db: Db,
  userId: number,
  status: 'none' | 'pending' | 'approved' | 'rejected',
  percent: number | null | undefined,
  now: Date,
): Promise<void> {
  await db.sql(
    `UPDATE users SET partner_status = $2, updated_at = $5::timestamptz,
       referral_commission_percent = CASE WHEN $3::boolean THEN $4::numeric ELSE referral_commission_percent END
     WHERE id = $1::int RETURNING id`,
    [userId, status, percent !== undefined, percent ?? null, now],
  );
}

export async function insertApplication(
  db: Db,
  userId: number,
  request: ApplicationRequest,
  now: Date,
): Promise<PartnerApplication> {
  const [row] = await db.sql<PartnerApplication>(
    `INSERT INTO partner_applications AS a (user_id, company_name, website_url, messenger_channel, description, expected_monthly_referrals,
       desired_commission_percent, created_at, updated_at)
     VALUES ($1::int, $2, $3, $4, $5, $6::int, $7::int, $8::timestamptz, $8::timestamptz) RETURNING ${COLUMNS}`,
    [
      userId,
      request.companyName,
      request.websiteUrl,
      request.messengerChannel,
      request.description,
      request.expectedMonthlyReferrals,
      request.desiredCommissionPercent,
      now,
    ],
  );
  return row!;
}

export async function findLatestApplication(db: Db, userId: number): Promise<PartnerApplication | null> {
  const [row] = await db.sql<PartnerApplication>(
    `SELECT ${COLUMNS} FROM partner_applications a WHERE a.user_id = $1::int ORDER BY a.created_at DESC, a.id DESC LIMIT 1`,
    [userId],
  );
  return row ?? null;
}

export async function findApplication(db: Db, id: number): Promise<PartnerApplication | null> {
  const [row] = await db.sql<PartnerApplication>(`SELECT ${COLUMNS} FROM partner_applications a WHERE a.id = $1::bigint`, [id]);
  return row ?? null;
}

/** Decides on a user's application that is still pending, once. @returns null when it is not, or has become another user's */
export async function settleApplication(
  db: Db,
  id: number,
  decision: {
    userId: number;
    status: 'approved' | 'rejected';
    comment: string | null;
    percent: number | null;
    adminId: number;
    now: Date;
  },
): Promise<PartnerApplication | null> {
  const [row] = await db.sql<PartnerApplication>(
    `UPDATE partner_applications a SET status = $2, admin_comment = $3, approved_commission_percent = $4::int, processed_by = $5::int,
       processed_at = $6::timestamptz, updated_at = $6::timestamptz
     WHERE a.id = $1::int AND a.status = 'pending' AND a.user_id = $7::int RETURNING ${COLUMNS}`,
    [id, decision.status, decision.comment, decision.percent, decision.adminId, decision.now, decision.userId],
  );
  return row ?? null;
}

/** A page of applications, newest first, with their number. @param status null = all; a status that none has gives none */
export async function listApplications(
  db: Db,
  status: ApplicationStatus | 'none' | null,
  slice: { limit: number; offset: number },
): Promise<{ items: ListedApplication[]; total: number }> {
  const condition = status === null ? '$1::text IS NULL' : 'a.status = $1::text';
  const [items, [count]] = await Promise.all([
    db.sql<ListedApplication>(
      `WITH page AS MATERIALIZED (
         SELECT a.* FROM partner_applications a WHERE ${condition} ORDER BY a.created_at DESC, a.id DESC LIMIT $2::int OFFSET $3::bigint)
       SELECT ${COLUMNS}, u.username, u.first_name AS "firstName", u.messenger_id AS "messengerId"
       FROM page a JOIN users u ON u.id = a.user_id ORDER BY a.created_at DESC, a.id DESC`,
      [status, slice.limit, slice.offset],
    ),
    db.sql<{ total: number }>(`SELECT count(*)::int AS total FROM partner_applications a WHERE ${condition}`, [status]),
  ]);
  return { items, total: count!.total };
}

/** A page of approved partners, newest registration first, with their number. */
export async function listPartners(
  db: Db,
  slice: { limit: number; offset: number },
): Promise<{ items: ListedPartner[]; total: number }> {
  const [items, [count]] = await Promise.all([
    db.sql<ListedPartner>(
      `WITH page AS MATERIALIZED (
         SELECT u.* FROM users u WHERE u.partner_status = 'approved' ORDER BY u.created_at DESC, u.id DESC LIMIT $1::int OFFSET $2::bigint)
       SELECT u.id AS "userId", u.username, u.first_name AS "firstName", u.messenger_id AS "messengerId",
         u.referral_commission_percent::float8 AS "commissionPercent", u.partner_status AS "partnerStatus",
         u.balance_kopeks AS "balanceKopeks", coalesce(f.referrals, 0) AS "totalReferrals",
         coalesce(f.earned_kopeks, 0) AS "totalEarningsKopeks", u.created_at AS "createdAt"
       FROM page u LEFT JOIN referrer_stats f ON f.user_id = u.id ORDER BY u.created_at DESC, u.id DESC`,
      [slice.limit, slice.offset],
    ),
    db.sql<{ total: number }>("SELECT count(*)::int AS total FROM users WHERE partner_status = 'approved'"),
  ]);
  return { items, total: count!.total };
}

export async function countPartnersAndApplications(db: Db): Promise<{ partners: number; pendingApplications: number }> {
  const [row] = await db.sql<{ partners: number; pendingApplications: number }>(
    `SELECT (SELECT count(*)::int FROM users WHERE partner_status = 'approved') AS partners,
       (SELECT count(*)::int FROM partner_applications WHERE status = 'pending') AS "pendingApplications"`,
  );
  return row!;
}
