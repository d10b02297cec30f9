import { columns, type RowOf } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import { GRACE_HOURS, MAX_LEAD_DAYS, PANEL_PAUSE_SECONDS } from '../rules/autopay.ts';

const CANDIDATE = columns('Subscription', ['id', 'userId', 'endDate']);

/** A subscription that is due for autopay. */
export type AutopayCandidate = RowOf<typeof CANDIDATE>;

/**
 * The subscriptions of `isAutopayDue` for the job, in a form that the index can use: 31 days is what the owners' settings allow at most. $1 is
 * now.
 */
const DUE = `FROM subscriptions s JOIN users u ON u.id = s.user_id LEFT JOIN tariffs f ON f.id = s.tariff_id
  WHERE s.autopay_enabled AND NOT s.is_trial AND NOT coalesce(f.is_daily, false) AND s.status IN ('active', 'expired')
    AND s.end_date > $1::timestamptz - interval '${GRACE_HOURS} hours'
    AND s.end_date < $1::timestamptz + (least(coalesce(nullif(s.autopay_days_before, 0), 3), ${MAX_LEAD_DAYS}) + 1) * interval '1 day'
    AND s.end_date < $1::timestamptz + interval '${MAX_LEAD_DAYS + 1} days'
    AND u.status = 'active' AND NOT u.restriction_subscription
    AND (s.last_webhook_update_at IS NULL OR s.last_webhook_update_at <= $1::timestamptz - interval '${PANEL_PAUSE_SECONDS} seconds')`;

/** Up to `limit` due subscriptions after the given one, by their end. */
export function listDue(
  db: Db,
  now: Date,
  after: Pick<AutopayCandidate, 'id' | 'endDate'> | null,
  limit: number,
): Promise<AutopayCandidate[]> {
  return db.sql<AutopayCandidate>(
    `SELECT ${CANDIDATE.of('s')} ${DUE} AND (s.end_date, s.id) > ($2::timestamptz, $3::int) ORDER BY s.end_date, s.id LIMIT $4::int`,
    [now, after?.endDate ?? new Date(0), after?.id ?? 0, limit],
  );
}

/** Records that autopay cannot renew this term; the next paid term deletes the record. @returns false when it is recorded already */
export async function recordRefusal(db: Db, subscriptionId: number, userId: number, now: Date): Promise<boolean> {
  const data = [{ subscriptionId, userId, notificationType: 'autopay_failed', createdAt: now }];
  return (await db.prisma.sentNotification.createMany({ data, skipDuplicates: true })).count > 0;
}

/** Whether a failure of autopay was recorded in the dashboard feed after `since`. */
export async function hasFailedSince(db: Db, userId: number, since: Date): Promise<boolean> {
  const where = { userId, eventType: 'autopay_failed', occurredAt: { gt: since } };
  return (await db.prisma.subscriptionEvent.findFirst({ where, select: { id: true } })) !== null;
}
