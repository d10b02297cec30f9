import type { z } from 'zod';
import type { AdminActor, TokenActor } from '../core/actor.ts';
import {
  migrateSquad,
  migrationRunning,
  previewMigration,
  sameSquad,
  sourceNotFound,
  targetNotFound,
} from '../domain/provisioning/migration/migrate-squad.ts';
import type { MigrationRun, MigrationStats } from '../domain/provisioning/migration/types.ts';
import { notConfigured, requirePanel } from '../domain/provisioning/panel-access.ts';
import { squadNotFound } from '../domain/provisioning/rules.ts';
import { recommendSync, type SyncRecommendation } from '../domain/provisioning/sync/recommend.ts';
import { type AutoSyncStatus, startSync, syncRunning } from '../domain/provisioning/sync/start-sync.ts';
import type { SkippedUsers, SyncKind, SyncRun } from '../domain/provisioning/sync/types.ts';
import type { ProcedureFor, ReaderFor } from './trpc.ts';
import {
  MigrationPath,
  type VpnPanelSquadMigrationPreviewResponse,
  type VpnPanelSquadMigrationRequest,
  type VpnPanelSyncFromPanelRequest,
} from './web/vpnpanel-sync.schemas.ts';
import { fromWire, toWire, type WireParser } from './wire.ts';

type Base = ProcedureFor<TokenActor | AdminActor>;

/** Operations that answer with the data of a run. */
type SyncOperation = 'fromPanel' | 'toPanel' | 'validate' | 'cleanup' | 'statuses' | 'recommendations';

interface Group<Sync, Migration> {
  reading: ReaderFor<TokenActor | AdminActor>;
  managing: Base;
  syncing: Base;
  base: '/vpnpanel' | '/cabinet/admin/vpnpanel';
  tag: string;
  /** Answers 503 to a preview without a configured panel. */
  previewNeedsPanel: boolean;
  /** The same shapes have other component names in each area. */
  schemas: {
    preview: typeof VpnPanelSquadMigrationPreviewResponse;
    migrationRequest: typeof VpnPanelSquadMigrationRequest;
    fromPanelRequest: typeof VpnPanelSyncFromPanelRequest;
    migration: Migration;
    sync: Sync;
  };
}

/** An answer with its text under the names of both areas; the schema of the area has one of them. */
interface SyncAnswer {
  success: boolean;
  detail: string;
  message: string;
  /** Checked against the operation's schema when the answer is made. */
  data: object | null;
}

interface MigrationAnswer extends SyncAnswer {
  error: string | null;
  data: MigrationStats;
}

const withText = <T extends { text: string }>({ text, ...answer }: T) => ({ ...answer, detail: text, message: text });

/** Synchronisation and squad migration, which the Web API and the administration have alike (spec 06 sections 10 and 11). */
export function vpnpanelSyncProcedures<Sync extends Record<SyncOperation, z.ZodType>, Migration extends z.ZodType>(
  group: Group<Sync, Migration>,
) {
  const { reading, managing, syncing, base, previewNeedsPanel, schemas } = group;
  const tags: [string] = [group.tag];
  // The codec drops the name of the text that the schema does not have.
  const syncAnswer = <Operation extends SyncOperation>(operation: Operation) =>
    toWire(schemas.sync[operation]) as unknown as WireParser<SyncAnswer, z.output<Sync[Operation]>>;
  const migrationAnswer = toWire(schemas.migration) as unknown as WireParser<MigrationAnswer, z.output<Migration>>;
  return {
    migrationPreview: reading
      .meta({
        openapi: {
          method: 'GET',
          path: `${base}/squads/{squad_uuid}/migration-preview`,
          tags,
          summary: 'Preview the migration of a squad',
        },
        description: 'Counts the subscriptions that a migration from a squad would change. Changes nothing.',
        refuses: previewNeedsPanel ? [squadNotFound, notConfigured] : [squadNotFound],
      })
      .input(fromWire(MigrationPath))
      .output(toWire(schemas.preview))
      .query(({ ctx, input }) => {
        if (previewNeedsPanel) requirePanel(ctx.app);
        return previewMigration(ctx.app, input.squadUuid);
      }),

    migrate: managing
      .meta({
        openapi: { method: 'POST', path: `${base}/squads/migrate`, tags, summary: 'Move subscriptions to another squad' },
        description:
          'Moves every active subscription from one squad to another, in batches, each first in the panel and then in the service. Users whom the panel refuses are not changed and are counted. One migration of a squad runs at a time; repeating the call continues with the rest.',
        refuses: [sameSquad, sourceNotFound, targetNotFound, migrationRunning],
      })
      .input(fromWire(schemas.migrationRequest))
      .output(migrationAnswer)
      .mutation(async ({ ctx, input }) => withText(toMigration(await migrateSquad(ctx.app, ctx.actor, input)))),

    fromPanel: syncing
      .meta({
        openapi: { method: 'POST', path: `${base}/sync/from-panel`, tags, summary: 'Take over the data of the panel' },
        description:
          'Reads all users of the panel and overwrites end, limits, traffic and links of the subscriptions; with `all` and `new_only` missing users are created, those with an e-mail only as e-mail accounts that are not confirmed, with `all` those that are missing in the panel are disabled. Panel users that cannot be imported count in `errors`; `skipped_users` names them with the reason. One synchronisation runs at a time (409).',
        refuses: [syncRunning, notConfigured],
      })
      .input(schemas.fromPanelRequest)
      .output(syncAnswer('fromPanel'))
      .mutation(async ({ ctx, input }) =>
        withText(toSync(await startSync(ctx.app, ctx.actor, { kind: 'from_panel', mode: input.mode }))),
      ),

    toPanel: syncing
      .meta({
        openapi: { method: 'POST', path: `${base}/sync/to-panel`, tags, summary: 'Update the panel from the service' },
        description:
          'Writes status, end, limits and squads of all subscriptions to the panel and creates missing users there. Users that have the same access and limits already are not written. One synchronisation runs at a time (409).',
        refuses: [syncRunning, notConfigured],
      })
      .output(syncAnswer('toPanel'))
      .mutation(async ({ ctx }) => withText(toSync(await startSync(ctx.app, ctx.actor, { kind: 'to_panel' })))),

    validate: syncing
      .meta({
        openapi: {
          method: 'POST',
          path: `${base}/sync/subscriptions/validate`,
          tags,
          summary: 'Repair invalid subscriptions',
        },
        description:
          'Finds and repairs inconsistent subscriptions (ended but active, no link, negative limits). No messages are sent.',
        refuses: [notConfigured],
      })
      .output(syncAnswer('validate'))
      .mutation(async ({ ctx }) => withText(toSync(await startSync(ctx.app, ctx.actor, { kind: 'validate' })))),

    cleanup: syncing
      .meta({
        openapi: {
          method: 'POST',
          path: `${base}/sync/subscriptions/cleanup`,
          tags,
          summary: 'Disable subscriptions without a panel user',
        },
        description:
          'Disables subscriptions whose user the panel no longer has. Balances and movements stay. One synchronisation runs at a time (409).',
        refuses: [notConfigured],
      })
      .output(syncAnswer('cleanup'))
      .mutation(async ({ ctx }) => withText(toSync(await startSync(ctx.app, ctx.actor, { kind: 'cleanup' })))),

    statuses: syncing
      .meta({
        openapi: {
          method: 'POST',
          path: `${base}/sync/subscriptions/statuses`,
          tags,
          summary: 'Take over statuses from the panel',
        },
        description: 'Copies statuses and limits from the panel, for known users only. One synchronisation runs at a time (409).',
        refuses: [notConfigured],
      })
      .output(syncAnswer('statuses'))
      .mutation(async ({ ctx }) => withText(toSync(await startSync(ctx.app, ctx.actor, { kind: 'statuses' })))),

    recommendations: reading
      .meta({
        openapi: { method: 'GET', path: `${base}/sync/recommendations`, tags, summary: 'Recommend a synchronisation' },
        description:
          'Returns whether a synchronisation is recommended, which one and why, and under `running` the progress of those under way. Reads the own database only.',
      })
      .output(syncAnswer('recommendations'))
      .query(async ({ ctx }) => withText(toRecommendation(await recommendSync(ctx.app)))),
  };
}

// Texts and data of the answers of squad migration and panel synchronisation, alike in both areas (spec 06 section 10).

/** `text` becomes `detail` or `message`, by the area. */
function toMigration({ status, error, stats }: MigrationRun) {
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

function toRecommendation({ running, ...found }: SyncRecommendation) {
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
