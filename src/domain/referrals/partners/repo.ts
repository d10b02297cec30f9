import { columns, plainRow, type RowOf } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import { isRowId } from '../../../core/row-id.ts';
import type { ApplicationRequest, ApplicationStatus } from './types.ts';

const APPLICATION = columns('PartnerApplication', [
  ...(['id', 'userId', 'companyName', 'websiteUrl', 'messengerChannel', 'description', 'expectedMonthlyReferrals'] as const),
  ...(['desiredCommissionPercent', 'status', 'adminComment', 'approvedCommissionPercent', 'createdAt', 'processedAt'] as const),
]);

/** A request to become a partner (spec 04 section 3.1). */
export type PartnerApplication = RowOf<typeof APPLICATION>;

const LOCKED = columns('User', ['id', 'status', 'language', 'partnerStatus']);

/** The state of a user that a partnership depends on; the row is locked. Commission in percent; null = the service-wide one. */
export type LockedApplicant = RowOf<typeof LOCKED> & { commissionPercent: number | null };

/** Locks the user, the first lock of every change of a partnership (spec 04 section 3.4). */
export async function lockApplicant(db: Db, userId: number): Promise<LockedApplicant | null> {
  const [row] = await db.sql<LockedApplicant>(
    `SELECT ${LOCKED.of()}, referral_commission_percent::float8 AS commission_percent
     FROM users WHERE id = $1::bigint FOR NO KEY UPDATE`,
    [userId],
  );
  return row ?? null;
}

export async function insertApplication(
  db: Db,
  userId: number,
  request: ApplicationRequest,
  now: Date,
): Promise<PartnerApplication> {
  const data = { ...request, userId, createdAt: now, updatedAt: now };
  return plainRow('PartnerApplication', await db.prisma.partnerApplication.create({ data }));
}

export async function findLatestApplication(db: Db, userId: number): Promise<PartnerApplication | null> {
  const row = await db.prisma.partnerApplication.findFirst({
    where: { userId },
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
  });
  return row && plainRow('PartnerApplication', row);
}

export async function findApplication(db: Db, id: number): Promise<PartnerApplication | null> {
  if (!isRowId(id)) return null;
  const row = await db.prisma.partnerApplication.findUnique({ where: { id } });
  return row && plainRow('PartnerApplication', row);
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
     WHERE a.id = $1::int AND a.status = 'pending' AND a.user_id = $7::int RETURNING ${APPLICATION.of('a')}`,
    [id, decision.status, decision.comment, decision.percent, decision.adminId, decision.now, decision.userId],
  );
  return row ?? null;
}

const APPLICANT = columns('User', ['username', 'firstName', 'messengerId']);

export type ListedApplication = PartnerApplication & RowOf<typeof APPLICANT>;

/** A page of applications, newest first, with their number. @param status null = all; `none` is a status that no application has */
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
       SELECT ${APPLICATION.of('a')}, ${APPLICANT.of('u')}
       FROM page a JOIN users u ON u.id = a.user_id ORDER BY a.created_at DESC, a.id DESC`,
      [status, slice.limit, slice.offset],
    ),
    db.sql<{ total: number }>(`SELECT count(*)::int AS total FROM partner_applications a WHERE ${condition}`, [status]),
  ]);
  return { items, total: count!.total };
}

const PARTNER = columns('User', ['username', 'firstName', 'messengerId', 'partnerStatus', 'balanceKopeks', 'createdAt']);

/** A partner in the administrators' list; amounts in kopeks. */
export type ListedPartner = RowOf<typeof PARTNER> & {
  userId: number;
  /** Personal; null = the service-wide one. */
  commissionPercent: number | null;
  totalReferrals: number;
  totalEarningsKopeks: number;
};

/** A page of approved partners, newest registration first, with their number. */
export async function listPartners(
  db: Db,
  slice: { limit: number; offset: number },
): Promise<{ items: ListedPartner[]; total: number }> {
  const [items, total] = await Promise.all([
    db.sql<ListedPartner>(
      `WITH page AS MATERIALIZED (
         SELECT u.* FROM users u WHERE u.partner_status = 'approved' ORDER BY u.created_at DESC, u.id DESC LIMIT $1::int OFFSET $2::bigint)
       SELECT u.id AS user_id, ${PARTNER.of('u')}, u.referral_commission_percent::float8 AS commission_percent,
         coalesce(f.referrals, 0) AS total_referrals, coalesce(f.earned_kopeks, 0) AS total_earnings_kopeks
       FROM page u LEFT JOIN referrer_stats f ON f.user_id = u.id ORDER BY u.created_at DESC, u.id DESC`,
      [slice.limit, slice.offset],
    ),
    countPartners(db),
  ]);
  return { items, total };
}

export function countPartners(db: Db): Promise<number> {
  return db.prisma.user.count({ where: { partnerStatus: 'approved' } });
}

export function countPendingApplications(db: Db): Promise<number> {
  return db.prisma.partnerApplication.count({ where: { status: 'pending' } });
}
