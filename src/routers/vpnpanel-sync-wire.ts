/** Names on the wire of squad migration and panel synchronisation, the same behind both doors (spec 06 section 10). */
import type { MigrationPreview } from '../domain/provisioning/migration/migrate-squad.ts';
import type { MigrationRun } from '../domain/provisioning/migration/types.ts';
import type { AutoSyncStatus } from '../domain/provisioning/sync/auto-sync.ts';
import type { SyncRecommendation } from '../domain/provisioning/sync/recommend.ts';
import type { SyncKind, SyncRun } from '../domain/provisioning/sync/types.ts';

export function toPreviewAnswer(preview: MigrationPreview) {
  return {
    squad_uuid: preview.squadUuid,
    squad_name: preview.squadName,
    current_users: preview.currentUsers,
    max_users: preview.maxUsers,
    users_to_migrate: preview.usersToMigrate,
  };
}

/** `text` goes into `detail` or `message`, as the door has it. */
export function toMigrationAnswer({ status, error, stats }: MigrationRun) {
  const { updated, total, panelFailed } = stats;
  const left = panelFailed > 0 ? `, ${panelFailed} were not taken by the panel` : '';
  const texts = {
    completed: total === 0 ? 'No subscriptions to move' : `Moved ${updated} of ${total} subscriptions${left}`,
    running: `Moved ${updated} of ${total} subscriptions so far; the rest follows in the background`,
    failed: 'The migration was stopped',
  };
  return {
    success: status !== 'failed',
    text: texts[status],
    error,
    data: {
      source_uuid: stats.sourceUuid,
      target_uuid: stats.targetUuid,
      total,
      updated,
      panel_updated: stats.panelUpdated,
      panel_failed: panelFailed,
      source_removed: stats.sourceRemoved,
      target_added: stats.targetAdded,
    },
  };
}

export const toUserStats = ({ counts: { created, updated, errors, deleted } }: SyncRun) => ({
  created,
  updated,
  errors,
  deleted,
});

const DATA: Record<SyncKind, (run: SyncRun) => Record<string, unknown> | null> = {
  from_panel: toUserStats,
  auto: toUserStats,
  to_panel: ({ counts: { created, updated, errors } }) => ({ created, updated, errors }),
  validate: ({ counts: { fixed, errors, checked, issuesFound } }) => ({ fixed, errors, checked, issues_found: issuesFound }),
  statuses: ({ counts: { updated, deleted, errors, checked } }) => ({ updated: updated + deleted, errors, checked }),
  cleanup: ({ counts: { deleted, errors, checked } }) => ({ deactivated: deleted, errors, checked }),
  servers: ({ servers }) => servers && { ...servers },
};

const REFUSALS = {
  incomplete_list: 'Nobody was disabled: the panel gave no complete list of its users',
  too_many_absent: 'Nobody was disabled: too many users are missing at the panel',
} as const;

/**
 * `text` goes into `detail` or `message`. A run that goes on in the background shows its counts so far, with its number and state.
 * A failed run from the panel is told by `errors`, as the interface has always done; any other says `success: false`.
 */
export function toSyncAnswer(run: SyncRun) {
  const isRefused = run.kind === 'cleanup' && run.refusal !== null;
  const success = run.kind === 'from_panel' || (run.status !== 'failed' && !isRefused);
  const going = run.status === 'running' ? { status: run.status, run_id: run.id } : {};
  return { success, text: textOf(run), data: { ...DATA[run.kind](run), ...going } };
}

function textOf(run: SyncRun): string {
  if (run.status === 'running') return 'Synchronisation goes on in the background';
  if (run.status === 'failed') return `Synchronisation failed: ${run.error}`;
  return run.refusal === null ? 'Synchronisation completed' : REFUSALS[run.refusal];
}

export function toRecommendationAnswer(found: SyncRecommendation) {
  return {
    success: true,
    text: found.reasons.join('; '),
    data: {
      should_sync: found.shouldSync,
      sync_type: found.syncType,
      reasons: found.reasons,
      priority: found.priority,
      estimated_time: found.estimatedTime,
    },
  };
}

/** Null while it is under way. */
const successOf = (run: SyncRun): boolean | null => (run.status === 'running' ? null : run.status === 'completed');

const errorOf = (run: SyncRun): string | null => run.error ?? (run.refusal && REFUSALS[run.refusal]);

export function toAutoStatusAnswer({ isEnabled, times, nextRun, latest }: AutoSyncStatus) {
  return {
    enabled: isEnabled,
    times,
    next_run: nextRun,
    is_running: latest?.status === 'running',
    last_run_started_at: latest?.startedAt ?? null,
    last_run_finished_at: latest?.finishedAt ?? null,
    last_run_success: latest && successOf(latest),
    last_run_reason: latest?.reason ?? null,
    last_run_error: latest && errorOf(latest),
    last_user_stats: latest && toUserStats(latest),
    last_server_stats: latest?.servers ? { ...latest.servers } : null,
  };
}

/** Null = one is under way already. */
export function toAutoRunAnswer(run: SyncRun | null) {
  if (run === null) return { started: false, success: null, error: null, user_stats: null, server_stats: null, reason: null };
  return {
    started: true,
    success: successOf(run),
    error: errorOf(run),
    user_stats: toUserStats(run),
    server_stats: run.servers && { ...run.servers },
    reason: run.reason,
  };
}
