import { z } from 'zod';

/** Contract group `Cabinet Admin Apps` (spec 02 section 11). The last two are untyped there. */

export const VpnPanelConfigStatus = z
  .object({ enabled: z.boolean(), config_uuid: z.string().nullish() })
  .meta({ id: 'VpnPanelConfigStatus' });

export const UpdateVpnPanelUuidRequest = z.object({ uuid: z.string().nullish() }).meta({ id: 'UpdateVpnPanelUuidRequest' });

export const AppConfigItem = z.object({ uuid: z.string(), name: z.string(), view_position: z.int() });

/** `config` is the panel's own object, whose names are left as they are. */
export const AppConfigAnswer = AppConfigItem.extend({ config: z.record(z.string(), z.unknown()).nullable() });
