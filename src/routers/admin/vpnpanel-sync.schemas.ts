import { z } from 'zod';
import { FreeForm, Moment } from '../shared.schemas.ts';
import {
  VpnPanelSquadMigrationPreviewResponse,
  VpnPanelSquadMigrationRequest,
  VpnPanelSquadMigrationStats,
  VpnPanelSyncFromPanelRequest,
} from '../web/vpnpanel-sync.schemas.ts';

/** Synchronisation and squad migration of the contract group `Cabinet Admin VpnPanel`: the Web API's shapes under their names here. */

export const MigrationPreviewResponse = VpnPanelSquadMigrationPreviewResponse.extend({}).meta({ id: 'MigrationPreviewResponse' });

export const MigrationRequest = VpnPanelSquadMigrationRequest.extend({}).meta({ id: 'MigrationRequest' });

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

export const SyncResponse = z
  .object({ success: z.boolean(), message: z.string().nullish(), data: FreeForm.nullish() })
  .meta({ id: 'SyncResponse' });

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
    last_user_stats: FreeForm.nullish(),
    last_server_stats: FreeForm.nullish(),
  })
  .meta({ id: 'AutoSyncStatus' });

export const AutoSyncToggleRequest = z.object({ enabled: z.boolean() }).meta({ id: 'AutoSyncToggleRequest' });

export const AutoSyncRunResponse = z
  .object({
    started: z.boolean(),
    success: z.boolean().nullish(),
    error: z.string().nullish(),
    user_stats: FreeForm.nullish(),
    server_stats: FreeForm.nullish(),
    reason: z.string().nullish(),
  })
  .meta({ id: 'AutoSyncRunResponse' });
