import { columns, type RowOf } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';

const CANDIDATE = columns('Subscription', ['id', 'userId', 'endDate']);

/** A subscription that is due for autopay. */
export type AutopayCandidate = RowOf<typeof CANDIDATE>;

/** For how long after its end the job still renews a subscription. */
const GRACE_HOURS = 2;

/** For how long after its end a top-up still renews a subscription (spec 02 section 6, step 3). */
const EXPIRED_HOURS = 30 * 24;

/**
 * At most as many whole days left as the owner has set (1..30, spec 02 H23), or past its end by $2 hours at most; no trials, no daily
 * tariffs, no blocked or restricted users. $1 is now.
 */
const RENEWABLE = `FROM subscriptions s JOIN users u ON u.id = s.user_id LEFT JOIN tariffs f ON f.id = s.tariff_id
  WHERE s.autopay_enabled AND NOT s.is_trial AND NOT coalesce(f.is_daily, false) AND s.status IN ('active', 'expired')
    AND s.end_date > $1::timestamptz - $2::int * interval '1 hour'
    AND s.end_date < $1::timestamptz + (least(coalesce(nullif(s.autopay_days_before, 0), 3), 30) + 1) * interval '1 day'
    AND u.status = 'active' AND NOT u.restriction_subscription`;

/**
 * A subscription that the panel reported on within 60 s is renewed in the job's next round (spec 02 section 1.3). A top-up has no next
 * round and does not wait: the panel may report the end in the minute in which the owner pays.
 */
const DUE = `${RENEWABLE}
    AND (s.last_webhook_update_at IS NULL OR s.last_webhook_update_at <= $1::timestamptz - interval '60 seconds')`;

/** Up to `limit` due subscriptions after the given one, by their end. */
export function listDue(
  db: Db,
  now: Date,
  after: Pick<AutopayCandidate, 'id' | 'endDate'> | null,
  limit: number,
): Promise<AutopayCandidate[]> {
  // The bound of 31 days is what the owners' settings allow at most, in a form that the index can use.
  return db.sql<AutopayCandidate>(
    `SELECT ${CANDIDATE.of('s')} ${DUE}
       AND s.end_date < $1::timestamptz + interval '31 days' AND (s.end_date, s.id) > ($3::timestamptz, $4::int)
     ORDER BY s.end_date, s.id LIMIT $5::int`,
    [now, GRACE_HOURS, after?.endDate ?? new Date(0), after?.id ?? 0, limit],
  );
}

/** `due`: for the job. `expired`: for a top-up. */
export type AutopayScope = 'due' | 'expired';

/** Whether the user's subscription is to be renewed; checked again under the lock. */
export async function isDue(db: Db, now: Date, userId: number, scope: AutopayScope): Promise<boolean> {
  const [condition, hours] =
    scope === 'due' ? [DUE, GRACE_HOURS] : [`${RENEWABLE} AND s.end_date <= $1::timestamptz`, EXPIRED_HOURS];
  const rows = await db.sql(`SELECT s.id ${condition} AND s.user_id = $3::int`, [now, hours, userId]);
  return rows.length > 0;
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
