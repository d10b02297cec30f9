import { z } from 'zod';
import { Moment, publishedAsFreeForm } from '../shared.schemas.ts';
import {
  CleanupStats,
  FromPanelStats,
  Recommendation,
  Running,
  ServerStats,
  StatusStats,
  ToPanelStats,
  UserStats,
  ValidationStats,
} from '../vpnpanel-sync-data.schemas.ts';
import {
  VpnPanelSquadMigrationPreviewResponse,
  VpnPanelSquadMigrationRequest,
  VpnPanelSquadMigrationStats,
  VpnPanelSyncFromPanelRequest,
} from '../web/vpnpanel-sync.schemas.ts';

/** Synchronisation and squad migration of the contract group `Cabinet Admin VpnPanel`: the Web API's shapes under their names here. */

export const MigrationPreviewResponse = VpnPanelSquadMigrationPreviewResponse.extend({}).meta({ id: 'MigrationPreviewResponse' });

export const MigrationRequest = VpnPanelSquadMigrationRequest.extend({}).meta({
  id: 'MigrationRequest',
  example: { source_uuid: '0198a2c4-7b1e-7c3a-9d54-3f2b1c0e8a77', target_uuid: '0198a2c4-7b1e-7c3a-9d54-3f2b1c0e8a78' },
});

const MigrationStats = VpnPanelSquadMigrationStats.extend({}).meta({ id: 'MigrationStats' });

export const MigrationResponse = z
  .object({
    success: z.boolean(),
    message: z.string().nullish(),
    error: z.string().nullish(),
    data: MigrationStats.nullish(),
  })
  .meta({ id: 'MigrationResponse' });

export const SyncMode = VpnPanelSyncFromPanelRequest.extend({}).meta({ id: 'SyncMode' });

const syncResponse = <Data extends z.ZodType>(data: Data) =>
  z
    .object({ success: z.boolean(), message: z.string().nullish(), data: publishedAsFreeForm(data).nullish() })
    .meta({ id: 'SyncResponse' });

/** One component of the contract, which leaves the data free-form, with the data of each operation. */
export const SyncResponses = {
  fromPanel: syncResponse(FromPanelStats),
  toPanel: syncResponse(ToPanelStats),
  validate: syncResponse(ValidationStats),
  cleanup: syncResponse(CleanupStats),
  statuses: syncResponse(StatusStats),
  recommendations: syncResponse(Recommendation),
  toggleAuto: syncResponse(z.object({ enabled: z.boolean() })),
  servers: syncResponse(ServerStats.partial().extend(Running)),
};

export const AutoSyncStatus = z
  .object({
    enabled: z.boolean(),
    times: z.string().array().default([]),
    next_run: Moment.nullish(),
    is_running: z.boolean().default(false),
    last_run_started_at: Moment.nullish(),
    last_run_finished_at: Moment.nullish(),
    last_run_success: z.boolean().nullish(),
    last_run_reason: z.string().nullish(),
    last_run_error: z.string().nullish(),
    last_user_stats: publishedAsFreeForm(UserStats).nullish(),
    last_server_stats: publishedAsFreeForm(ServerStats).nullish(),
  })
  .meta({ id: 'AutoSyncStatus' });

export const AutoSyncToggleRequest = z.object({ enabled: z.boolean() }).meta({ id: 'AutoSyncToggleRequest' });

export const AutoSyncRunResponse = z
  .object({
    started: z.boolean(),
    success: z.boolean().nullish(),
    error: z.string().nullish(),
    user_stats: publishedAsFreeForm(UserStats).nullish(),
    server_stats: publishedAsFreeForm(ServerStats).nullish(),
    reason: z.string().nullish(),
  })
  .meta({ id: 'AutoSyncRunResponse' });
