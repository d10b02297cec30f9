import { z } from 'zod';
import { publishedAs } from '../../core/zod-structure.ts';
import { notConfigured } from '../../domain/provisioning/panel-access.ts';
import {
  panelUnavailable,
  readAutoSync,
  runAutoSyncNow,
  startServerSync,
  switchAutoSync,
} from '../../domain/provisioning/sync/start-sync.ts';
import { FreeForm, publishedAsFreeForm, Timestamp } from '../shared.schemas.ts';
import { adminProcedure, procedureFor, readerFor, router } from '../trpc.ts';
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
import { toAutoRun, toAutoStatus, toSync, vpnpanelSyncProcedures } from '../vpnpanel-sync-procedures.ts';
import {
  VpnPanelSquadMigrationPreviewResponse,
  VpnPanelSquadMigrationRequest,
  VpnPanelSquadMigrationStats,
  VpnPanelSyncFromPanelRequest,
} from '../web/vpnpanel-sync.schemas.ts';
import { toWire } from '../wire.ts';
import { editorOf } from './setting-editor.ts';

/** Synchronisation and squad migration of the contract group `Cabinet Admin VpnPanel`: the Web API's shapes under their names here. */

const MigrationPreviewResponse = VpnPanelSquadMigrationPreviewResponse.extend({}).meta({ id: 'MigrationPreviewResponse' });

const MigrationRequest = VpnPanelSquadMigrationRequest.extend({}).meta({
  id: 'MigrationRequest',
  example: { source_uuid: '0198a2c4-7b1e-7c3a-9d54-3f2b1c0e8a77', target_uuid: '0198a2c4-7b1e-7c3a-9d54-3f2b1c0e8a78' },
});

const MigrationStats = VpnPanelSquadMigrationStats.extend({}).meta({ id: 'MigrationStats' });

const MigrationResponse = z
  .object({
    success: z
      .boolean()
      .describe(
        'Whether the move is complete or continues in the background; false when a failure stopped it, which `error` names.',
      ),
    message: z.string().nullish().describe('Sentence for people that describes the outcome. Not for programs.'),
    error: z.string().nullish().describe('Machine code of the failure; null when there was none.'),
    data: MigrationStats.nullish().describe('Counters of the move; null when it was refused.'),
  })
  .meta({ id: 'MigrationResponse' });

const SyncMode = VpnPanelSyncFromPanelRequest.extend({}).meta({ id: 'SyncMode' });

const SyncResponse = z
  .object({
    success: z
      .boolean()
      .describe(
        'False for a run that failed or was refused; a failed run from the panel is true and counts in `errors`. For the automatic synchronisation: false when the environment overrides the setting.',
      ),
    message: z.string().nullish().describe('Sentence for people that describes the outcome. Not for programs.'),
    data: FreeForm.nullish().describe(
      'Counters and values of the result; null or empty when there are none. Its keys depend on the action.',
    ),
  })
  .meta({ id: 'SyncResponse' });

const syncResponse = <Data extends z.ZodType>(data: Data) =>
  publishedAs(SyncResponse.extend({ data: data.nullish() }), SyncResponse);

/** One component of the contract, which leaves the data free-form, with the data of each operation. */
const SyncResponses = {
  fromPanel: syncResponse(FromPanelStats),
  toPanel: syncResponse(ToPanelStats),
  validate: syncResponse(ValidationStats),
  cleanup: syncResponse(CleanupStats),
  statuses: syncResponse(StatusStats),
  recommendations: syncResponse(Recommendation),
  toggleAuto: syncResponse(z.object({ enabled: z.boolean() })),
  servers: syncResponse(ServerStats.partial().extend(Running)),
};

const AutoSyncStatus = z
  .object({
    enabled: z.boolean().describe('Whether the synchronisation runs by itself at `times`.'),
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

const AutoSyncToggleRequest = z
  .object({ enabled: z.boolean().describe('Whether the synchronisation is to run by itself at its times of the day.') })
  .meta({ id: 'AutoSyncToggleRequest' });

const AutoSyncRunResponse = z
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
