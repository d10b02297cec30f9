import type { Db } from '../../core/db/db.ts';
import type { PanelUser } from './ports.ts';

/** Revision of the source from which on a person may have several subscriptions, each with a panel user (spec 07 section 1.3). */
const SEVERAL_SINCE = '0050';

/** Subscriptions that an import has kept aside; their panel users go on until their end (spec 07 section 1.4). */
const PARKED = `import_parked k WHERE k.source_table = 'subscriptions' AND k.reason = 'subscription_parked' AND k.is_whole`;

/** The handle of a parked row's panel user as text: of its number where it has one, else its uuid. The row is as the source had it, in any form. */
const HANDLE = `CASE WHEN k.row ->> 'remnawave_id' ~ '^[1-9][0-9]{0,14}$'
  THEN '00000000-0000-8000-8000-' || lpad(to_hex((k.row ->> 'remnawave_id')::bigint), 12, '0') ELSE lower(k.row ->> 'remnawave_uuid') END`;

/** Somebody has the panel user here: then it is not parked, whatever an import has found. */
const isLinked = (handle: string, shortUuid: string): string =>
  `(EXISTS (SELECT 1 FROM users o WHERE o.vpnpanel_uuid = ${handle}) OR EXISTS (SELECT 1 FROM subscriptions o WHERE o.vpnpanel_short_uuid = ${shortUuid}))`;

/**
 * SQL of whether a panel user belongs to a subscription that an import has kept aside. Such a panel user is nobody's here, though messenger id or
 * e-mail match; it is neither changed nor removed. By the link, too: a panel that was replaced has given it another handle.
 * @param handle SQL of its handle
 * @param shortUuid SQL of the last part of its link
 */
export const isParkedSql = (handle: string, shortUuid: string): string =>
  `(EXISTS (SELECT 1 FROM ${PARKED} AND (k.row ->> 'remnawave_short_uuid' = ${shortUuid} OR ${HANDLE} = ${handle}::text))
    AND NOT ${isLinked(handle, shortUuid)})`;

export async function isParkedPanelUser(db: Db, { uuid, shortUuid }: Pick<PanelUser, 'uuid' | 'shortUuid'>): Promise<boolean> {
  const [row] = await db.sql<{ isParked: boolean }>(`SELECT ${isParkedSql('$1::uuid', '$2::text')} AS is_parked`, [
    uuid,
    shortUuid,
  ]);
  return row!.isParked;
}

/** Removes parked panel users from the list of a run: they are neither users nor orphans. Two look-ups in sets, whatever the number of both. */
export async function dropParkedUsers(db: Db, runId: number): Promise<void> {
  await db.sql(
    `DELETE FROM panel_sync_users p WHERE p.run_id = $1::int
       AND (p.panel_uuid::text IN (SELECT ${HANDLE} FROM ${PARKED})
         OR p.data -> 'user' ->> 'shortUuid' IN (SELECT k.row ->> 'remnawave_short_uuid' FROM ${PARKED}))
       AND NOT ${isLinked('p.panel_uuid', `p.data -> 'user' ->> 'shortUuid'`)}`,
    [runId],
  );
}

/**
 * Where an account is from: `single`: imported from a release in which a person has one panel user; `several`: from one in which there may be more;
 * null: it was made here.
 */
export async function findImportOrigin(db: Db, userId: number): Promise<'single' | 'several' | null> {
  const [row] = await db.sql<{ revision: string | null }>(
    `SELECT max(r.source_revision) AS revision FROM import_runs r JOIN users u ON u.created_at <= r.snapshot_at WHERE u.id = $1::int`,
    [userId],
  );
  if (row!.revision === null) return null;
  return row!.revision >= SEVERAL_SINCE ? 'several' : 'single';
}

/** Links of other live people as an import has found them, those that end last first. One who had none may have a panel user that was created here. */
export function listImportedLinks(
  db: Db,
  exceptUserId: number,
  limit: number,
): Promise<{ uuid: string; shortUuid: string | null; messengerId: number | null }[]> {
  return db.sql(
    `SELECT u.vpnpanel_uuid AS uuid, s.vpnpanel_short_uuid AS short_uuid, u.messenger_id FROM subscriptions s JOIN users u ON u.id = s.user_id
     WHERE u.vpnpanel_uuid IS NOT NULL AND u.id <> $1::int AND s.status IN ('active', 'trial', 'limited')
       AND u.created_at <= (SELECT max(snapshot_at) FROM import_runs) AND NOT EXISTS (SELECT 1 FROM import_issues i
         WHERE i.code = 'subscription_unprovisioned' AND i.subject = s.id::text)
     ORDER BY s.end_date DESC, s.user_id DESC LIMIT $2::int`,
    [exceptUserId, limit],
  );
}

/** A panel user of a subscription that an import has kept aside. */
export interface ParkedPanelUser {
  /** Of the source. */
  subscriptionId: number;
  userId: number;
  /** Null: the source knew none, or one in an impossible form. */
  uuid: string | null;
  shortUuid: string | null;
  endsAt: Date;
}

/** Those that nobody has here, by the id of their subscription in the source. */
export function listParkedPanelUsers(db: Db): Promise<ParkedPanelUser[]> {
  return db.sql<ParkedPanelUser>(
    `SELECT DISTINCT ON (subscription_id) * FROM (SELECT k.source_id::int AS subscription_id, (k.row ->> 'user_id')::int AS user_id,
         CASE WHEN ${HANDLE} ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' THEN (${HANDLE})::uuid END AS uuid,
         k.row ->> 'remnawave_short_uuid' AS short_uuid, (k.row ->> 'end_date')::timestamptz AS ends_at FROM ${PARKED}) parked
     WHERE (uuid IS NOT NULL OR short_uuid IS NOT NULL) AND NOT ${isLinked('uuid', 'short_uuid')} ORDER BY subscription_id`,
  );
}
