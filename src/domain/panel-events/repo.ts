import { columns, type Rows } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';
import type { JobTypes } from '../../core/jobs/job-sender.ts';
import { isParkedSql } from '../provisioning/parked-panel-users.ts';
import { type PanelEvent, STATE_EVENTS } from './ports.ts';
import type { ReportedAccount, ReportedSubscription, StoredEvent } from './types.ts';

/** Of the panel user of an event. */
const IS_PARKED = isParkedSql('$3::uuid', '$4::text');

const QUEUE = 'panel.process-event' satisfies keyof JobTypes;

/**
 * The statement that stores an event with its job, and finds its account: by the handle where the messenger ids agree, by short uuid, by
 * messenger id, by confirmed e-mail. An account that is linked to another panel user is never found by the last two, and none by a panel
 * user of a subscription that an import kept aside. Tests cut sessions at it.
 */
const STORE_EVENT = `
  WITH candidates AS (
      SELECT id, 1 AS place FROM users WHERE vpnpanel_uuid = $3::uuid AND coalesce(messenger_id = $5::bigint, true)
    UNION ALL SELECT u.id, 2 FROM subscriptions s JOIN users u ON u.id = s.user_id
      WHERE s.vpnpanel_short_uuid = $4::text AND coalesce(u.messenger_id = $5::bigint, true)
    UNION ALL SELECT id, 3 FROM users WHERE messenger_id = $5::bigint AND (vpnpanel_uuid IS NULL OR $3::uuid IS NULL) AND NOT ${IS_PARKED}
    UNION ALL SELECT id, 4 FROM users WHERE email = $6::text AND email_verified AND (vpnpanel_uuid IS NULL OR $3::uuid IS NULL)
      AND coalesce(messenger_id = $5::bigint, true) AND NOT ${IS_PARKED}),
    owner AS (SELECT id FROM candidates ORDER BY place, id LIMIT 1),
    stored AS (
      INSERT INTO panel_events (body_hash, event, user_id, is_link_changed, happened_at, data, received_at)
      SELECT $1, $2, (SELECT id FROM owner), coalesce((
          SELECT coalesce(s.vpnpanel_short_uuid IS DISTINCT FROM left($4::text, 255) AND $4::text IS NOT NULL, false)
            OR coalesce(s.subscription_url IS DISTINCT FROM $7::text AND $7::text IS NOT NULL, false)
          FROM subscriptions s JOIN owner o ON o.id = s.user_id), false), $8::timestamptz, $9::jsonb, $10::timestamptz
      ON CONFLICT (body_hash) DO NOTHING RETURNING id)
  SELECT send_job($11, jsonb_build_object('eventId', stored.id) || $12::jsonb) AS sent FROM stored`;

/** Stores an event once. @param trace see `JobSender.trace` @returns false when this body is stored already */
export async function insertEvent(
  db: Db,
  event: PanelEvent,
  timestamps: { happenedAt: Date; now: Date },
  trace: Readonly<Record<string, string>>,
): Promise<boolean> {
  const { name, bodyHash, user, data } = event;
  const names = [user?.panelUuid, user?.shortUuid, user?.messengerId, user?.email, user?.subscriptionUrl].map(
    (value) => value ?? null,
  );
  const stored = await db.sql(STORE_EVENT, [
    ...[bodyHash, name, ...names],
    ...[timestamps.happenedAt, JSON.stringify(data), timestamps.now, QUEUE, JSON.stringify(trace)],
  ]);
  return stored.length > 0;
}

const EVENT = columns('PanelEvent', ['id', 'event', 'userId', 'isLinkChanged', 'happenedAt', 'data']);

/** Null when it is processed or deleted. */
export async function findWaitingEvent(db: Db, id: number): Promise<StoredEvent | null> {
  const [row] = await db.sql<StoredEvent>(`SELECT ${EVENT.of()} FROM panel_events WHERE id = $1::int AND processed_at IS NULL`, [
    id,
  ]);
  return row ?? null;
}

/** Locks the event after its account. @returns false when another run has processed it */
export async function lockEvent(db: Db, id: number): Promise<boolean> {
  const rows = await db.sql('SELECT id FROM panel_events WHERE id = $1::int AND processed_at IS NULL FOR UPDATE', [id]);
  return rows.length > 0;
}

export async function finishEvent(db: Db, id: number, result: string, now: Date): Promise<void> {
  await db.sql('UPDATE panel_events SET processed_at = $2::timestamptz, result = $3 WHERE id = $1::int RETURNING id', [
    id,
    now,
    result,
  ]);
}

/** Whether a later event of the same panel user has been processed: events arrive in any order. */
export async function isSuperseded(db: Db, { id, userId, happenedAt }: StoredEvent): Promise<boolean> {
  const rows = await db.sql(
    `SELECT id FROM panel_events WHERE user_id = $1::int AND happened_at > $2::timestamptz AND processed_at IS NOT NULL
       AND event = ANY($3::text[]) AND id <> $4::int LIMIT 1`,
    [userId, happenedAt, [...STATE_EVENTS], id],
  );
  return rows.length > 0;
}

const SYNCED = columns('Subscription', [
  ...(['endDate', 'trafficLimitGb', 'trafficUsedGb', 'deviceLimit', 'connectedSquads', 'vpnpanelShortUuid'] as const),
  ...(['subscriptionUrl', 'subscriptionCryptoLink', 'lastWebhookUpdateAt', 'provisionRequestedAt', 'provisionedAt'] as const),
  ...(['isDailyPaused'] as const),
]);

type AccountRow = Omit<ReportedSubscription, 'id' | 'status'> &
  Omit<ReportedAccount, 'subscription'> & { subscriptionId: number | null; subscriptionStatus: Rows['Subscription']['status'] };

const ACCOUNT = `SELECT u.id AS user_id, u.status, u.messenger_id, CASE WHEN u.email_verified THEN u.email END AS verified_email, u.language,
    u.notification_settings, u.vpnpanel_uuid, s.id AS subscription_id, s.status AS subscription_status, ${SYNCED.of('s')}, coalesce(t.is_daily, false) AS is_daily,
    (s.provision_state <> 'synced' AND s.provision_requested_at IS NOT NULL) OR coalesce(s.provision_lease_until >= now(), false)
      AS is_push_due
  FROM users u LEFT JOIN subscriptions s ON s.user_id = u.id LEFT JOIN tariffs t ON t.id = s.tariff_id`;

/** Reads an account under the locks of user and subscription. Null: it was deleted. */
export async function lockAccount(db: Db, userId: number): Promise<ReportedAccount | null> {
  await db.sql('SELECT id FROM users WHERE id = $1::int FOR NO KEY UPDATE', [userId]);
  await db.sql('SELECT id FROM subscriptions WHERE user_id = $1::int FOR UPDATE', [userId]);
  return findAccount(db, userId);
}

export async function findAccount(db: Db, userId: number): Promise<ReportedAccount | null> {
  const [row] = await db.sql<AccountRow>(`${ACCOUNT} WHERE u.id = $1::int`, [userId]);
  if (!row) return null;
  const { status, messengerId, verifiedEmail, language, vpnpanelUuid, notificationSettings, ...subscribed } = row;
  const { subscriptionId, subscriptionStatus, ...rest } = subscribed;
  const subscription = subscriptionId === null ? null : { ...rest, id: subscriptionId, status: subscriptionStatus };
  return { userId, status, messengerId, verifiedEmail, language, vpnpanelUuid, notificationSettings, subscription };
}
