import { z } from 'zod';
import {
  appConfigNotFound,
  appConfigNotSet,
  chooseAppConfig,
  chosenAppConfig,
  invalidUuid,
  listAppConfigs,
  panelUnavailable,
  readChosenAppConfig,
} from '../../domain/provisioning/app-configs.ts';
import { notConfigured } from '../../domain/provisioning/panel-access.ts';
import { adminProcedure, router } from '../trpc.ts';
import { fromWire, toWire } from '../wire.ts';
import { editorOf } from './setting-editor.ts';

/** Contract group `Cabinet Admin Apps`. The last two are untyped there. */

const VpnPanelConfigStatus = z
  .object({
    enabled: z.boolean().describe('Whether an app configuration is in force.'),
    config_uuid: z.string().nullish().describe('UUID of the app configuration of the panel; null = none is chosen.'),
  })
  .meta({ id: 'VpnPanelConfigStatus' });

const UpdateVpnPanelUuidRequest = z
  .object({ uuid: z.string().nullish().describe('UUID of an app configuration of the panel; null or blank = none.') })
  .meta({ id: 'UpdateVpnPanelUuidRequest', example: { uuid: '0198a2c4-7b1e-7c3a-9d54-3f2b1c0e8a77' } });

const AppConfigItem = z.object({
  uuid: z.string().describe('UUID in the panel.'),
  name: z.string().describe('Name of the configuration of client apps in the panel.'),
  view_position: z.int().describe('Position in the list of the panel.'),
});

/** `config` is the panel's own object, whose names are left as they are. */
const AppConfigAnswer = AppConfigItem.extend({
  config: z.record(z.string(), z.unknown()).nullable().describe('The layout after the edit.'),
});

const tags: [string] = ['Cabinet Admin Apps'];
const ROOT = '/cabinet/admin/apps/vpnpanel';

const statusOf = (configUuid: string | null) => ({ enabled: configUuid !== null, configUuid });

export const adminAppsRouter = router({
  status: adminProcedure('apps:read')
    .meta({
      openapi: { method: 'GET', path: `${ROOT}/status`, tags, summary: 'Which app configuration is in force' },
      description: 'Returns whether an app configuration is in force, and which.',
    })
    .output(toWire(VpnPanelConfigStatus))
    .query(({ ctx }) => statusOf(chosenAppConfig(ctx.app))),

  choose: adminProcedure('apps:edit')
    .meta({
      openapi: { method: 'PUT', path: `${ROOT}/uuid`, tags, summary: 'Choose the app configuration' },
      description:
        'Chooses the configuration of the panel that connection guides are made from; null, blank or nothing chooses none. It applies immediately on every instance, unless the environment sets one. Whether the panel has it is not checked.',
      refuses: [invalidUuid],
    })
    .input(fromWire(UpdateVpnPanelUuidRequest))
    .output(toWire(VpnPanelConfigStatus))
    .mutation(async ({ ctx, input }) => statusOf(await chooseAppConfig(ctx.app, editorOf(ctx.actor), input.uuid ?? null))),

  config: adminProcedure('apps:read')
    .meta({
      openapi: { method: 'GET', path: `${ROOT}/config`, tags, summary: 'Read the chosen app configuration from the panel' },
      description: 'Reads the chosen app configuration from the panel. 502 with the reason when the panel gives no answer.',
      refuses: [appConfigNotSet, appConfigNotFound, panelUnavailable, notConfigured],
    })
    .output(AppConfigAnswer)
    .query(async ({ ctx }) => {
      const { viewPosition, ...config } = await readChosenAppConfig(ctx.app);
      return { ...config, view_position: viewPosition };
    }),

  configs: adminProcedure('apps:read')
    .meta({
      openapi: { method: 'GET', path: `${ROOT}/configs`, tags, summary: 'List the app configurations of the panel' },
      description:
        "Lists the app configurations of the panel, in the panel's order. 502 with the reason when the panel gives no answer.",
      refuses: [panelUnavailable, notConfigured],
    })
    .output(toWire(AppConfigItem.array()))
    .query(({ ctx }) => listAppConfigs(ctx.app)),
});
