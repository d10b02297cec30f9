import { z } from 'zod';
import { publishedAsFreeForm, Timestamp } from '../shared.schemas.ts';
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
    success: z.boolean().describe('Whether the operation was carried out. False comes with a message that says why.'),
    message: z.string().nullish().describe('Sentence for people that describes the outcome. Not for programs.'),
    error: z.string().nullish().describe('Machine code of the failure; null when there was none.'),
    data: MigrationStats.nullish().describe('Counters of the move; null when it was refused.'),
  })
  .meta({ id: 'MigrationResponse' });

export const SyncMode = VpnPanelSyncFromPanelRequest.extend({}).meta({ id: 'SyncMode' });

const syncResponse = <Data extends z.ZodType>(data: Data) =>
  z
    .object({
      success: z.boolean().describe('Whether the operation was carried out. False comes with a message that says why.'),
      message: z.string().nullish().describe('Sentence for people that describes the outcome. Not for programs.'),
      data: publishedAsFreeForm(data)
        .nullish()
        .describe('Counters and values of the result; null or empty when there are none. Its keys depend on the action.'),
    })
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
    enabled: z.boolean().describe('Whether it is switched on.'),
    times: z.string().array().default([]).describe('Times of the day of the automatic synchronisation, `HH:MM` (UTC).'),
    next_run: Timestamp.nullish().describe('When it runs next (UTC); null while it is off.'),
    is_running: z.boolean().default(false).describe('Whether it runs now.'),
    last_run_started_at: Timestamp.nullish().describe('Start of the last run (UTC); null when there was none.'),
    last_run_finished_at: Timestamp.nullish().describe('End of the last run (UTC); null while it runs or when there was none.'),
    last_run_success: z.boolean().nullish().describe('Whether the last run succeeded; null when there was none.'),
    last_run_reason: z
      .string()
      .nullish()
      .describe('What started the last run, for example `schedule` or `manual`; null when there was none.'),
    last_run_error: z.string().nullish().describe('Why the last run failed; null when it did not.'),
    last_user_stats: publishedAsFreeForm(UserStats)
      .nullish()
      .describe('Counters of users of the last run; null when there was none.'),
    last_server_stats: publishedAsFreeForm(ServerStats)
      .nullish()
      .describe('Counters of servers of the last run; null when there was none.'),
  })
  .meta({ id: 'AutoSyncStatus' });

export const AutoSyncToggleRequest = z
  .object({ enabled: z.boolean().describe('Whether it is switched on.') })
  .meta({ id: 'AutoSyncToggleRequest' });

export const AutoSyncRunResponse = z
  .object({
    started: z.boolean().describe('Whether a run was started; false when one was running.'),
    success: z.boolean().nullish().describe('Whether the run succeeded; null when nothing ran.'),
    error: z.string().nullish().describe('Why the run failed; null when it did not.'),
    user_stats: publishedAsFreeForm(UserStats)
      .nullish()
      .describe('Counters of users: `created`, `updated`, `errors`, `deleted`; null when nothing ran.'),
    server_stats: publishedAsFreeForm(ServerStats)
      .nullish()
      .describe('Counters of servers: `created`, `updated`, `removed`, `total`; null when nothing ran.'),
    reason: z.string().nullish().describe('Why; null when no reason is known or was given.'),
  })
  .meta({ id: 'AutoSyncRunResponse' });
