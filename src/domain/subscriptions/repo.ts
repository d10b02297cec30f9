import type { Db } from '../../core/db/db.ts';
import type { Recipient } from '../messaging/notify-user.ts';
import { linkServersOf } from '../provisioning/link-servers.ts';
import type {
  ProvisionState,
  Subscription,
  SubscriptionChanges,
  SubscriptionDetails,
  SubscriptionStatus,
  TrafficPurchase,
} from './types.ts';

/** A row as SQL gives it, or as JSON inside a wider row: then moments are text. */
export interface SubscriptionRow {
  id: number;
  userId: number;
  status: SubscriptionStatus;
  isTrial: boolean;
  startDate: Date | string;
  endDate: Date | string;
  trafficLimitGb: number;
  trafficUsedGb: number;
  purchasedTrafficGb: number;
  trafficResetAt: Date | string | null;
  deviceLimit: number;
  connectedSquads: string[];
  autopayEnabled: boolean;
  autopayDaysBefore: number;
  tariffId: number | null;
  isDailyPaused: boolean;
  lastDailyChargeAt: Date | string | null;
  subscriptionUrl: string | null;
  subscriptionCryptoLink: string | null;
  vpnpanelShortUuid: string | null;
  lastWebhookUpdateAt: Date | string | null;
  modemEnabled: boolean;
  provisionState: ProvisionState;
  provisionError: string | null;
  provisionRequestedAt: Date | string | null;
  provisionedAt: Date | string | null;
  createdAt: Date | string;
  updatedAt: Date | string;
}

export function toSubscription(row: SubscriptionRow): Subscription {
  return {
    id: row.id,
    userId: row.userId,
    status: row.status,
    isTrial: row.isTrial,
    startDate: new Date(row.startDate),
    endDate: new Date(row.endDate),
    trafficLimitGb: row.trafficLimitGb,
    trafficUsedGb: row.trafficUsedGb,
    purchasedTrafficGb: row.purchasedTrafficGb,
    trafficResetAt: moment(row.trafficResetAt),
    deviceLimit: row.deviceLimit,
    connectedSquads: row.connectedSquads,
    autopayEnabled: row.autopayEnabled,
    autopayDaysBefore: row.autopayDaysBefore,
    tariffId: row.tariffId,
    isDailyPaused: row.isDailyPaused,
    lastDailyChargeAt: moment(row.lastDailyChargeAt),
    subscriptionUrl: row.subscriptionUrl,
    subscriptionCryptoLink: row.subscriptionCryptoLink,
    panelShortUuid: row.vpnpanelShortUuid,
    lastWebhookUpdateAt: moment(row.lastWebhookUpdateAt),
    modemEnabled: row.modemEnabled,
    provisionState: row.provisionState,
    provisionError: row.provisionError,
    provisionRequestedAt: moment(row.provisionRequestedAt),
    provisionedAt: moment(row.provisionedAt),
    createdAt: new Date(row.createdAt),
    updatedAt: new Date(row.updatedAt),
  };
}

function moment(value: Date | string | null): Date | null {
  return value === null ? null : new Date(value);
}

/** SQL of what is shown beside the subscription row `alias`: known servers and traffic purchases, as JSON. */
export function detailColumns(alias: string): string {
  return `COALESCE((SELECT json_agg(json_build_object('squad_uuid', q.squad_uuid, 'display_name', q.display_name,
      'country_code', q.country_code) ORDER BY q.sort_order, q.display_name, q.id)
    FROM server_squads q WHERE ${alias}.connected_squads @> to_jsonb(q.squad_uuid::text)), '[]') AS servers,
  COALESCE((SELECT json_agg(p ORDER BY p.expires_at, p.id) FROM traffic_purchases p WHERE p.subscription_id = ${alias}.id), '[]')
    AS purchases`;
}

export interface DetailColumns {
  servers: { squad_uuid: string; display_name: string; country_code: string | null }[];
  purchases: { id: number; subscription_id: number; traffic_gb: number; expires_at: string; created_at: string }[];
}

export function toDetails(row: SubscriptionRow, details: DetailColumns): SubscriptionDetails {
  return {
    subscription: toSubscription(row),
    servers: details.servers.map((server) => ({
      squadUuid: server.squad_uuid,
      displayName: server.display_name,
      countryCode: server.country_code,
    })),
    purchases: details.purchases.map(
      (purchase): TrafficPurchase => ({
        id: purchase.id,
        subscriptionId: purchase.subscription_id,
        trafficGb: purchase.traffic_gb,
        expiresAt: new Date(purchase.expires_at),
        createdAt: new Date(purchase.created_at),
      }),
    ),
  };
}

/** SQL of the id of a user's primary promo group; `alias` is the users row (spec 04 section 8.1). */
export function primaryGroupIdSql(alias: string): string {
  return `COALESCE((SELECT pg.id FROM user_promo_groups m JOIN promo_groups pg ON pg.id = m.promo_group_id
    WHERE m.user_id = ${alias}.id ORDER BY pg.priority DESC, pg.id DESC LIMIT 1), ${alias}.promo_group_id)`;
}

/** Column and cast of each field that a life-cycle rule may set. */
const COLUMNS: Record<keyof SubscriptionChanges, string> = {
  status: 'status:text',
  isTrial: 'is_trial:boolean',
  startDate: 'start_date:timestamptz',
  endDate: 'end_date:timestamptz',
  trafficLimitGb: 'traffic_limit_gb:int',
  trafficUsedGb: 'traffic_used_gb:float8',
  purchasedTrafficGb: 'purchased_traffic_gb:int',
  trafficResetAt: 'traffic_reset_at:timestamptz',
  deviceLimit: 'device_limit:int',
  connectedSquads: 'connected_squads:jsonb',
  tariffId: 'tariff_id:int',
  isDailyPaused: 'is_daily_paused:boolean',
  lastDailyChargeAt: 'last_daily_charge_at:timestamptz',
  subscriptionUrl: 'subscription_url:text',
  subscriptionCryptoLink: 'subscription_crypto_link:text',
  panelShortUuid: 'vpnpanel_short_uuid:text',
  autopayEnabled: 'autopay_enabled:boolean',
  autopayDaysBefore: 'autopay_days_before:int',
};

/** Names, cast placeholders and values of the given changes, for an UPDATE or INSERT; values are appended to `values`. */
export function assignments(changes: SubscriptionChanges, values: unknown[]): { names: string[]; placeholders: string[] } {
  const names: string[] = [];
  const placeholders: string[] = [];
  for (const field of Object.keys(COLUMNS) as (keyof SubscriptionChanges)[]) {
    const value = changes[field];
    if (value === undefined) continue;
    const [name, cast] = COLUMNS[field].split(':') as [string, string];
    values.push(field === 'connectedSquads' ? JSON.stringify(value) : value);
    names.push(name);
    placeholders.push(`$${values.length}::${cast}`);
  }
  return { names, placeholders };
}

/** Locks the user who owns this subscription, then the subscription (spec 00, lock order). Null when there is none. */
export async function lockById(db: Db, id: number): Promise<Subscription | null> {
  await db.sql('SELECT u.id FROM users u WHERE u.id = (SELECT user_id FROM subscriptions WHERE id = $1::int) FOR NO KEY UPDATE', [
    id,
  ]);
  const [row] = await db.sql<SubscriptionRow>('SELECT * FROM subscriptions WHERE id = $1::int FOR UPDATE', [id]);
  return row ? toSubscription(row) : null;
}

/** Locks a user, then the user's subscription. Null when there is no such user. */
export async function lockByUser(db: Db, userId: number): Promise<{ subscription: Subscription | null } | null> {
  const [user] = await db.sql<{ id: number }>('SELECT id FROM users WHERE id = $1::int FOR NO KEY UPDATE', [userId]);
  if (!user) return null;
  const [row] = await db.sql<SubscriptionRow>('SELECT * FROM subscriptions WHERE user_id = $1::int FOR UPDATE', [userId]);
  return { subscription: row ? toSubscription(row) : null };
}

export async function findById(db: Db, id: number): Promise<Subscription | null> {
  const [row] = await db.sql<SubscriptionRow>('SELECT * FROM subscriptions WHERE id = $1::int', [id]);
  return row ? toSubscription(row) : null;
}

export interface SubscriptionFilter {
  status: SubscriptionStatus | null;
  userId: number | null;
  isTrial: boolean | null;
  limit: number;
  offset: number;
}

/** Newest first. Only the filters that are set stand in the statement, so that each has a plan of its own. */
export async function list(db: Db, filter: SubscriptionFilter): Promise<Subscription[]> {
  const values: unknown[] = [filter.limit, filter.offset];
  const conditions: string[] = [];
  const where = (column: string, cast: string, value: unknown) => {
    if (value === null) return;
    values.push(value);
    conditions.push(`${column} = $${values.length}::${cast}`);
  };
  where('status', 'text', filter.status);
  where('user_id', 'bigint', filter.userId);
  where('is_trial', 'boolean', filter.isTrial);
  const rows = await db.sql<SubscriptionRow>(
    `SELECT * FROM subscriptions ${conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : ''}
     ORDER BY created_at DESC, id DESC LIMIT $1::int OFFSET $2::bigint`,
    values,
  );
  return rows.map(toSubscription);
}

export interface UpdateOptions {
  now: Date;
  dropsPurchases?: boolean;
  /** Expiry notices of the old dates are forgotten (spec 02 section 3.1). */
  forgetsNotices?: boolean;
  /** A traffic package to add. */
  purchase?: { trafficGb: number; expiresAt: Date; createdAt: Date };
}

/** Writes changed fields of a locked subscription, with what hangs on them, in one statement. */
export async function update(db: Db, id: number, changes: SubscriptionChanges, options: UpdateOptions): Promise<Subscription> {
  const { purchase } = options;
  const values: unknown[] = [
    id,
    options.now,
    options.dropsPurchases ?? false,
    options.forgetsNotices ?? false,
    purchase?.trafficGb ?? null,
    purchase?.expiresAt ?? null,
    purchase?.createdAt ?? null,
  ];
  const { names, placeholders } = assignments(changes, values);
  const sets = names.map((name, index) => `${name} = ${placeholders[index]}, `).join('');
  const [row] = await db.sql<SubscriptionRow>(
    `WITH dropped AS (DELETE FROM traffic_purchases WHERE subscription_id = $1::int AND $3::boolean),
       forgotten AS (DELETE FROM sent_notifications WHERE subscription_id = $1::int AND $4::boolean),
       bought AS (INSERT INTO traffic_purchases (subscription_id, traffic_gb, expires_at, created_at)
         SELECT $1::int, $5::int, $6::timestamptz, $7::timestamptz WHERE $5::int IS NOT NULL)
     UPDATE subscriptions SET ${sets}updated_at = $2::timestamptz WHERE id = $1::int RETURNING *`,
    values,
  );
  return toSubscription(row!);
}

/** Inserts the subscription of a user that has none. */
export async function insert(db: Db, userId: number, fields: SubscriptionChanges, now: Date): Promise<Subscription> {
  const values: unknown[] = [userId, now];
  const { names, placeholders } = assignments(fields, values);
  const [row] = await db.sql<SubscriptionRow>(
    `INSERT INTO subscriptions (user_id, created_at, updated_at, ${names.join(', ')})
     VALUES ($1::int, $2::timestamptz, $2::timestamptz, ${placeholders.join(', ')}) RETURNING *`,
    values,
  );
  return toSubscription(row!);
}

/** Server rows of one subscription after its squads changed, see `linkServersOf`. */
export function linkServers(db: Db, subscriptionId: number, now: Date): Promise<void> {
  return linkServersOf(db, [subscriptionId], now);
}

/** Remembers that a paid subscription was had: such a user gets no trial any more. */
export async function markPaidBuyer(db: Db, userId: number, now: Date): Promise<void> {
  await db.sql(
    `UPDATE users SET has_had_paid_subscription = true, updated_at = $2::timestamptz
     WHERE id = $1::int AND NOT has_had_paid_subscription RETURNING id`,
    [userId, now],
  );
}

/** Live and past traffic purchases, the one that ends first in front. */
export async function listPurchases(db: Db, subscriptionId: number): Promise<Pick<TrafficPurchase, 'trafficGb' | 'expiresAt'>[]> {
  const rows = await db.sql<{ trafficGb: number; expiresAt: Date }>(
    'SELECT traffic_gb, expires_at FROM traffic_purchases WHERE subscription_id = $1::int ORDER BY expires_at, id',
    [subscriptionId],
  );
  return rows.map((row) => ({ trafficGb: row.trafficGb, expiresAt: row.expiresAt }));
}

/** Subscriptions `s` of users `u` on tariffs `t` whose next day the daily service charges, or ends for lack of money; see its candidates. */
const GOES_ON_DAILY = `coalesce(t.is_daily AND t.is_active AND t.daily_price_kopeks > 0 AND NOT s.is_daily_paused AND NOT s.is_trial
  AND u.status = 'active' AND NOT u.restriction_subscription, false)`;

/**
 * Marks up to `limit` subscriptions whose paid time is over as expired (spec 02 section 13). Left alone: what the daily service carries
 * on, rows that the panel reported on within 60 s, rows another worker or sale holds at the moment, and what users have who are not
 * active; except for dailies, which would be charged for at once when the user is let in again.
 * @param isDailyServiceOn while it is off, nothing carries dailies on
 */
export async function expireBatch(
  db: Db,
  { now, limit, isDailyServiceOn }: { now: Date; limit: number; isDailyServiceOn: boolean },
): Promise<ExpiredSubscription[]> {
  const rows = await db.sql<{
    id: number;
    userId: number;
    userStatus: string;
    messengerId: number | null;
    verifiedEmail: string | null;
    language: string;
  }>(
    `UPDATE subscriptions e SET status = 'expired', updated_at = $1::timestamptz FROM users o WHERE o.id = e.user_id AND e.id IN (
       SELECT s.id FROM subscriptions s JOIN users u ON u.id = s.user_id LEFT JOIN tariffs t ON t.id = s.tariff_id
       WHERE s.status IN ('active', 'trial') AND s.end_date <= $1::timestamptz
         AND (u.status = 'active' OR coalesce(t.is_daily, false)) AND NOT ($3::boolean AND ${GOES_ON_DAILY})
         AND (s.last_webhook_update_at IS NULL OR s.last_webhook_update_at <= $1::timestamptz - interval '60 seconds')
       ORDER BY s.end_date, s.id LIMIT $2::int FOR UPDATE OF s SKIP LOCKED)
     RETURNING e.id, e.user_id, o.status AS user_status, o.messenger_id, CASE WHEN o.email_verified THEN o.email END AS verified_email, o.language`,
    [now, limit, isDailyServiceOn],
  );
  return rows.map((row) => ({
    id: row.id,
    userId: row.userId,
    status: row.userStatus,
    messengerId: row.messengerId,
    verifiedEmail: row.verifiedEmail,
    language: row.language,
  }));
}

/** An expired subscription and how its owner is reached. */
export interface ExpiredSubscription extends Recipient {
  id: number;
}
