import { columns, type Rows } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';

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
 * that arrived during the push the row stays pending, with its resets. @param link null: the panel has no user and needs none
 */
export async function savePushed(
  db: Db,
  push: { subscriptionId: number; version: number; lease: Date; now: Date },
  link: PanelLink | null,
): Promise<PushOutcome> {
  const [row] = await db.sql<{ isCurrent: boolean }>(
    `UPDATE subscriptions SET
       vpnpanel_short_uuid = COALESCE($5::text, vpnpanel_short_uuid),
       subscription_crypto_link = CASE WHEN $6::text IS NULL THEN subscription_crypto_link
         WHEN $7::text IS NULL AND subscription_url = $6::text THEN subscription_crypto_link ELSE $7::text END,
       subscription_url = COALESCE($6::text, subscription_url),
       provision_synced_version = $2::int, provisioned_at = $4::timestamptz,
       provision_state = CASE WHEN provision_version = $2::int THEN 'synced' ELSE provision_state END,
       provision_error = CASE WHEN provision_version = $2::int THEN NULL ELSE provision_error END,
       provision_attempts = CASE WHEN provision_version = $2::int THEN 0 ELSE provision_attempts END,
       provision_reset_traffic = provision_reset_traffic AND provision_version <> $2::int,
       provision_reset_devices = provision_reset_devices AND provision_version <> $2::int,
       provision_lease_until = CASE WHEN provision_version = $2::int THEN NULL ELSE provision_lease_until END
     WHERE id = $1::int AND provision_lease_until = $3::timestamptz RETURNING provision_version = $2::int AS is_current`,
    [
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
