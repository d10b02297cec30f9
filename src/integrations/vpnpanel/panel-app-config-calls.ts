import { z } from 'zod';
import { PanelError, type VpnPanelPort } from '../../domain/provisioning/ports.ts';
import { requireUuid } from './panel-generation.ts';
import { mustBeFound, type PanelTransport, panelPath } from './panel-transport.ts';

const entry = z.object({ uuid: z.string(), name: z.string().catch(''), viewPosition: z.int().catch(0) });
const entryWithConfig = entry.extend({ config: z.record(z.string(), z.unknown()).nullable().catch(null) });

function read<T>(schema: z.ZodType<T>, value: unknown): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new PanelError('unavailable', 'VPN panel sent an answer that cannot be read', { cause: result.error });
}

/** Configurations of the subscription page; the same calls in both generations of the panel (spec 06 section 9). */
export function createAppConfigCalls(transport: PanelTransport): Pick<VpnPanelPort, 'listAppConfigs' | 'getAppConfig'> {
  const get = (...segments: string[]) =>
    transport.call({ method: 'GET', path: panelPath('subscription-page-configs', ...segments), idempotent: true });
  return {
    listAppConfigs: async () => read(z.object({ configs: z.array(entry) }), mustBeFound(await get())).configs,
    async getAppConfig(uuid) {
      const answer = await get(requireUuid(uuid));
      return answer.found ? read(entryWithConfig, answer.value) : null;
    },
  };
}
