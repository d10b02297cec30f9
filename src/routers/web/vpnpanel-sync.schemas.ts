import { z } from 'zod';
import { publishedAs } from '../../core/zod-structure.ts';
import { FreeForm } from '../shared.schemas.ts';
import {
  CleanupStats,
  FromPanelStats,
  Recommendation,
  StatusStats,
  ToPanelStats,
  ValidationStats,
} from '../vpnpanel-sync-data.schemas.ts';

/** Synchronisation and squad migration of the contract group `vpnpanel`. */

export const MigrationPath = z.object({ squad_uuid: z.string().describe('UUID of the internal squad of the panel.') });

export const VpnPanelSquadMigrationPreviewResponse = z
  .object({
    squad_uuid: z.string().describe('UUID of the server (internal squad of the panel).'),
    squad_name: z.string().describe('Name of the squad.'),
    current_users: z.int().describe('Number of users of the server.'),
    max_users: z.int().nullish().describe('Greatest number of users; null for no cap. In an update 0 removes the cap.'),
    users_to_migrate: z.int().describe('Number of subscriptions that would be moved.'),
  })
  .meta({ id: 'VpnPanelSquadMigrationPreviewResponse' });

export const VpnPanelSyncFromPanelRequest = z
  .object({
    mode: z
      .enum(['all', 'new_only', 'update_only'])
      .default('all')
      .describe('`all`, `new_only` (create missing users) or `update_only` (change known users).'),
  })
  .meta({ id: 'VpnPanelSyncFromPanelRequest' });

const VpnPanelGenericSyncResponse = z
  .object({
    success: z
      .boolean()
      .describe(
        'False for a run that failed or was refused, with the reason in `detail`. A failed run from the panel is true and counts in `errors`.',
      ),
    detail: z.string().nullish().describe('Outcome of the call or the reason of its failure, for people. Not for programs.'),
    data: FreeForm.nullish().describe(
      'Counters and values of the result; null or empty when there are none. Its keys depend on the action.',
    ),
  })
  .meta({ id: 'VpnPanelGenericSyncResponse' });

const syncResponse = <Data extends z.ZodType>(data: Data) =>
  publishedAs(VpnPanelGenericSyncResponse.extend({ data: data.nullish() }), VpnPanelGenericSyncResponse);

/** One component of the contract, which leaves the data free-form, with the data of each operation. */
export const VpnPanelGenericSyncResponses = {
  fromPanel: syncResponse(FromPanelStats),
  toPanel: syncResponse(ToPanelStats),
  validate: syncResponse(ValidationStats),
  cleanup: syncResponse(CleanupStats),
  statuses: syncResponse(StatusStats),
  recommendations: syncResponse(Recommendation),
};

export const VpnPanelSquadMigrationRequest = z
  .object({
    source_uuid: z.string().describe('UUID of the squad to move away from.'),
    target_uuid: z.string().describe('UUID of the squad to move to.'),
  })
  .meta({
    id: 'VpnPanelSquadMigrationRequest',
    example: { source_uuid: '0198a2c4-7b1e-7c3a-9d54-3f2b1c0e8a77', target_uuid: '0198a2c4-7b1e-7c3a-9d54-3f2b1c0e8a78' },
  });

export const VpnPanelSquadMigrationStats = z
  .object({
    source_uuid: z.string().describe('UUID of the squad to move away from.'),
    target_uuid: z.string().describe('UUID of the squad to move to.'),
    total: z.int().default(0).describe('Number of subscriptions that have the old squad.'),
    updated: z.int().default(0).describe('Number of subscriptions moved.'),
    panel_updated: z.int().default(0).describe('Number of users changed in the panel.'),
    panel_failed: z.int().default(0).describe('Number of users whom the panel refused; their subscriptions are unchanged.'),
    source_removed: z.int().default(0).describe('Number of subscriptions that left the old squad.'),
    target_added: z.int().default(0).describe('Number of subscriptions that were not in the new squad before.'),
  })
  .meta({ id: 'VpnPanelSquadMigrationStats' });

export const VpnPanelSquadMigrationResponse = z
  .object({
    success: z
      .boolean()
      .describe(
        'False when the move was stopped, with the code in `error`. Users whom the panel refused count in `panel_failed` and leave it true.',
      ),
    detail: z.string().nullish().describe('How the move went or why it was stopped, for people. Not for programs.'),
    error: z.string().nullish().describe('Machine code of the failure; null when there was none.'),
    data: VpnPanelSquadMigrationStats.nullish().describe('Counters of the move; null when it was refused.'),
  })
  .meta({ id: 'VpnPanelSquadMigrationResponse' });
