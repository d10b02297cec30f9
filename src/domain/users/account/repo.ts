import { columns, type RowOf } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import type { Prisma } from '../../../generated/prisma/client.ts';
import { NOT_ERASED } from './view-repo.ts';

const LOCKED = columns('User', [
  ...(['status', 'promoGroupId', 'restrictionTopup', 'restrictionSubscription', 'restrictionReason', 'balanceKopeks'] as const),
  'vpnpanelUuid',
]);

/** The state that a change of an account starts from. Commission in percent; null = the service-wide one. */
export type LockedUser = RowOf<typeof LOCKED> & { commissionPercent: number | null };

export async function lockUser(db: Db, userId: number): Promise<LockedUser | null> {
  const [row] = await db.sql<LockedUser>(
    `SELECT ${LOCKED.of()}, referral_commission_percent::float8 AS commission_percent
     FROM users u WHERE u.id = $1::int AND ${NOT_ERASED} FOR NO KEY UPDATE`,
    [userId],
  );
  return row ?? null;
}

/** Whether the user exists; locked for share until the end of the transaction, so that it cannot be deleted before. */
export async function lockReferrer(db: Db, id: number): Promise<boolean> {
  const rows = await db.sql<{ id: number }>('SELECT id FROM users WHERE id = $1::bigint FOR KEY SHARE', [id]);
  return rows.length > 0;
}

export async function isReferralCodeTaken(db: Db, code: string, exceptUserId: number): Promise<boolean> {
  return (await db.prisma.user.count({ where: { referralCode: code, id: { not: exceptUserId } } })) > 0;
}

/** Columns that a change of an account may set; the balance changes only through the ledger. */
export type UserColumns = Pick<
  Prisma.UserUncheckedUpdateInput,
  | 'username'
  | 'firstName'
  | 'lastName'
  | 'language'
  | 'status'
  | 'promoGroupId'
  | 'referralCode'
  | 'referralCommissionPercent'
  | 'partnerStatus'
  | 'restrictionTopup'
  | 'restrictionSubscription'
  | 'restrictionReason'
  | 'hasHadPaidSubscription'
  | 'hasMadeFirstTopup'
>;

/** For a locked user. */
export async function updateUserColumns(db: Db, id: number, columns: UserColumns, now: Date): Promise<void> {
  await db.prisma.user.update({ where: { id }, data: { ...columns, updatedAt: now }, select: { id: true } });
}

/**
 * Sets the referrer of a user who has none, unless that would make a user their own ancestor: attribution happens once
 * (spec 04 section 1.2).
 * @returns whether it was set
 */
export async function setReferrerOnce(db: Db, referralId: number, referrerId: number, now: Date): Promise<boolean> {
  const rows = await db.sql<{ id: number }>(
    `UPDATE users SET referred_by_id = $2::int, updated_at = $3::timestamptz
     WHERE id = $1::int AND referred_by_id IS NULL AND NOT EXISTS (
       WITH RECURSIVE ancestors (id) AS (
         SELECT $2::int UNION SELECT u.referred_by_id FROM users u JOIN ancestors a ON u.id = a.id WHERE u.referred_by_id IS NOT NULL)
       SELECT 1 FROM ancestors WHERE ancestors.id = $1::int) RETURNING id`,
    [referralId, referrerId, now],
  );
  return rows.length > 0;
}
