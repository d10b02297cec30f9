import { columns, type RowOf } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import { CARD_HOURS, GRACE_HOURS, MAX_LEAD_DAYS, PANEL_PAUSE_SECONDS } from '../rules/autopay.ts';

const CANDIDATE = columns('Subscription', ['id', 'userId', 'endDate']);

/** A subscription that is due for autopay. */
export type AutopayCandidate = RowOf<typeof CANDIDATE>;

/** What `isAutopayDue` asks of subscription and user for the job and for saved cards, without the end of the term. $1 is now. */
const ELIGIBLE = `FROM subscriptions s JOIN users u ON u.id = s.user_id LEFT JOIN tariffs f ON f.id = s.tariff_id
  WHERE s.autopay_enabled AND NOT s.is_trial AND NOT coalesce(f.is_daily, false) AND s.status IN ('active', 'expired')
    AND s.end_date < $1::timestamptz + (least(coalesce(nullif(s.autopay_days_before, 0), 3), ${MAX_LEAD_DAYS}) + 1) * interval '1 day'
    AND u.status = 'active' AND NOT u.restriction_subscription
    AND (s.last_webhook_update_at IS NULL OR s.last_webhook_update_at <= $1::timestamptz - interval '${PANEL_PAUSE_SECONDS} seconds')`;

/** The term ends in these days at most, or ended in these hours, in a form that the index can use. */
const ending = (hours: number, days: string) => `s.end_date > $1::timestamptz - interval '${hours} hours'
    AND s.end_date < $1::timestamptz + (${days} + 1) * interval '1 day'`;

/** In the order of the index `subscriptions_autopay_end_date_idx`. */
const PAGE = '(s.end_date, s.id) > ($2::timestamptz, $3::int) ORDER BY s.end_date, s.id LIMIT $4::int';

/** Up to `limit` due subscriptions after the given one, by their end. */
export function listDue(
  db: Db,
  now: Date,
  after: Pick<AutopayCandidate, 'id' | 'endDate'> | null,
  limit: number,
): Promise<AutopayCandidate[]> {
  return db.sql<AutopayCandidate>(
    `SELECT ${CANDIDATE.of('s')} ${ELIGIBLE} AND ${ending(GRACE_HOURS, String(MAX_LEAD_DAYS))} AND ${PAGE}`,
    [now, after?.endDate ?? new Date(0), after?.id ?? 0, limit],
  );
}

/**
 * The same of those whose renewal a saved card may pay: until 48 h after the end, and never earlier than the usual lead.
 * @param usualLeadDays of the settings, 1 to 30
 */
export function listCardCandidates(
  db: Db,
  now: Date,
  page: { after: Pick<AutopayCandidate, 'id' | 'endDate'> | null; limit: number; usualLeadDays: number },
): Promise<AutopayCandidate[]> {
  const { after, limit, usualLeadDays } = page;
  return db.sql<AutopayCandidate>(`SELECT ${CANDIDATE.of('s')} ${ELIGIBLE} AND ${ending(CARD_HOURS, '$5::int')} AND ${PAGE}`, [
    now,
    after?.endDate ?? new Date(0),
    after?.id ?? 0,
    limit,
    usualLeadDays,
  ]);
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
