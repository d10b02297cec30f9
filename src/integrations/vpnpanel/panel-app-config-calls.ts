import { z } from 'zod';
import type { VpnPanelPort } from '../../domain/provisioning/ports.ts';
import { requireUuid } from './panel-generation.ts';
import { mustBeFound, type PanelTransport, panelPath } from './panel-transport.ts';
import { readPart } from './read-part.ts';

const entry = z.object({ uuid: z.string(), name: z.string().catch(''), viewPosition: z.int().catch(0) });
const entryWithConfig = entry.extend({ config: z.record(z.string(), z.unknown()).nullable().catch(null) });

/** Configurations of the subscription page; the same calls in both generations of the panel (spec 06 section 9). */
export function createAppConfigCalls(transport: PanelTransport): Pick<VpnPanelPort, 'listAppConfigs' | 'getAppConfig'> {
  const get = (...segments: string[]) =>
    transport.call({ method: 'GET', path: panelPath('subscription-page-configs', ...segments), idempotent: true });
  return {
    listAppConfigs: async () => readPart(z.object({ configs: z.array(entry) }), mustBeFound(await get())).configs,
    async getAppConfig(uuid) {
      const answer = await get(requireUuid(uuid));
      return answer.found ? readPart(entryWithConfig, answer.value) : null;
    },
  };
}
