import { z } from 'zod';
import { publishedAsFreeForm } from '../shared.schemas.ts';
import {
  CleanupStats,
  FromPanelStats,
  Recommendation,
  StatusStats,
  ToPanelStats,
  ValidationStats,
} from '../vpnpanel-sync-data.schemas.ts';

/** Synchronisation and squad migration of the contract group `vpnpanel` (spec 06 sections 10 and 11). */

export const MigrationPath = z.object({ squad_uuid: z.string() });

export const VpnPanelSquadMigrationPreviewResponse = z
  .object({
    squad_uuid: z.string(),
    squad_name: z.string(),
    current_users: z.int(),
    max_users: z.int().nullish(),
    users_to_migrate: z.int(),
  })
  .meta({ id: 'VpnPanelSquadMigrationPreviewResponse' });

export const VpnPanelSyncFromPanelRequest = z
  .object({ mode: z.enum(['all', 'new_only', 'update_only']).default('all') })
  .meta({ id: 'VpnPanelSyncFromPanelRequest' });

const syncResponse = <Data extends z.ZodType>(data: Data) =>
  z
    .object({ success: z.boolean(), detail: z.string().nullish(), data: publishedAsFreeForm(data).nullish() })
    .meta({ id: 'VpnPanelGenericSyncResponse' });

/** One component of the contract, which leaves the data free-form, with the data of each operation. */
export const VpnPanelGenericSyncResponses = {
  fromPanel: syncResponse(FromPanelStats),
  toPanel: syncResponse(ToPanelStats),
  validate: syncResponse(ValidationStats),
  cleanup: syncResponse(CleanupStats),
  statuses: syncResponse(StatusStats),
  recommendations: syncResponse(Recommendation),
};

export const VpnPanelSquadMigrationRequest = z.object({ source_uuid: z.string(), target_uuid: z.string() }).meta({
  id: 'VpnPanelSquadMigrationRequest',
  example: { source_uuid: '0198a2c4-7b1e-7c3a-9d54-3f2b1c0e8a77', target_uuid: '0198a2c4-7b1e-7c3a-9d54-3f2b1c0e8a78' },
});

export const VpnPanelSquadMigrationStats = z
  .object({
    source_uuid: z.string(),
    target_uuid: z.string(),
    total: z.int().default(0),
    updated: z.int().default(0),
    panel_updated: z.int().default(0),
    panel_failed: z.int().default(0),
    source_removed: z.int().default(0),
    target_added: z.int().default(0),
  })
  .meta({ id: 'VpnPanelSquadMigrationStats' });

export const VpnPanelSquadMigrationResponse = z
  .object({
    success: z.boolean(),
    detail: z.string().nullish(),
    error: z.string().nullish(),
    data: VpnPanelSquadMigrationStats.nullish(),
  })
  .meta({ id: 'VpnPanelSquadMigrationResponse' });
