import type { App } from '../../../core/app.ts';
import { addDays, DAY_MS } from '../../../core/clock.ts';
import { listUsers } from '../../users/list/list-users.ts';
import { readUser } from '../../users/account/read-user.ts';
import type { Slice, UserView } from '../../users/types.ts';
import { effectiveCommissionPercent } from '../rules.ts';
import { usualWindows } from '../stats/rules.ts';
import { listReferralsOfReferrer, listReferrerFigures, type ReferralRow } from './repo.ts';

const IDLE_DAYS = 30;

/** A user as one who brings others (spec 04 section 4); kopeks. */
export interface Referrer {
  user: UserView;
  /** Personal; null = the service-wide one. */
  commissionPercent: number | null;
  effectiveCommissionPercent: number;
  invitedCount: number;
  activeReferrals: number;
  earnedKopeks: number;
  /** In the last 30 days. */
  monthEarnedKopeks: number;
}

export interface ReferrerPage extends Slice {
  items: Referrer[];
  total: number;
}

/**
 * Users as referrers, newest first: everybody has a referral code here, so everybody can be one. The search and its total are those
 * of `listUsers`.
 */
export async function listReferrers(app: App, request: Slice & { search: string | null }): Promise<ReferrerPage> {
  const { users, total, limit, offset } = await listUsers(app, {
    ...request,
    page: null,
    perPage: null,
    status: null,
    promoGroupId: null,
  });
  return { items: await withFigures(app, users), total, limit, offset };
}

/** One user as a referrer. @param number messenger id, else internal id @throws AppError 404 'User not found' */
export async function readReferrer(app: App, number: number): Promise<Referrer> {
  const [referrer] = await withFigures(app, [await readUser(app, number)]);
  return referrer!;
}

async function withFigures(app: App, users: readonly UserView[]): Promise<Referrer[]> {
  if (users.length === 0) return [];
  const now = app.clock.now();
  const rows = await listReferrerFigures(
    app.db,
    users.map((user) => user.id),
    usualWindows(now).month,
    now,
  );
  const byId = new Map(rows.map((row) => [row.id, row]));
  const standard = app.settings.get('REFERRAL_COMMISSION_PERCENT');
  return users.map((user) => {
    const row = byId.get(user.id);
    const commissionPercent = row?.commissionPercent ?? null;
    return {
      user,
      commissionPercent,
      effectiveCommissionPercent: effectiveCommissionPercent(commissionPercent, standard),
      invitedCount: row?.invitedCount ?? 0,
      activeReferrals: row?.activeReferrals ?? 0,
      earnedKopeks: row?.earnedKopeks ?? 0,
      monthEarnedKopeks: row?.earnedInWindowKopeks ?? 0,
    };
  });
}

export interface Referral extends ReferralRow {
  daysSinceRegistration: number;
  /** Null = never active. */
  daysSinceActivity: number | null;
  /** Active within the last 30 days. */
  isActive: boolean;
}

export interface ReferrerDetail extends Slice {
  referrer: Referrer;
  referrals: Referral[];
  total: number;
}

/** A referrer with a page of those he invited, newest first. @throws AppError 404 'User not found' */
export async function readReferrerDetail(app: App, number: number, slice: Slice): Promise<ReferrerDetail> {
  const referrer = await readReferrer(app, number);
  const { items, total } = await listReferralsOfReferrer(app.db, referrer.user.id, slice);
  const now = app.clock.now();
  const idleSince = addDays(now, -IDLE_DAYS);
  const referrals = items.map((row) => ({
    ...row,
    daysSinceRegistration: wholeDays(row.createdAt, now),
    daysSinceActivity: row.lastActivity && wholeDays(row.lastActivity, now),
    isActive: row.lastActivity !== null && row.lastActivity >= idleSince,
  }));
  return { referrer, referrals, total, ...slice };
}

/** Never below 0: an activity may be noted a moment after the clock was read. */
function wholeDays(from: Date, to: Date): number {
  return Math.max(0, Math.floor((to.getTime() - from.getTime()) / DAY_MS));
}
