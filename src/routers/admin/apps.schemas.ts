import { z } from 'zod';

/** Contract group `Cabinet Admin Apps` (spec 02 section 11). The last two are untyped there. */

export const VpnPanelConfigStatus = z
  .object({
    enabled: z.boolean().describe('Whether an app configuration is in force.'),
    config_uuid: z.string().nullish().describe('UUID of the app configuration of the panel; null = none is chosen.'),
  })
  .meta({ id: 'VpnPanelConfigStatus' });

export const UpdateVpnPanelUuidRequest = z
  .object({ uuid: z.string().nullish().describe('UUID of an app configuration of the panel; null or blank = none.') })
  .meta({ id: 'UpdateVpnPanelUuidRequest', example: { uuid: '0198a2c4-7b1e-7c3a-9d54-3f2b1c0e8a77' } });

export const AppConfigItem = z.object({
  uuid: z.string().describe('UUID in the panel.'),
  name: z.string().describe('Name of the configuration of client apps in the panel.'),
  view_position: z.int().describe('Position in the list of the panel.'),
});

/** `config` is the panel's own object, whose names are left as they are. */
export const AppConfigAnswer = AppConfigItem.extend({
  config: z.record(z.string(), z.unknown()).nullable().describe('The layout after the edit.'),
});
