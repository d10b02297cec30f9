import type { Db } from '../../../core/db/db.ts';
import { LEASE_SQL } from '../long-runs/repo.ts';
import type { SyncCounts, SyncCursor, SyncKind, SyncMode, SyncRun, SyncStatus } from './types.ts';

type RunStats = Pick<SyncRun, 'counts' | 'servers' | 'refusal'>;

interface RunRow {
  id: number;
  kind: SyncKind;
  mode: SyncMode | null;
  reason: 'manual' | 'auto';
  status: SyncStatus;
  cursor: SyncCursor;
  stats: RunStats;
  error: string | null;
  startedAt: Date;
  finishedAt: Date | null;
}

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

function toRun(row: RunRow): SyncRun {
  return {
    id: row.id,
    kind: row.kind,
    mode: row.mode,
    reason: row.reason,
    status: row.status,
    cursor: row.cursor,
    counts: { ...NO_COUNTS, ...row.stats.counts },
    servers: row.stats.servers ?? null,
    refusal: row.stats.refusal ?? null,
    error: row.error,
    startedAt: row.startedAt,
    finishedAt: row.finishedAt,
  };
}

/** Kinds that a run of this kind excludes, besides its own: an automatic run is one from the panel. */
const EXCLUDES: Partial<Record<SyncKind, SyncKind>> = { from_panel: 'auto', auto: 'from_panel' };

/**
 * Starts a run with the lease in the starter's hands. Two starts at once are told apart by the lock and the partial unique index.
 * In a transaction. @returns null when one of the kind is under way
 */
export async function insertRun(
  db: Db,
  run: { kind: SyncKind; mode: SyncMode | null; reason: 'manual' | 'auto'; startedBy: string; cursor: SyncCursor; now: Date },
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
      JSON.stringify({ counts: NO_COUNTS, servers: null, refusal: null }),
      run.startedBy,
      run.now,
      [run.kind, EXCLUDES[run.kind] ?? run.kind],
    ],
  );
  return row ?? null;
}

export async function findRun(db: Db, id: number): Promise<SyncRun | null> {
  const [row] = await db.sql<RunRow>('SELECT * FROM panel_sync_runs WHERE id = $1::int', [id]);
  return row ? toRun(row) : null;
}

/** The newest run of a kind that is under way or over. */
export async function findLatest(db: Db, kind: SyncKind): Promise<SyncRun | null> {
  const [row] = await db.sql<RunRow>('SELECT * FROM panel_sync_runs WHERE kind = $1 ORDER BY started_at DESC, id DESC LIMIT 1', [
    kind,
  ]);
  return row ? toRun(row) : null;
}

/** Stores where a run stands. */
export async function saveRun(db: Db, run: SyncRun, now: Date): Promise<void> {
  await db.sql(
    `UPDATE panel_sync_runs SET cursor = $2::jsonb, stats = $3::jsonb, updated_at = $4::timestamptz
     WHERE id = $1::int AND status = 'running' RETURNING id`,
    [run.id, JSON.stringify(run.cursor), JSON.stringify(statsOf(run)), now],
  );
}

/** Ends a run and forgets what it read. */
export async function finishRun(db: Db, run: SyncRun, error: string | null, now: Date): Promise<void> {
  await db.sql(
    `UPDATE panel_sync_runs SET status = CASE WHEN $2::text IS NULL THEN 'completed' ELSE 'failed' END, error = $2::text,
       stats = $3::jsonb, lease_until = NULL, finished_at = $4::timestamptz, updated_at = $4::timestamptz
     WHERE id = $1::int AND status = 'running' RETURNING id`,
    [run.id, error?.slice(0, 500) ?? null, JSON.stringify(statsOf(run)), now],
  );
  await db.sql('DELETE FROM panel_sync_users WHERE run_id = $1::int', [run.id]);
}

function statsOf({ counts, servers, refusal }: SyncRun): RunStats {
  return { counts, servers, refusal };
}
