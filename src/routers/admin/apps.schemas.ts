import { z } from 'zod';

/** Contract group `Cabinet Admin Apps` (spec 02 section 11). The last two are untyped there. */

export const VpnPanelConfigStatus = z
  .object({ enabled: z.boolean(), config_uuid: z.string().nullish() })
  .meta({ id: 'VpnPanelConfigStatus' });

export const UpdateVpnPanelUuidRequest = z
  .object({ uuid: z.string().nullish() })
  .meta({ id: 'UpdateVpnPanelUuidRequest', example: { uuid: '0198a2c4-7b1e-7c3a-9d54-3f2b1c0e8a77' } });

export const AppConfigItem = z.object({ uuid: z.string(), name: z.string(), view_position: z.int() });

/** `config` is the panel's own object, whose names are left as they are. */
export const AppConfigAnswer = AppConfigItem.extend({ config: z.record(z.string(), z.unknown()).nullable() });
