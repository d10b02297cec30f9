/** Texts and data of the answers of squad migration and panel synchronisation, alike in both areas (spec 06 section 10). */
import type { MigrationRun } from '../domain/provisioning/migration/types.ts';
import type { AutoSyncStatus } from '../domain/provisioning/sync/auto-sync.ts';
import type { SyncRecommendation } from '../domain/provisioning/sync/recommend.ts';
import type { SkippedUsers, SyncKind, SyncRun } from '../domain/provisioning/sync/types.ts';

/** `text` becomes `detail` or `message`, by the area. */
export function toMigration({ status, error, stats }: MigrationRun) {
  const { updated, total, panelFailed } = stats;
  const refused = panelFailed > 0 ? `, ${panelFailed} were not taken by the panel` : '';
  const texts = {
    completed: total === 0 ? 'No subscriptions to move' : `Moved ${updated} of ${total} subscriptions${refused}`,
    running: `Moved ${updated} of ${total} subscriptions so far; the rest follows in the background`,
    failed: 'The migration was stopped',
  };
  return { success: status !== 'failed', text: texts[status], error, data: stats };
}

function toUserStats({ counts: { created, updated, errors, deleted }, skipped }: SyncRun) {
  const named = skipped && { skipped: skippedTotal(skipped), skippedUsers: skipped.users };
  return { created, updated, errors, deleted, ...named };
}

const skippedTotal = ({ counts }: SkippedUsers) => Object.values(counts).reduce((sum, count) => sum + count, 0);

/** How far the phase of a run under way is; null where it does not count. */
function toProgress({ cursor: { phase, progress } }: SyncRun) {
  return progress ? { phase, ...progress } : null;
}

/** The contract leaves the data free-form; ./vpnpanel-sync-data.schemas.ts has their types. */
const DATA: Record<SyncKind, (run: SyncRun) => object | null> = {
  from_panel: toUserStats,
  auto: toUserStats,
  to_panel: ({ counts: { created, updated, errors } }) => ({ created, updated, errors }),
  validate: ({ counts: { fixed, errors, checked, issuesFound } }) => ({ fixed, errors, checked, issuesFound }),
  statuses: ({ counts: { updated, deleted, errors, checked } }) => ({ updated: updated + deleted, errors, checked }),
  cleanup: ({ counts: { deleted, errors, checked } }) => ({ deactivated: deleted, errors, checked }),
  servers: ({ servers }) => servers && { ...servers },
};

const REFUSALS = {
  incomplete_list: 'Nobody was disabled: the panel gave no complete list of its users',
  too_many_absent: 'Nobody was disabled: too many users are missing at the panel',
} as const;

/**
 * `text` becomes `detail` or `message`, by the area. A run that continues in the background shows its counters so far, its number and
 * its status. A failed run from the panel answers `success: true` and counts in `errors`, as the contract has it; any other answers
 * `success: false`.
 */
export function toSync(run: SyncRun) {
  const isRefused = run.kind === 'cleanup' && run.refusal !== null;
  const success = run.kind === 'from_panel' || (run.status !== 'failed' && !isRefused);
  const running = run.status === 'running' ? { status: run.status, runId: run.id, progress: toProgress(run) } : {};
  return { success, text: textOf(run), data: { ...DATA[run.kind](run), ...running } };
}

function textOf(run: SyncRun): string {
  if (run.status === 'running') return 'Synchronisation goes on in the background';
  if (run.status === 'failed') return `Synchronisation failed: ${run.error}`;
  if (run.refusal !== null) return REFUSALS[run.refusal];
  if (run.skipped === null) return 'Synchronisation completed';
  const reasons = Object.entries(run.skipped.counts).map(([reason, count]) => `${reason}: ${count}`);
  return `Synchronisation completed; panel users not imported: ${skippedTotal(run.skipped)} (${reasons.join(', ')})`;
}

export function toRecommendation({ running, ...found }: SyncRecommendation) {
  const runs = running.map((run) => ({ runId: run.id, kind: run.kind, startedAt: run.startedAt, progress: toProgress(run) }));
  return {
    success: true,
    text: found.reasons.join('; '),
    data: { ...found, ...(runs.length > 0 && { running: runs }) },
  };
}

/** Null while it is under way. */
const successOf = (run: SyncRun): boolean | null => (run.status === 'running' ? null : run.status === 'completed');

const errorOf = (run: SyncRun): string | null => run.error ?? (run.refusal && REFUSALS[run.refusal]);

export function toAutoStatus({ isEnabled, times, nextRun, latest }: AutoSyncStatus) {
  return {
    enabled: isEnabled,
    times,
    nextRun,
    isRunning: latest?.status === 'running',
    lastRunStartedAt: latest?.startedAt ?? null,
    lastRunFinishedAt: latest?.finishedAt ?? null,
    lastRunSuccess: latest && successOf(latest),
    lastRunReason: latest?.reason ?? null,
    lastRunError: latest && errorOf(latest),
    lastUserStats: latest && toUserStats(latest),
    lastServerStats: latest?.servers ? { ...latest.servers } : null,
  };
}

/** Null = a run is under way already. */
export function toAutoRun(run: SyncRun | null) {
  if (run === null) return { started: false, success: null, error: null, userStats: null, serverStats: null, reason: null };
  return {
    started: true,
    success: successOf(run),
    error: errorOf(run),
    userStats: toUserStats(run),
    serverStats: run.servers && { ...run.servers },
    reason: run.reason,
  };
}
