import { setTimeout as delay } from 'node:timers/promises';
import type { App } from '../../core/app.ts';
import { columns, type RowOf, type Rows } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';
import { refuseInsideTransaction } from '../../core/db/root-guard.ts';

/**
 * The provisioning state of a subscription: which version of its desired state was requested, pushed or failed, and which push may run.
 * `provisioning` decides, this file writes the columns `provision_*` and the link to the panel user.
 */

/** Short uuid and connection links of a panel user; empty texts are not stored. */
export interface PanelLink {
  shortUuid: string;
  subscriptionUrl: string;
  cryptoLink: string | null;
}

/**
 * How long a step of a push may take before another push may start; renewed between the steps. Longer than one call to the panel,
 * short enough that a killed process delays pushes little. Of two concurrent pushes only one can store its result; the other requests
 * a further push, since it may have sent the older state to the panel.
 */
const LEASE = "interval '90 seconds'";

/** Of a subscription `s`: changes with every request, push and lease of a push; equal marks mean that there was no push in between. */
export const PUSH_MARK = `concat_ws(' ', s.provision_version, s.provision_state, s.provisioned_at, s.provision_lease_until >= now())`;

/** What `with_push_requested()` (prisma/sql/provisioning.sql) changes. */
const PUSH_REQUEST = columns('Subscription', [
  ...(['provisionState', 'provisionVersion', 'provisionAttempts', 'provisionError'] as const),
  ...(['provisionResetTraffic', 'provisionResetDevices', 'provisionRequestedAt'] as const),
]);

/**
 * Raises the version of the desired state and marks it pending.
 * @returns false when there is no such subscription
 */
export async function raiseVersion(
  db: Db,
  subscriptionId: number,
  resets: { resetTraffic: boolean; resetDevices: boolean },
  now: Date,
): Promise<boolean> {
  const rows = await db.sql<{ id: number }>(
    `UPDATE subscriptions s SET (${PUSH_REQUEST.of()}) =
       (SELECT ${PUSH_REQUEST.of('r')} FROM with_push_requested(s, $2::boolean, $3::boolean, $4::timestamptz) r)
     WHERE s.id = $1::int RETURNING s.id`,
    [subscriptionId, resets.resetTraffic, resets.resetDevices, now],
  );
  return rows.length > 0;
}

/** Claims the lease of a push, by the database's clock so that all instances agree. @returns null: another push has it, or no such row */
export async function claimLease(db: Db, subscriptionId: number): Promise<Date | null> {
  const [row] = await db.sql<{ lease: Date }>(
    `UPDATE subscriptions SET provision_lease_until = now() + ${LEASE}
     WHERE id = $1::int AND (provision_lease_until IS NULL OR provision_lease_until < now()) RETURNING provision_lease_until AS lease`,
    [subscriptionId],
  );
  return row?.lease ?? null;
}

/** @returns the new end of the lease, null when another push has it */
export async function renewLease(db: Db, subscriptionId: number, lease: Date): Promise<Date | null> {
  const [row] = await db.sql<{ lease: Date }>(
    `UPDATE subscriptions SET provision_lease_until = greatest(now() + ${LEASE}, $2::timestamptz)
     WHERE id = $1::int AND provision_lease_until = $2::timestamptz RETURNING provision_lease_until AS lease`,
    [subscriptionId, lease],
  );
  return row?.lease ?? null;
}

export async function releaseLease(db: Db, subscriptionId: number, lease: Date): Promise<void> {
  await db.sql(
    `UPDATE subscriptions SET provision_lease_until = NULL
     WHERE id = $1::int AND provision_lease_until = $2::timestamptz RETURNING id`,
    [subscriptionId, lease],
  );
}

export type PushOutcome = 'current' | 'superseded' | 'lease_lost';

/**
 * Stores the panel's answer. The row becomes synced, and the lease ends, only while the pushed version is the newest: after a request
 * that arrived during the push the row stays pending, with its resets.
 * @param link null: the panel has no user and needs none
 * @param owner a statement with the values $1 to $6 that locks the owner and returns its `id`; it is executed first. Without one the caller
 *   has the lock. When it returns another owner than the row's, or none, the push counts as `lease_lost`
 */
export async function savePushed(
  db: Db,
  push: { subscriptionId: number; version: number; lease: Date; now: Date },
  link: PanelLink | null,
  owner: { sql: string; values: readonly unknown[] } | null = null,
): Promise<PushOutcome> {
  const first = owner?.values.length ?? 0;
  const [id, version, lease, now, shortUuid, url, cryptoLink] = [1, 2, 3, 4, 5, 6, 7].map((place) => `$${first + place}`);
  const [row] = await db.sql<{ isCurrent: boolean }>(
    `${owner ? `WITH owner AS (${owner.sql}) ` : ''}UPDATE subscriptions SET
       vpnpanel_short_uuid = COALESCE(${shortUuid}::text, vpnpanel_short_uuid),
       subscription_crypto_link = CASE WHEN ${url}::text IS NULL THEN subscription_crypto_link
         WHEN ${cryptoLink}::text IS NULL AND subscription_url = ${url}::text THEN subscription_crypto_link ELSE ${cryptoLink}::text END,
       subscription_url = COALESCE(${url}::text, subscription_url),
       provision_synced_version = ${version}::int, provisioned_at = ${now}::timestamptz,
       provision_state = CASE WHEN provision_version = ${version}::int THEN 'synced' ELSE provision_state END,
       provision_error = CASE WHEN provision_version = ${version}::int THEN NULL ELSE provision_error END,
       provision_attempts = CASE WHEN provision_version = ${version}::int THEN 0 ELSE provision_attempts END,
       provision_reset_traffic = provision_reset_traffic AND provision_version <> ${version}::int,
       provision_reset_devices = provision_reset_devices AND provision_version <> ${version}::int,
       provision_lease_until = CASE WHEN provision_version = ${version}::int THEN NULL ELSE provision_lease_until END
     WHERE id = ${id}::int AND provision_lease_until = ${lease}::timestamptz${owner ? ' AND user_id = (SELECT o.id FROM owner o)' : ''}
     RETURNING provision_version = ${version}::int AS is_current`,
    [
      ...(owner?.values ?? []),
      push.subscriptionId,
      push.version,
      push.lease,
      push.now,
      link?.shortUuid || null,
      link?.subscriptionUrl || null,
      link?.cryptoLink ?? null,
    ],
  );
  if (!row) return 'lease_lost';
  return row.isCurrent ? 'current' : 'superseded';
}

/**
 * Stores a failed push and ends the lease. Given up means `failed`: no more tries by the queue, the reconciler continues. A failure that
 * is not counted leaves the row pending with the attempts it had.
 * @returns whether the queue should try again; null when another push has the lease or the row is deleted
 */
export async function saveFailure(
  db: Db,
  push: { subscriptionId: number; version: number; lease: Date },
  failure: { text: string; isCounted: boolean; isFinal: boolean; maxAttempts: number },
): Promise<{ isGivenUp: boolean } | null> {
  const [row] = await db.sql<Pick<Rows['Subscription'], 'provisionState'>>(
    `UPDATE subscriptions SET
       provision_attempts = CASE WHEN $7::boolean
         THEN greatest(provision_attempts + 1, CASE WHEN $4::boolean THEN $5::int ELSE 0 END) ELSE provision_attempts END,
       provision_error = $6::text,
       provision_state = CASE WHEN $7::boolean AND provision_version = $2::int AND ($4::boolean OR provision_attempts + 1 >= $5::int)
         THEN 'failed' ELSE 'pending' END,
       provision_lease_until = NULL
     WHERE id = $1::int AND provision_lease_until = $3::timestamptz RETURNING provision_state`,
    [
      push.subscriptionId,
      push.version,
      push.lease,
      failure.isFinal,
      failure.maxAttempts,
      failure.text.slice(0, 500),
      failure.isCounted,
    ],
  );
  return row ? { isGivenUp: row.provisionState === 'failed' } : null;
}

// Squads of subscriptions, written after the panel has accepted or removed them.

/**
 * Writes the squads that the panel accepted; an empty list (none available) changes nothing.
 * @returns `moved` when the subscription has left the tariff, `busy` when a push of it is due, under way or was done since the
 *   target was read, else `quiet`
 */
export async function saveSyncedSquads(
  db: Db,
  change: { target: { subscriptionId: number; pushMark: string }; tariffId: number; squads: readonly string[]; now: Date },
): Promise<'quiet' | 'busy' | 'moved'> {
  const [row] = await db.sql<{ isBusy: boolean }>(
    `UPDATE subscriptions s SET
       connected_squads = CASE WHEN $3::jsonb = '[]'::jsonb THEN connected_squads ELSE $3::jsonb END, updated_at = $4::timestamptz
     WHERE id = $1::int AND tariff_id = $2::int
     RETURNING provision_state <> 'synced' OR COALESCE(provision_lease_until >= now(), false) OR ${PUSH_MARK} <> $5::text AS is_busy`,
    [change.target.subscriptionId, change.tariffId, JSON.stringify(change.squads), change.now, change.target.pushMark],
  );
  if (!row) return 'moved';
  return row.isBusy ? 'busy' : 'quiet';
}

export async function writeSquads(db: Db, moved: readonly { id: number; connectedSquads: string[] }[], now: Date): Promise<void> {
  await db.sql(
    `UPDATE subscriptions s SET connected_squads = c."connectedSquads", updated_at = $2::timestamptz
     FROM jsonb_to_recordset($1::jsonb) AS c(id int, "connectedSquads" jsonb) WHERE s.id = c.id RETURNING s.id`,
    [JSON.stringify(moved), now],
  );
}

/** The panel has already removed these squads from its users, so nothing is sent to it. */
export async function dropSquadsFromSubscriptions(db: Db, uuids: readonly string[], now: Date): Promise<void> {
  if (uuids.length === 0) return;
  await db.sql(
    `UPDATE subscriptions SET connected_squads = connected_squads - $2::text[], updated_at = $3::timestamptz
     WHERE connected_squads @> ANY($1::jsonb[]) RETURNING id`,
    [uuids.map((uuid) => JSON.stringify([uuid])), [...uuids], now],
  );
}

const PUSH = columns('Subscription', [
  ...(['provisionState', 'provisionAttempts', 'provisionRequestedAt', 'subscriptionUrl'] as const),
]);

/** State of the push of a subscription and the link that it returns; null = there is none yet. */
type PushedLink = RowOf<typeof PUSH>;

const FIRST_PAUSE_MS = 30;
const MAX_PAUSE_MS = 300;

/**
 * Waits, after the commit that requested it, until the push of a subscription has been made or its first try has failed, at most until
 * `PROVISION_ANSWER_WAIT_MS` after the request (spec 08 P14): a repeat of an answer that was stored longer ago does not wait. It holds no
 * connection while it waits, and must not be called in a transaction. With 0 it does nothing.
 * @returns the state at the end; null when nothing was read or the subscription is deleted
 */
export async function awaitPush(app: App, subscriptionId: number): Promise<PushedLink | null> {
  refuseInsideTransaction('awaitPush');
  const limitMs = app.env.provisionAnswerWaitMs;
  if (limitMs === 0) return null;
  const start = performance.now();
  let push = await read(app, subscriptionId);
  // By the service clock, by which the request was made; the pauses below are real time.
  const age = push?.provisionRequestedAt ? app.clock.now().getTime() - push.provisionRequestedAt.getTime() : limitMs;
  const until = start + limitMs - Math.max(0, age);
  for (
    let pause = FIRST_PAUSE_MS;
    push && isUnderWay(push) && performance.now() < until;
    pause = Math.min(pause * 1.5, MAX_PAUSE_MS)
  ) {
    await delay(Math.min(pause, until - performance.now()));
    push = await read(app, subscriptionId);
  }
  return push;
}

/** The answer of a sale with the link of its subscription, if it had none and the panel returns it in time (spec 08 P14, spec 10 V4). */
export async function withPushedLink<T extends { subscription: { id: number; subscriptionUrl: string | null } }>(
  app: App,
  answer: T,
): Promise<T> {
  if (answer.subscription.subscriptionUrl) return answer;
  const pushed = await awaitPush(app, answer.subscription.id);
  if (!pushed?.subscriptionUrl) return answer;
  return { ...answer, subscription: { ...answer.subscription, subscriptionUrl: pushed.subscriptionUrl } };
}

const isUnderWay = (push: PushedLink) => push.provisionState === 'pending' && push.provisionAttempts === 0;

async function read(app: App, subscriptionId: number): Promise<PushedLink | null> {
  const [row] = await app.db.sql<PushedLink>(`SELECT ${PUSH.of()} FROM subscriptions WHERE id = $1::int`, [subscriptionId]);
  return row ?? null;
}
