import { auditedWebProcedure, procedureFor, readerFor, router, webProcedure } from '../trpc.ts';
import { vpnpanelSyncProcedures } from '../vpnpanel-sync-procedures.ts';
import {
  VpnPanelGenericSyncResponses,
  VpnPanelSquadMigrationPreviewResponse,
  VpnPanelSquadMigrationRequest,
  VpnPanelSquadMigrationResponse,
  VpnPanelSyncFromPanelRequest,
} from './vpnpanel-sync.schemas.ts';

export const vpnpanelSyncRouter = router(
  vpnpanelSyncProcedures({
    reading: readerFor(webProcedure),
    managing: procedureFor(auditedWebProcedure('vpnpanel:manage')),
    syncing: procedureFor(auditedWebProcedure('vpnpanel:sync')),
    base: '/vpnpanel',
    tag: 'vpnpanel',
    previewNeedsPanel: true,
    schemas: {
      preview: VpnPanelSquadMigrationPreviewResponse,
      migrationRequest: VpnPanelSquadMigrationRequest,
      fromPanelRequest: VpnPanelSyncFromPanelRequest,
      migration: VpnPanelSquadMigrationResponse,
      sync: VpnPanelGenericSyncResponses,
    },
  }),
);
