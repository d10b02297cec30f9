import { plainRow, type Rows } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import { PUSH_MARK } from '../../subscription-state/provision-state.ts';
import { LEASE_SQL } from '../long-runs/repo.ts';
import type { MigrationError, MigrationItem, MigrationRun } from './types.ts';

/** Subscriptions that a migration of this squad moves. */
const CANDIDATES = "s.status IN ('active', 'trial') AND s.connected_squads @> $1::jsonb";

export async function countCandidates(db: Db, squadUuid: string): Promise<number> {
  const [row] = await db.sql<{ count: number }>(`SELECT count(*)::int AS count FROM subscriptions s WHERE ${CANDIDATES}`, [
    JSON.stringify([squadUuid]),
  ]);
  return row!.count;
}

/**
 * Starts a run; the caller has its lease.
 * @returns null when one of this source is under way
 */
export async function insertRun(
  db: Db,
  run: { source: string; target: string; startedBy: string; now: Date },
): Promise<{ id: number; lease: Date } | null> {
  const [row] = await db.sql<{ id: number; lease: Date }>(
    `INSERT INTO squad_migration_runs (source_uuid, target_uuid, started_by, lease_until, started_at, updated_at)
     VALUES ($1, $2, $3, now() + ${LEASE_SQL}, $4::timestamptz, $4::timestamptz)
     ON CONFLICT DO NOTHING RETURNING id, lease_until AS lease`,
    [run.source, run.target, run.startedBy, run.now],
  );
  return row ?? null;
}

/** Stores the candidates, the intent that every retry starts from (spec 06 hazard 6). @returns how many there are */
export async function insertItems(db: Db, runId: number, source: string): Promise<number> {
  const [row] = await db.sql<{ total: number }>(
    `WITH made AS (INSERT INTO squad_migration_items (run_id, subscription_id)
       SELECT $2::int, s.id FROM subscriptions s WHERE ${CANDIDATES} RETURNING 1),
     counted AS (SELECT count(*)::int AS total FROM made)
     UPDATE squad_migration_runs SET total = (SELECT total FROM counted) WHERE id = $2::int RETURNING total`,
    [JSON.stringify([source]), runId],
  );
  return row!.total;
}

const RUN = { id: true, status: true, error: true } as const;
const STATS = {
  ...{ sourceUuid: true, targetUuid: true, total: true, updated: true },
  ...{ panelUpdated: true, panelFailed: true, sourceRemoved: true, targetAdded: true },
} as const;

export async function findRun(db: Db, id: number): Promise<MigrationRun | null> {
  const row = await db.prisma.squadMigrationRun.findUnique({ where: { id }, select: { ...RUN, ...STATS } });
  if (!row) return null;
  const { id: runId, status, error, ...stats } = plainRow('SquadMigrationRun', row);
  return { id: runId, status, error, stats };
}

/** The next candidates: those tried least often first, so that one that keeps failing does not delay the others. */
export function listPending(db: Db, runId: number, limit: number): Promise<MigrationItem[]> {
  return db.sql<MigrationItem>(
    `SELECT i.subscription_id, i.attempts, s.connected_squads, u.vpnpanel_uuid, ${PUSH_MARK} AS provision_mark
     FROM (SELECT subscription_id, attempts FROM squad_migration_items WHERE run_id = $1::int AND state = 'pending'
       ORDER BY attempts, subscription_id LIMIT $2::int) i
     JOIN subscriptions s ON s.id = i.subscription_id JOIN users u ON u.id = s.user_id ORDER BY i.attempts, i.subscription_id`,
    [runId, limit],
  );
}

export interface LockedSubscription {
  id: number;
  connectedSquads: string[];
  provisionMark: string;
  /** A push was requested and is not done, or is under way. */
  isPushDue: boolean;
}

export async function lockSubscriptions(db: Db, ids: readonly number[]): Promise<Map<number, LockedSubscription>> {
  const rows = await db.sql<LockedSubscription>(
    `SELECT s.id, s.connected_squads, ${PUSH_MARK} AS provision_mark,
       (s.provision_state <> 'synced' AND s.provision_requested_at IS NOT NULL)
         OR COALESCE(s.provision_lease_until >= now(), false) AS is_push_due
     FROM subscriptions s WHERE s.id = ANY($1::int[]) ORDER BY s.id FOR UPDATE`,
    [[...ids]],
  );
  return new Map(rows.map((row) => [row.id, row]));
}

/**
 * Moves the server links with the prices paid for them. Where the target is linked already, the source's link is deleted; where the
 * target is new and there was no link of the source, a link with price 0 is inserted.
 */
export async function moveLinks(
  db: Db,
  move: { sourceId: number; targetId: number; ids: readonly number[]; addedIds: readonly number[]; now: Date },
): Promise<void> {
  const { sourceId, targetId } = move;
  await db.sql(
    `DELETE FROM subscription_servers l WHERE l.server_squad_id = $1::int AND l.subscription_id = ANY($3::int[]) AND EXISTS (
       SELECT 1 FROM subscription_servers o WHERE o.subscription_id = l.subscription_id AND o.server_squad_id = $2::int) RETURNING id`,
    [sourceId, targetId, [...move.ids]],
  );
  await db.sql(
    `UPDATE subscription_servers SET server_squad_id = $2::int
     WHERE server_squad_id = $1::int AND subscription_id = ANY($3::int[]) RETURNING id`,
    [sourceId, targetId, [...move.ids]],
  );
  await db.sql(
    `INSERT INTO subscription_servers (subscription_id, server_squad_id, paid_price_kopeks, connected_at)
     SELECT id, $1::int, 0, $3::timestamptz FROM unnest($2::int[]) AS added(id)
     ON CONFLICT (subscription_id, server_squad_id) DO NOTHING RETURNING id`,
    [targetId, [...move.addedIds], move.now],
  );
}

export type ItemResult = Pick<Rows['SquadMigrationItem'], 'subscriptionId' | 'state' | 'panelUpdated' | 'targetAdded' | 'error'>;

export async function saveItems(db: Db, runId: number, results: readonly ItemResult[]): Promise<void> {
  await db.sql(
    `UPDATE squad_migration_items i SET state = r.state, panel_updated = r."panelUpdated", target_added = r."targetAdded",
       error = r.error, attempts = i.attempts + 1
     FROM jsonb_to_recordset($2::jsonb)
       AS r("subscriptionId" int, state text, "panelUpdated" boolean, "targetAdded" boolean, error text)
     WHERE i.run_id = $1::int AND i.subscription_id = r."subscriptionId" RETURNING i.run_id`,
    [runId, JSON.stringify(results)],
  );
}

export async function addToCounters(
  db: Db,
  runId: number,
  counted: { updated: number; panelUpdated: number; panelFailed: number; sourceRemoved: number; targetAdded: number; now: Date },
): Promise<void> {
  await db.sql(
    `UPDATE squad_migration_runs SET updated = updated + $2::int, panel_updated = panel_updated + $3::int,
       panel_failed = panel_failed + $4::int, source_removed = source_removed + $5::int, target_added = target_added + $6::int,
       updated_at = $7::timestamptz
     WHERE id = $1::int RETURNING id`,
    [runId, counted.updated, counted.panelUpdated, counted.panelFailed, counted.sourceRemoved, counted.targetAdded, counted.now],
  );
}

export async function finishRun(db: Db, runId: number, error: MigrationError | null, now: Date): Promise<void> {
  await db.sql(
    `UPDATE squad_migration_runs SET status = CASE WHEN $2::text IS NULL THEN 'completed' ELSE 'failed' END, error = $2::text,
       lease_until = NULL, finished_at = $3::timestamptz, updated_at = $3::timestamptz
     WHERE id = $1::int AND status = 'running' RETURNING id`,
    [runId, error, now],
  );
}
