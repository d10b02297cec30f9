import { plainRow, type Rows } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import { repairValues } from '../../subscription-state/panel-values.ts';
import { LEASE_SQL } from '../long-runs/repo.ts';
import type { SyncCounts, SyncCursor, SyncKind, SyncRun } from './types.ts';

const RUN = {
  ...{ id: true, kind: true, mode: true, reason: true, status: true, cursor: true },
  ...{ stats: true, error: true, startedAt: true, finishedAt: true },
} as const;

type RunStats = Pick<SyncRun, 'counts' | 'servers' | 'refusal' | 'skipped'>;

const NO_COUNTS: SyncCounts = {
  created: 0,
  updated: 0,
  deleted: 0,
  errors: 0,
  checked: 0,
  fixed: 0,
  issuesFound: 0,
  listed: 0,
};

type StoredRun = Pick<Rows['PanelSyncRun'], keyof typeof RUN>;

function toRun({ cursor, stats, ...row }: StoredRun): SyncRun {
  const { counts, servers = null, refusal = null, skipped = null } = stats as RunStats;
  return { ...row, cursor: cursor as SyncCursor, counts: { ...NO_COUNTS, ...counts }, servers, refusal, skipped };
}

/** Kinds that a run of this kind excludes, besides its own: an automatic run is one from the panel. */
const EXCLUDES: Partial<Record<SyncKind, SyncKind>> = { from_panel: 'auto', auto: 'from_panel' };

/**
 * Starts a run; the caller has its lease. Of two concurrent starts the lock and the partial unique index let one succeed. In a
 * transaction. @returns null when one of the kind is under way
 */
export async function insertRun(
  db: Db,
  run: Pick<SyncRun, 'kind' | 'mode' | 'reason' | 'cursor'> & { startedBy: string; now: Date },
): Promise<{ id: number; lease: Date } | null> {
  await db.sql("SELECT pg_advisory_xact_lock(hashtext('provisioning.sync_start'))::text AS locked");
  const [row] = await db.sql<{ id: number; lease: Date }>(
    `INSERT INTO panel_sync_runs (kind, mode, reason, cursor, stats, started_by, lease_until, started_at, updated_at)
     SELECT $1, $2, $3, $4::jsonb, $5::jsonb, $6, now() + ${LEASE_SQL}, $7::timestamptz, $7::timestamptz
     WHERE NOT EXISTS (SELECT 1 FROM panel_sync_runs WHERE status = 'running' AND kind = ANY($8::text[]))
     ON CONFLICT DO NOTHING RETURNING id, lease_until AS lease`,
    [
      run.kind,
      run.mode,
      run.reason,
      JSON.stringify(run.cursor),
      JSON.stringify({ counts: NO_COUNTS, servers: null, refusal: null, skipped: null }),
      run.startedBy,
      run.now,
      [run.kind, EXCLUDES[run.kind] ?? run.kind],
    ],
  );
  return row ?? null;
}

export async function findRun(db: Db, id: number): Promise<SyncRun | null> {
  const row = await db.prisma.panelSyncRun.findUnique({ where: { id }, select: RUN });
  return row && toRun(plainRow('PanelSyncRun', row));
}

/** The newest run of a kind, under way or over. */
export async function findLatest(db: Db, kind: SyncKind): Promise<SyncRun | null> {
  const orderBy = [{ startedAt: 'desc' as const }, { id: 'desc' as const }];
  const row = await db.prisma.panelSyncRun.findFirst({ where: { kind }, orderBy, select: RUN });
  return row && toRun(plainRow('PanelSyncRun', row));
}

/** The runs under way, oldest first; at most one of a kind. */
export async function listRunning(db: Db): Promise<SyncRun[]> {
  const orderBy = { id: 'asc' as const };
  const rows = await db.prisma.panelSyncRun.findMany({ where: { status: 'running' }, orderBy, select: RUN });
  return rows.map((row) => toRun(plainRow('PanelSyncRun', row)));
}

/** Stores cursor and counters of a run. */
export async function saveRun(db: Db, run: SyncRun, now: Date): Promise<void> {
  await db.sql(
    `UPDATE panel_sync_runs SET cursor = $2::jsonb, stats = $3::jsonb, updated_at = $4::timestamptz
     WHERE id = $1::int AND status = 'running' RETURNING id`,
    [run.id, JSON.stringify(run.cursor), JSON.stringify(statsOf(run)), now],
  );
}

/** Closes a run and deletes the list that it read. */
export async function finishRun(db: Db, run: SyncRun, error: string | null, now: Date): Promise<void> {
  await db.sql(
    `UPDATE panel_sync_runs SET status = CASE WHEN $2::text IS NULL THEN 'completed' ELSE 'failed' END, error = $2::text,
       stats = $3::jsonb, lease_until = NULL, finished_at = $4::timestamptz, updated_at = $4::timestamptz
     WHERE id = $1::int AND status = 'running' RETURNING id`,
    [run.id, error?.slice(0, 500) ?? null, JSON.stringify(statsOf(run)), now],
  );
  await db.sql('DELETE FROM panel_sync_users WHERE run_id = $1::int', [run.id]);
}

function statsOf({ counts, servers, refusal, skipped }: SyncRun): RunStats {
  return { counts, servers, refusal, skipped };
}

/** Rows that are counted, at most. */
const LIMIT = 10_000;

/** Numbers behind a recommendation; the first two are counted among the first 10 000 users. */
export async function countForRecommendation(
  db: Db,
  now: Date,
): Promise<{ subscriptions: number; unlinked: number; past: number }> {
  const [row] = await db.sql<{ subscriptions: number; unlinked: number; past: number }>(
    `WITH subscribed AS (SELECT u.vpnpanel_uuid FROM (SELECT id, vpnpanel_uuid FROM users ORDER BY id LIMIT $2::int) u
       JOIN subscriptions s ON s.user_id = u.id)
     SELECT (SELECT count(*)::int FROM subscribed) AS subscriptions,
       (SELECT count(*)::int FROM subscribed WHERE vpnpanel_uuid IS NULL) AS unlinked,
       (SELECT count(*)::int FROM subscriptions WHERE status = 'active' AND end_date < $1::timestamptz) AS past`,
    [now, LIMIT],
  );
  return row!;
}

export interface ValidatedSubscription {
  id: number;
  userId: number;
  vpnpanelUuid: string | null;
  /** Active although it ended more than five minutes ago; without a webhook in the last minute and without a running daily charge. */
  isOver: boolean;
  /** The panel user is linked, but its short uuid is not stored. */
  isLinkMissing: boolean;
  hasNegativeTraffic: boolean;
  hasNoDevices: boolean;
  hasNoSquadList: boolean;
}

const IS_OVER = `s.status = 'active' AND s.end_date < $1::timestamptz - interval '5 minutes'
  AND (s.last_webhook_update_at IS NULL OR s.last_webhook_update_at <= $1::timestamptz - interval '60 seconds')
  AND NOT COALESCE(t.is_daily AND NOT s.is_daily_paused, false)`;

/** The next subscriptions by id, each with what is wrong with it. */
export function listForValidation(db: Db, page: { now: Date; afterId: number; limit: number }): Promise<ValidatedSubscription[]> {
  return db.sql<ValidatedSubscription>(
    `SELECT s.id, s.user_id, u.vpnpanel_uuid, (${IS_OVER}) AS is_over,
       s.vpnpanel_short_uuid IS NULL AND u.vpnpanel_uuid IS NOT NULL AS is_link_missing,
       s.traffic_limit_gb < 0 OR s.traffic_used_gb < 0 AS has_negative_traffic, s.device_limit <= 0 AS has_no_devices,
       jsonb_typeof(s.connected_squads) <> 'array' AS has_no_squad_list
     FROM subscriptions s JOIN users u ON u.id = s.user_id LEFT JOIN tariffs t ON t.id = s.tariff_id
     WHERE s.id > $2::int ORDER BY s.id LIMIT $3::int`,
    [page.now, page.afterId, page.limit],
  );
}

/** Repairs invalid values of rows under their locks; the end is checked again under the lock. @returns the ids that are expired now */
export async function repairRows(db: Db, ids: readonly number[], now: Date): Promise<number[]> {
  const over = await db.sql<{ id: number }>(
    `SELECT s.id FROM subscriptions s LEFT JOIN tariffs t ON t.id = s.tariff_id
     WHERE s.id = ANY($2::int[]) AND ${IS_OVER} ORDER BY s.id FOR UPDATE OF s`,
    [now, [...ids]],
  );
  const overIds = over.map((row) => row.id);
  await repairValues(db, ids, overIds, now);
  return overIds;
}
