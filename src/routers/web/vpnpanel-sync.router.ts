import { migrateSquad, previewMigration } from '../../domain/provisioning/migration/migrate-squad.ts';
import { requirePanel } from '../../domain/provisioning/panel-access.ts';
import { recommendSync } from '../../domain/provisioning/sync/recommend.ts';
import { startSync } from '../../domain/provisioning/sync/start-sync.ts';
import { auditedWebProcedure, router, webProcedure } from '../trpc.ts';
import { toMigrationAnswer, toPreviewAnswer, toRecommendationAnswer, toSyncAnswer } from '../vpnpanel-sync-wire.ts';
import {
  MigrationPath,
  VpnPanelGenericSyncResponse,
  VpnPanelSquadMigrationPreviewResponse,
  VpnPanelSquadMigrationRequest,
  VpnPanelSquadMigrationResponse,
  VpnPanelSyncFromPanelRequest,
} from './vpnpanel-sync.schemas.ts';

const tags: [string] = ['vpnpanel'];
const syncing = auditedWebProcedure('vpnpanel:sync');

/** This door's name of the text is `detail`. */
const withDetail = <T extends { text: string }>({ text, ...answer }: T) => ({ ...answer, detail: text });

export const vpnpanelSyncRouter = router({
  migrationPreview: webProcedure
    .meta({
      openapi: {
        method: 'GET',
        path: '/vpnpanel/squads/{squad_uuid}/migration-preview',
        tags,
        summary: 'What moving away from a squad would touch',
      },
    })
    .input(MigrationPath)
    .output(VpnPanelSquadMigrationPreviewResponse)
    .query(async ({ ctx, input }) => {
      requirePanel(ctx.app);
      return toPreviewAnswer(await previewMigration(ctx.app, input.squad_uuid));
    }),

  migrate: auditedWebProcedure('vpnpanel:manage')
    .meta({
      openapi: { method: 'POST', path: '/vpnpanel/squads/migrate', tags, summary: 'Move subscriptions to another squad' },
    })
    .input(VpnPanelSquadMigrationRequest)
    .output(VpnPanelSquadMigrationResponse)
    .mutation(async ({ ctx, input }) => {
      const request = { sourceUuid: input.source_uuid, targetUuid: input.target_uuid };
      return withDetail(toMigrationAnswer(await migrateSquad(ctx.app, ctx.actor, request)));
    }),

  fromPanel: syncing
    .meta({ openapi: { method: 'POST', path: '/vpnpanel/sync/from-panel', tags, summary: 'Take over what the panel holds' } })
    .input(VpnPanelSyncFromPanelRequest)
    .output(VpnPanelGenericSyncResponse)
    .mutation(async ({ ctx, input }) =>
      withDetail(toSyncAnswer(await startSync(ctx.app, ctx.actor, { kind: 'from_panel', mode: input.mode }))),
    ),

  toPanel: syncing
    .meta({ openapi: { method: 'POST', path: '/vpnpanel/sync/to-panel', tags, summary: 'Bring the panel in step' } })
    .output(VpnPanelGenericSyncResponse)
    .mutation(async ({ ctx }) => withDetail(toSyncAnswer(await startSync(ctx.app, ctx.actor, { kind: 'to_panel' })))),

  validate: syncing
    .meta({
      openapi: {
        method: 'POST',
        path: '/vpnpanel/sync/subscriptions/validate',
        tags,
        summary: 'Repair subscriptions that cannot be right',
      },
    })
    .output(VpnPanelGenericSyncResponse)
    .mutation(async ({ ctx }) => withDetail(toSyncAnswer(await startSync(ctx.app, ctx.actor, { kind: 'validate' })))),

  cleanup: syncing
    .meta({
      openapi: {
        method: 'POST',
        path: '/vpnpanel/sync/subscriptions/cleanup',
        tags,
        summary: 'Disable subscriptions whose panel user is gone',
      },
    })
    .output(VpnPanelGenericSyncResponse)
    .mutation(async ({ ctx }) => withDetail(toSyncAnswer(await startSync(ctx.app, ctx.actor, { kind: 'cleanup' })))),

  statuses: syncing
    .meta({
      openapi: {
        method: 'POST',
        path: '/vpnpanel/sync/subscriptions/statuses',
        tags,
        summary: 'Take over statuses from the panel',
      },
    })
    .output(VpnPanelGenericSyncResponse)
    .mutation(async ({ ctx }) => withDetail(toSyncAnswer(await startSync(ctx.app, ctx.actor, { kind: 'statuses' })))),

  recommendations: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/vpnpanel/sync/recommendations', tags, summary: 'Which synchronisation makes sense now' },
    })
    .output(VpnPanelGenericSyncResponse)
    .query(async ({ ctx }) => withDetail(toRecommendationAnswer(await recommendSync(ctx.app)))),
});
