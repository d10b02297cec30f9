import { columns, type RowOf } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';

export interface ReportCounts {
  /** Tickets that were created in the period. */
  newTickets: number;
  /** Tickets that are open, pending or answered now. */
  openTickets: number;
  /** Users with an active subscription that is no trial and has not ended. */
  activePayers: number;
  /** Users whose subscription has no squads. */
  neverConnected: number;
}

/**
 * What no counter of the statistics has, at a million users read by indexes: tickets of the period, those that are not closed, active
 * subscriptions whose end has passed and that no job has expired yet, and subscriptions without squads. A user has one subscription.
 */
export async function countForReport(db: Db, from: Date, until: Date, now: Date): Promise<ReportCounts> {
  const [row] = await db.sql<ReportCounts>(
    `SELECT (SELECT count(*) FROM tickets WHERE created_at >= $1::timestamptz AND created_at < $2::timestamptz)::int AS new_tickets,
       (SELECT count(*) FROM tickets WHERE status IN ('open', 'pending', 'answered'))::int AS open_tickets,
       ((SELECT coalesce(sum(subscriptions), 0) FROM subscription_counters WHERE status = 'active' AND NOT is_trial)
         - (SELECT count(*) FROM subscriptions WHERE status = 'active' AND end_date <= $3::timestamptz AND NOT is_trial))::int
         AS active_payers,
       (SELECT count(*) FROM subscriptions WHERE connected_squads = '[]'::jsonb)::int AS never_connected`,
    [from, until, now],
  );
  return row!;
}

const REFERRER = columns('User', ['id', 'messengerId', 'username', 'firstName', 'lastName', 'email']);

export type InvitingUser = RowOf<typeof REFERRER> & {
  /** Users of the period whom this one referred. */
  invited: number;
};

/** Who referred most users of those created in a period; equal ones by id. */
export function listTopInviting(db: Db, from: Date, until: Date, limit: number): Promise<InvitingUser[]> {
  return db.sql<InvitingUser>(
    `SELECT ${REFERRER.of('u')}, r.invited FROM (
       SELECT referred_by_id, count(*)::int AS invited FROM users
       WHERE created_at >= $1::timestamptz AND created_at < $2::timestamptz AND referred_by_id IS NOT NULL
       GROUP BY referred_by_id ORDER BY invited DESC, referred_by_id LIMIT $3::int) r
     JOIN users u ON u.id = r.referred_by_id ORDER BY r.invited DESC, u.id`,
    [from, until, limit],
  );
}
