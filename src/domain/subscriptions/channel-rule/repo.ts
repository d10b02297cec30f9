import { columns, type RowOf } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import type { Recipient } from '../../messaging/send-message.ts';

const CANDIDATE = columns('Subscription', ['id', 'userId', 'isTrial']);
const OWNER = columns('User', ['email', 'emailVerified']);

/** A subscription that the rule of required channels may disable or enable, with its owner. */
export type ChannelCandidate = RowOf<typeof CANDIDATE> & RowOf<typeof OWNER> & { messengerId: number; isDisabled: boolean };

/** A subscription whose status was changed, and whom to notify. */
export type ChangedByRule = Recipient & { subscriptionId: number };

const RECIPIENT = `s.id AS subscription_id, u.id AS user_id, u.status, u.messenger_id,
  CASE WHEN u.email_verified THEN u.email END AS verified_email, u.language`;

/**
 * Up to `limit` subscriptions after the id `after`, by id, with time left, of active users of the messenger: those that the rule has
 * disabled, and with `includesTrials` active trials. What the panel reported within 60 s is skipped (spec 06 section 10, guard W).
 */
export function listCandidates(
  db: Db,
  { includesTrials, after, limit, now }: { includesTrials: boolean; after: number; limit: number; now: Date },
): Promise<ChannelCandidate[]> {
  return db.sql<ChannelCandidate>(
    `SELECT ${CANDIDATE.of('s')}, ${OWNER.of('u')}, u.messenger_id, s.status = 'disabled' AS is_disabled
     FROM subscriptions s JOIN users u ON u.id = s.user_id
     WHERE s.id > $1::int AND s.end_date > $2::timestamptz AND u.status = 'active' AND u.messenger_id IS NOT NULL
       AND (s.status = 'disabled' AND s.disabled_reason = 'channel' OR $3::boolean AND s.status = 'active' AND s.is_trial)
       AND (s.last_webhook_update_at IS NULL OR s.last_webhook_update_at <= $2::timestamptz - interval '60 seconds')
     ORDER BY s.id LIMIT $4::int`,
    [after, now, includesTrials, limit],
  );
}

/** Disables the user's subscription if it is active and of a kind that is named; null = nothing was changed. */
export async function disable(
  db: Db,
  userId: number,
  kinds: { trial: boolean; paid: boolean },
  now: Date,
): Promise<ChangedByRule | null> {
  const [row] = await db.sql<ChangedByRule>(
    `UPDATE subscriptions s SET status = 'disabled', disabled_reason = 'channel', updated_at = $4::timestamptz FROM users u
     WHERE u.id = s.user_id AND s.user_id = $1::int AND s.status = 'active' AND s.end_date > $4::timestamptz
       AND CASE WHEN s.is_trial THEN $2::boolean ELSE $3::boolean END RETURNING ${RECIPIENT}`,
    [userId, kinds.trial, kinds.paid, now],
  );
  return row ?? null;
}

/**
 * Enables the user's subscription if the rule has disabled it, time and traffic are left and the account is active; null = nothing was
 * changed. A trigger clears the reason.
 */
export async function enable(db: Db, userId: number, now: Date): Promise<ChangedByRule | null> {
  const [row] = await db.sql<ChangedByRule>(
    `UPDATE subscriptions s SET status = 'active', updated_at = $2::timestamptz FROM users u
     WHERE u.id = s.user_id AND s.user_id = $1::int AND s.status = 'disabled' AND s.disabled_reason = 'channel'
       AND s.end_date > $2::timestamptz AND u.status = 'active'
       AND (s.traffic_limit_gb = 0 OR s.traffic_used_gb < s.traffic_limit_gb) RETURNING ${RECIPIENT}`,
    [userId, now],
  );
  return row ?? null;
}

export async function isDisabledByRule(db: Db, userId: number): Promise<boolean> {
  const rows = await db.sql("SELECT id FROM subscriptions WHERE user_id = $1::int AND disabled_reason = 'channel'", [userId]);
  return rows.length > 0;
}

/** Records that an administrator or the integration has disabled the subscription, so that neither a rule nor a top-up enables it. */
export async function recordDisabledByAdmin(db: Db, subscriptionId: number): Promise<void> {
  await db.prisma.subscription.updateMany({
    where: { id: subscriptionId, status: 'disabled' },
    data: { disabledReason: 'admin' },
  });
}
