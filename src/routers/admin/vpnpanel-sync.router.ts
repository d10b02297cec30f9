import { migrateSquad, previewMigration } from '../../domain/provisioning/migration/migrate-squad.ts';
import { readAutoSync, runAutoSyncNow, switchAutoSync } from '../../domain/provisioning/sync/auto-sync.ts';
import { recommendSync } from '../../domain/provisioning/sync/recommend.ts';
import { startServerSync, startSync } from '../../domain/provisioning/sync/start-sync.ts';
import { editorOf } from '../setting-wire.ts';
import { adminProcedure, router } from '../trpc.ts';
import {
  toAutoRunAnswer,
  toAutoStatusAnswer,
  toMigrationAnswer,
  toPreviewAnswer,
  toRecommendationAnswer,
  toSyncAnswer,
} from '../vpnpanel-sync-wire.ts';
import { MigrationPath } from '../web/vpnpanel-sync.schemas.ts';
import {
  AutoSyncRunResponse,
  AutoSyncStatus,
  AutoSyncToggleRequest,
  MigrationPreviewResponse,
  MigrationRequest,
  MigrationResponse,
  SyncMode,
  SyncResponse,
} from './vpnpanel-sync.schemas.ts';

const tags: [string] = ['Cabinet Admin VpnPanel'];
const reading = adminProcedure('vpnpanel:read');
const syncing = adminProcedure('vpnpanel:sync');

/** This door's name of the text is `message`. */
const withMessage = <T extends { text: string }>({ text, ...answer }: T) => ({ ...answer, message: text });

export const adminVpnpanelSyncRouter = router({
  migrationPreview: reading
    .meta({
      openapi: {
        method: 'GET',
        path: '/cabinet/admin/vpnpanel/squads/{squad_uuid}/migration-preview',
        tags,
        summary: 'What moving away from a squad would touch',
      },
    })
    .input(MigrationPath)
    .output(MigrationPreviewResponse)
    .query(async ({ ctx, input }) => toPreviewAnswer(await previewMigration(ctx.app, input.squad_uuid))),

  migrate: adminProcedure('vpnpanel:manage')
    .meta({
      openapi: {
        method: 'POST',
        path: '/cabinet/admin/vpnpanel/squads/migrate',
        tags,
        summary: 'Move subscriptions to another squad',
      },
    })
    .input(MigrationRequest)
    .output(MigrationResponse)
    .mutation(async ({ ctx, input }) => {
      const request = { sourceUuid: input.source_uuid, targetUuid: input.target_uuid };
      return withMessage(toMigrationAnswer(await migrateSquad(ctx.app, ctx.actor, request)));
    }),

  autoStatus: reading
    .meta({
      openapi: {
        method: 'GET',
        path: '/cabinet/admin/vpnpanel/sync/auto/status',
        tags,
        summary: 'State of the automatic synchronisation',
      },
    })
    .output(AutoSyncStatus)
    .query(async ({ ctx }) => toAutoStatusAnswer(await readAutoSync(ctx.app))),

  toggleAuto: syncing
    .meta({
      openapi: {
        method: 'POST',
        path: '/cabinet/admin/vpnpanel/sync/auto/toggle',
        tags,
        summary: 'Switch the automatic synchronisation',
      },
    })
    .input(AutoSyncToggleRequest)
    .output(SyncResponse)
    .mutation(async ({ ctx, input }) => {
      const enabled = await switchAutoSync(ctx.app, editorOf(ctx.actor), input.enabled);
      const isDone = enabled === input.enabled;
      const message = isDone
        ? `Automatic synchronisation is ${enabled ? 'on' : 'off'}`
        : 'The setting was stored, but the environment gives another value';
      return { success: isDone, message, data: { enabled } };
    }),

  runAuto: syncing
    .meta({
      openapi: {
        method: 'POST',
        path: '/cabinet/admin/vpnpanel/sync/auto/run',
        tags,
        summary: 'Run the automatic synchronisation now',
      },
    })
    .output(AutoSyncRunResponse)
    .mutation(async ({ ctx }) => toAutoRunAnswer(await runAutoSyncNow(ctx.app, ctx.actor))),

  fromPanel: syncing
    .meta({
      openapi: {
        method: 'POST',
        path: '/cabinet/admin/vpnpanel/sync/from-panel',
        tags,
        summary: 'Take over what the panel holds',
      },
    })
    .input(SyncMode)
    .output(SyncResponse)
    .mutation(async ({ ctx, input }) =>
      withMessage(toSyncAnswer(await startSync(ctx.app, ctx.actor, { kind: 'from_panel', mode: input.mode }))),
    ),

  toPanel: syncing
    .meta({
      openapi: { method: 'POST', path: '/cabinet/admin/vpnpanel/sync/to-panel', tags, summary: 'Bring the panel in step' },
    })
    .output(SyncResponse)
    .mutation(async ({ ctx }) => withMessage(toSyncAnswer(await startSync(ctx.app, ctx.actor, { kind: 'to_panel' })))),

  servers: syncing
    .meta({
      openapi: {
        method: 'POST',
        path: '/cabinet/admin/vpnpanel/sync/servers',
        tags,
        summary: 'Bring the servers in step with the squads',
      },
    })
    .output(SyncResponse)
    .mutation(async ({ ctx }) => withMessage(toSyncAnswer(await startServerSync(ctx.app, ctx.actor)))),

  validate: syncing
    .meta({
      openapi: {
        method: 'POST',
        path: '/cabinet/admin/vpnpanel/sync/subscriptions/validate',
        tags,
        summary: 'Repair subscriptions that cannot be right',
      },
    })
    .output(SyncResponse)
    .mutation(async ({ ctx }) => withMessage(toSyncAnswer(await startSync(ctx.app, ctx.actor, { kind: 'validate' })))),

  cleanup: syncing
    .meta({
      openapi: {
        method: 'POST',
        path: '/cabinet/admin/vpnpanel/sync/subscriptions/cleanup',
        tags,
        summary: 'Disable subscriptions whose panel user is gone',
      },
    })
    .output(SyncResponse)
    .mutation(async ({ ctx }) => withMessage(toSyncAnswer(await startSync(ctx.app, ctx.actor, { kind: 'cleanup' })))),

  statuses: syncing
    .meta({
      openapi: {
        method: 'POST',
        path: '/cabinet/admin/vpnpanel/sync/subscriptions/statuses',
        tags,
        summary: 'Take over statuses from the panel',
      },
    })
    .output(SyncResponse)
    .mutation(async ({ ctx }) => withMessage(toSyncAnswer(await startSync(ctx.app, ctx.actor, { kind: 'statuses' })))),

  recommendations: reading
    .meta({
      openapi: {
        method: 'GET',
        path: '/cabinet/admin/vpnpanel/sync/recommendations',
        tags,
        summary: 'Which synchronisation makes sense now',
      },
    })
    .output(SyncResponse)
    .query(async ({ ctx }) => withMessage(toRecommendationAnswer(await recommendSync(ctx.app)))),
});
