import type { Changes } from '../../core/changes.ts';
import { columnOf, columns, nestedRow, plainRow } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';
import type { Recipient } from '../messaging/send-message.ts';
import { linkServersOf } from '../provisioning/sync/rules.ts';
import type { Subscription, SubscriptionChanges, SubscriptionDetails, SubscriptionStatus, TrafficPurchase } from './types.ts';

/** Columns of a `Subscription`. */
export const SUBSCRIPTION = columns('Subscription', [
  ...(['id', 'userId', 'status', 'isTrial', 'startDate', 'endDate', 'trafficLimitGb', 'trafficUsedGb'] as const),
  ...(['purchasedTrafficGb', 'trafficResetAt', 'deviceLimit', 'connectedSquads', 'autopayEnabled', 'autopayDaysBefore'] as const),
  ...(['tariffId', 'isDailyPaused', 'lastDailyChargeAt', 'subscriptionUrl', 'subscriptionCryptoLink'] as const),
  ...(['cancelEndedAutopay', 'cancelPausedDaily'] as const),
  ...(['vpnpanelShortUuid', 'lastWebhookUpdateAt', 'modemEnabled', 'provisionState', 'provisionError'] as const),
  ...(['provisionRequestedAt', 'provisionedAt', 'createdAt', 'updatedAt'] as const),
]);

/** SQL of what is shown with the subscription row `alias`: known servers and traffic purchases, as JSON. */
export function detailColumns(alias: string): string {
  return `COALESCE((SELECT json_agg(json_build_object('squad_uuid', q.squad_uuid, 'display_name', q.display_name,
      'country_code', q.country_code) ORDER BY q.sort_order, q.display_name, q.id)
    FROM server_squads q WHERE ${alias}.connected_squads @> to_jsonb(q.squad_uuid::text)), '[]') AS servers,
  COALESCE((SELECT json_agg(p ORDER BY p.expires_at, p.id) FROM traffic_purchases p WHERE p.subscription_id = ${alias}.id), '[]')
    AS purchases`;
}

/** What `detailColumns` returns. */
export interface DetailColumns {
  servers: object[];
  purchases: object[];
}

export function toDetails(subscription: Subscription, { servers, purchases }: DetailColumns): SubscriptionDetails {
  return {
    subscription,
    servers: servers.map((server) => nestedRow('ServerSquad', server)),
    purchases: purchases.map((purchase) => nestedRow('TrafficPurchase', purchase)),
  };
}

/** SQL of the id of a user's primary promo group; `alias` is the users row (spec 04 section 8.1). */
export function primaryGroupIdSql(alias: string): string {
  return `primary_promo_group_id(${alias}.id, ${alias}.promo_group_id)`;
}

/**
 * SQL of whether the expired subscription row `s` has the term that had been ended early in the product that it was imported from: it stays expired
 * until its owner or an administrator starts it (spec 07 section 7).
 */
export const STAYS_EXPIRED = `EXISTS (SELECT 1 FROM import_issues i WHERE i.run_id = (SELECT max(id) FROM import_runs)
  AND i.code = 'subscription_expired_early' AND i.subject = s.id::text AND (i.detail ->> 'end_date')::timestamptz = s.end_date)`;

/** The type in SQL of each field that a life-cycle rule may set. */
const CASTS: Record<keyof SubscriptionChanges, string> = {
  status: 'text',
  isTrial: 'boolean',
  startDate: 'timestamptz',
  endDate: 'timestamptz',
  trafficLimitGb: 'int',
  trafficUsedGb: 'float8',
  purchasedTrafficGb: 'int',
  trafficResetAt: 'timestamptz',
  deviceLimit: 'int',
  connectedSquads: 'jsonb',
  tariffId: 'int',
  isDailyPaused: 'boolean',
  cancelEndedAutopay: 'boolean',
  cancelPausedDaily: 'boolean',
  lastDailyChargeAt: 'timestamptz',
  subscriptionUrl: 'text',
  subscriptionCryptoLink: 'text',
  vpnpanelShortUuid: 'text',
  autopayEnabled: 'boolean',
  autopayDaysBefore: 'int',
};

/** Names, cast placeholders and values of the given changes, for an UPDATE or INSERT; values are appended to `values`. */
function assignments(changes: SubscriptionChanges, values: unknown[]): { names: string[]; placeholders: string[] } {
  const names: string[] = [];
  const placeholders: string[] = [];
  for (const field of Object.keys(CASTS) as (keyof SubscriptionChanges)[]) {
    const value = changes[field];
    if (value === undefined) continue;
    values.push(field === 'connectedSquads' ? JSON.stringify(value) : value);
    names.push(columnOf('Subscription', field));
    placeholders.push(`$${values.length}::${CASTS[field]}`);
  }
  return { names, placeholders };
}

/** The given changes under the names of their columns, for a function that applies them to a row. */
export function columnsOf(changes: SubscriptionChanges): Record<string, unknown> {
  const fields = Object.entries(changes).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    fields.map(([field, value]) => [columnOf('Subscription', field as keyof SubscriptionChanges), value]),
  );
}

/** Locks the user who owns this subscription, then the subscription (spec 00, lock order). Null when there is none. */
export async function lockById(db: Db, id: number): Promise<Subscription | null> {
  await db.sql('SELECT u.id FROM users u WHERE u.id = (SELECT user_id FROM subscriptions WHERE id = $1::int) FOR NO KEY UPDATE', [
    id,
  ]);
  const [row] = await db.sql<Subscription>(`SELECT ${SUBSCRIPTION.of()} FROM subscriptions WHERE id = $1::int FOR UPDATE`, [id]);
  return row ?? null;
}

/** Locks a user, then the user's subscription. Null when there is no such user. */
export async function lockByUser(db: Db, userId: number): Promise<{ subscription: Subscription | null } | null> {
  const [user] = await db.sql<{ id: number }>('SELECT id FROM users WHERE id = $1::int FOR NO KEY UPDATE', [userId]);
  if (!user) return null;
  const [row] = await db.sql<Subscription>(`SELECT ${SUBSCRIPTION.of()} FROM subscriptions WHERE user_id = $1::int FOR UPDATE`, [
    userId,
  ]);
  return { subscription: row ?? null };
}

/** @param id of a row, see `isRowId` */
export async function findById(db: Db, id: number): Promise<Subscription | null> {
  const row = await db.prisma.subscription.findUnique({ where: { id } });
  return row && plainRow('Subscription', row);
}

/** One page; a filter that is null or absent filters nothing. */
export type SubscriptionFilter = { limit: number; offset: number } & Changes<{
  status: SubscriptionStatus;
  userId: number;
  isTrial: boolean;
}>;

/** Newest first. The statement has only the filters that are set, so that each combination gets its own plan. */
export async function list(db: Db, filter: SubscriptionFilter): Promise<Subscription[]> {
  const values: unknown[] = [filter.limit, filter.offset];
  const conditions: string[] = [];
  const where = (column: string, cast: string, value: unknown) => {
    if (value == null) return;
    values.push(value);
    conditions.push(`${column} = $${values.length}::${cast}`);
  };
  where('status', 'text', filter.status);
  where('user_id', 'bigint', filter.userId);
  where('is_trial', 'boolean', filter.isTrial);
  return db.sql<Subscription>(
    `SELECT ${SUBSCRIPTION.of()} FROM subscriptions ${conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : ''}
     ORDER BY created_at DESC, id DESC LIMIT $1::int OFFSET $2::bigint`,
    values,
  );
}

export interface UpdateOptions {
  now: Date;
  dropsPurchases?: boolean;
  /** Expiry notices of the old dates are forgotten. */
  forgetsNotices?: boolean;
  /** A traffic package to add. */
  purchase?: { trafficGb: number; expiresAt: Date; createdAt: Date };
}

/** Writes changed fields of a locked subscription, with its purchases and sent notifications, in one statement. */
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
  const [row] = await db.sql<Subscription>(
    `WITH dropped AS (DELETE FROM traffic_purchases WHERE subscription_id = $1::int AND $3::boolean),
       forgotten AS (DELETE FROM sent_notifications WHERE subscription_id = $1::int AND $4::boolean),
       bought AS (INSERT INTO traffic_purchases (subscription_id, traffic_gb, expires_at, created_at)
         SELECT $1::int, $5::int, $6::timestamptz, $7::timestamptz WHERE $5::int IS NOT NULL)
     UPDATE subscriptions SET ${sets}updated_at = $2::timestamptz WHERE id = $1::int RETURNING ${SUBSCRIPTION.of()}`,
    values,
  );
  return row!;
}

/** Inserts the subscription of a user that has none. */
export async function insert(db: Db, userId: number, fields: SubscriptionChanges, now: Date): Promise<Subscription> {
  const values: unknown[] = [userId, now];
  const { names, placeholders } = assignments(fields, values);
  const [row] = await db.sql<Subscription>(
    `INSERT INTO subscriptions (user_id, created_at, updated_at, ${names.join(', ')})
     VALUES ($1::int, $2::timestamptz, $2::timestamptz, ${placeholders.join(', ')}) RETURNING ${SUBSCRIPTION.of()}`,
    values,
  );
  return row!;
}

/** Server rows of one subscription after its squads changed, see `linkServersOf`. */
export function linkServers(db: Db, subscriptionId: number, now: Date): Promise<void> {
  return linkServersOf(db, [subscriptionId], now);
}

/** Traffic purchases, expired ones too; the one that ends first comes first. */
export function listPurchases(db: Db, subscriptionId: number): Promise<Pick<TrafficPurchase, 'trafficGb' | 'expiresAt'>[]> {
  return db.prisma.trafficPurchase.findMany({
    where: { subscriptionId },
    select: { trafficGb: true, expiresAt: true },
    orderBy: [{ expiresAt: 'asc' }, { id: 'asc' }],
  });
}

/**
 * Subscriptions `s` of users `u` on tariffs `t` that the daily service handles: it charges the next day, or stops the subscription when
 * the balance is too low. The same condition as its candidates.
 */
const HANDLED_BY_DAILY_SERVICE = `coalesce(t.is_daily AND t.is_active AND t.daily_price_kopeks > 0 AND NOT s.is_daily_paused AND NOT s.is_trial
  AND u.status = 'active' AND NOT u.restriction_subscription, false)`;

/** An expired subscription and how its owner is reached. */
export interface ExpiredSubscription extends Recipient {
  id: number;
}

/**
 * Marks up to `limit` subscriptions whose paid time is over as expired (spec 02 section 13). Not changed: subscriptions that the daily
 * service handles, rows that the panel reported on within 60 s, rows that another worker or a sale has locked, and subscriptions of users
 * who are not active. Daily subscriptions of such users do expire, because they would be charged as soon as the user is active again.
 * @param isDailyServiceOn while it is off, daily subscriptions expire like all others
 */
export function expireBatch(
  db: Db,
  { now, limit, isDailyServiceOn }: { now: Date; limit: number; isDailyServiceOn: boolean },
): Promise<ExpiredSubscription[]> {
  return db.sql<ExpiredSubscription>(
    `UPDATE subscriptions e SET status = 'expired', updated_at = $1::timestamptz FROM users o WHERE o.id = e.user_id AND e.id = ANY(ARRAY(
       SELECT s.id FROM subscriptions s JOIN users u ON u.id = s.user_id LEFT JOIN tariffs t ON t.id = s.tariff_id
       WHERE s.status IN ('active', 'trial', 'limited') AND s.end_date <= $1::timestamptz
         AND (u.status = 'active' OR coalesce(t.is_daily, false)) AND NOT ($3::boolean AND ${HANDLED_BY_DAILY_SERVICE})
         AND (s.last_webhook_update_at IS NULL OR s.last_webhook_update_at <= $1::timestamptz - interval '60 seconds')
       ORDER BY s.end_date, s.id LIMIT $2::int FOR UPDATE OF s SKIP LOCKED))
     RETURNING e.id, e.user_id, o.status, o.messenger_id, CASE WHEN o.email_verified THEN o.email END AS verified_email, o.language`,
    [now, limit, isDailyServiceOn],
  );
}

/**
 * Stores the panel's counter of used traffic, GB, as read at `readAt`; nothing that the panel must be updated to, so no push follows.
 * Not stored where the row has changed since, or a purchase has the counter set back to zero, at the panel too: the reading is older.
 */
export async function storeUsedTraffic(
  db: Db,
  id: number,
  used: { before: number; after: number; readAt: Date },
  now: Date,
): Promise<void> {
  await db.sql(
    `UPDATE subscriptions SET traffic_used_gb = $3::float8, updated_at = $4::timestamptz
     WHERE id = $1::int AND traffic_used_gb = $2::float8 AND NOT provision_reset_traffic
       AND (provisioned_at IS NULL OR provisioned_at < $5::timestamptz) RETURNING id`,
    [id, used.before, used.after, now, used.readAt],
  );
}

/** Stores the encrypted form of a link, unless the subscription has another link by now or got an encrypted one. */
export async function storeCryptoLink(db: Db, id: number, subscriptionUrl: string, cryptoLink: string): Promise<void> {
  await db.sql(
    `UPDATE subscriptions SET subscription_crypto_link = $3
     WHERE id = $1::int AND subscription_url = $2 AND coalesce(subscription_crypto_link, '') = '' RETURNING id`,
    [id, subscriptionUrl, cryptoLink],
  );
}
