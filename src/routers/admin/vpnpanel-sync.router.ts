import { notConfigured } from '../../domain/provisioning/panel-access.ts';
import {
  panelUnavailable,
  readAutoSync,
  runAutoSyncNow,
  startServerSync,
  switchAutoSync,
} from '../../domain/provisioning/sync/start-sync.ts';
import { adminProcedure, procedureFor, readerFor, router } from '../trpc.ts';
import { toAutoRun, toAutoStatus, toSync, vpnpanelSyncProcedures } from '../vpnpanel-sync-procedures.ts';
import { toWire } from '../wire.ts';
import { editorOf } from './setting-editor.ts';
import {
  AutoSyncRunResponse,
  AutoSyncStatus,
  AutoSyncToggleRequest,
  MigrationPreviewResponse,
  MigrationRequest,
  MigrationResponse,
  SyncMode,
  SyncResponses,
} from './vpnpanel-sync.schemas.ts';

const tags: [string] = ['Cabinet Admin VpnPanel'];
const reading = adminProcedure('vpnpanel:read');
const syncing = adminProcedure('vpnpanel:sync');

export const adminVpnpanelSyncRouter = router({
  ...vpnpanelSyncProcedures({
    reading: readerFor(reading),
    managing: procedureFor(adminProcedure('vpnpanel:manage')),
    syncing: procedureFor(syncing),
    base: '/cabinet/admin/vpnpanel',
    tag: 'Cabinet Admin VpnPanel',
    previewNeedsPanel: false,
    schemas: {
      preview: MigrationPreviewResponse,
      migrationRequest: MigrationRequest,
      fromPanelRequest: SyncMode,
      migration: MigrationResponse,
      sync: SyncResponses,
    },
  }),

  autoStatus: reading
    .meta({
      openapi: {
        method: 'GET',
        path: '/cabinet/admin/vpnpanel/sync/auto/status',
        tags,
        summary: 'State of the automatic synchronisation',
      },
      description: 'Returns times, next run and outcome of the last run of the automatic synchronisation.',
      refuses: [notConfigured],
    })
    .output(toWire(AutoSyncStatus))
    .query(async ({ ctx }) => toAutoStatus(await readAutoSync(ctx.app))),

  toggleAuto: syncing
    .meta({
      openapi: {
        method: 'POST',
        path: '/cabinet/admin/vpnpanel/sync/auto/toggle',
        tags,
        summary: 'Enable or disable the automatic synchronisation',
      },
      description:
        'Switches the automatic synchronisation on or off by storing its setting; the schedule changes on every instance.',
    })
    .input(AutoSyncToggleRequest)
    .output(SyncResponses.toggleAuto)
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
      description:
        'Runs the automatic synchronisation and answers when it has ended: users from the panel, then servers. If one is running, nothing is started.',
    })
    .output(toWire(AutoSyncRunResponse))
    .mutation(async ({ ctx }) => toAutoRun(await runAutoSyncNow(ctx.app, ctx.actor))),

  servers: syncing
    .meta({
      openapi: {
        method: 'POST',
        path: '/cabinet/admin/vpnpanel/sync/servers',
        tags,
        summary: 'Synchronise the servers with the squads',
      },
      description:
        'Reads the internal squads of the panel: new ones become servers that are not on sale, names are refreshed, servers without squad are deleted. An empty answer of the panel is refused.',
      refuses: [panelUnavailable],
    })
    .output(toWire(SyncResponses.servers))
    .mutation(async ({ ctx }) => {
      const { text, ...answer } = toSync(await startServerSync(ctx.app, ctx.actor));
      return { ...answer, message: text };
    }),
});
