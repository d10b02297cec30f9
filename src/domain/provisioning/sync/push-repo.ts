import type { Db } from '../../../core/db/db.ts';
import { PUSH_COLUMNS, PUSH_TABLES, type PushRow, type PushTarget, toPushTarget } from '../repo.ts';
import { type StoredEntry, toEntry } from './snapshot-repo.ts';
import type { SnapshotEntry } from './types.ts';

export interface PushCandidate {
  target: PushTarget;
  /** A push was requested and is not done. */
  isPushDue: boolean;
  /** Time of the last successful push. */
  provisionedAt: Date | null;
  /** The linked panel user as the list has it; null = none is linked, or the list does not have it. */
  listed: SnapshotEntry | null;
  /** The list has a user of the owner's messenger id or e-mail. */
  hasNamesake: boolean;
}

/** Subscriptions by id with what the panel's list says about their linked users. */
export async function listPushCandidates(
  db: Db,
  runId: number,
  page: { afterId: number; limit: number },
): Promise<PushCandidate[]> {
  const rows = await db.sql<PushRow & Omit<PushCandidate, 'target' | 'listed'> & { listed: StoredEntry | null }>(
    `SELECT ${PUSH_COLUMNS}, s.provisioned_at,
       s.provision_state <> 'synced' AND s.provision_requested_at IS NOT NULL AS is_push_due, p.data AS listed,
       EXISTS (SELECT 1 FROM panel_sync_users n WHERE n.run_id = $1::int AND n.messenger_id = u.messenger_id)
         OR EXISTS (SELECT 1 FROM panel_sync_users n WHERE n.run_id = $1::int AND n.email = u.email) AS has_namesake
     FROM ${PUSH_TABLES} LEFT JOIN panel_sync_users p ON p.run_id = $1::int AND p.panel_uuid = u.vpnpanel_uuid
     WHERE s.id > $2::int ORDER BY s.id LIMIT $3::int`,
    [runId, page.afterId, page.limit],
  );
  return rows.map(({ isPushDue, provisionedAt, listed, hasNamesake, ...row }) => ({
    target: toPushTarget(row),
    isPushDue,
    provisionedAt,
    hasNamesake,
    listed: listed === null ? null : toEntry(listed),
  }));
}

export async function countSubscriptions(db: Db): Promise<number> {
  const [row] = await db.sql<{ count: number }>('SELECT count(*)::int AS count FROM subscriptions');
  return row!.count;
}

/** Those of the subscriptions whose version or squads are not those of the candidate any more. */
export async function listChangedSince(db: Db, candidates: readonly PushCandidate[]): Promise<number[]> {
  if (candidates.length === 0) return [];
  const read = candidates.map(({ target: { subscriptionId: id, version, connectedSquads: squads } }) => ({
    id,
    version,
    squads,
  }));
  const rows = await db.sql<{ id: number }>(
    `SELECT s.id FROM jsonb_to_recordset($1::jsonb) AS c(id int, version int, squads jsonb) JOIN subscriptions s ON s.id = c.id
     WHERE s.provision_version <> c.version OR s.connected_squads IS DISTINCT FROM c.squads ORDER BY s.id`,
    [JSON.stringify(read)],
  );
  return rows.map((row) => row.id);
}

/** How many of these subscriptions have a panel user now that the list did not have. */
export async function countCreated(db: Db, runId: number, subscriptionIds: readonly number[]): Promise<number> {
  const [row] = await db.sql<{ count: number }>(
    `SELECT count(*)::int AS count FROM subscriptions s JOIN users u ON u.id = s.user_id
     WHERE s.id = ANY($2::int[]) AND u.vpnpanel_uuid IS NOT NULL
       AND NOT EXISTS (SELECT 1 FROM panel_sync_users p WHERE p.run_id = $1::int AND p.panel_uuid = u.vpnpanel_uuid)`,
    [runId, [...subscriptionIds]],
  );
  return row!.count;
}
