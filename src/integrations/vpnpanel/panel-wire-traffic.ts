import { z } from 'zod';
import { PanelError, type PanelUserTraffic } from '../../domain/provisioning/ports.ts';

/** Names of the panel's usage statistics, read as leniently as everything else of it (see `panel-wire.ts`). */
const wireUserTraffic = z.object({
  categories: z.array(z.string()).catch([]),
  series: z.array(
    z.object({
      uuid: z.string(),
      name: z.string().catch(''),
      countryCode: z.string().nullish(),
      total: z.coerce.number().catch(0),
      data: z.array(z.coerce.number()).catch([]),
    }),
  ),
});

export function fromWireUserTraffic(value: unknown): PanelUserTraffic {
  const result = wireUserTraffic.safeParse(value);
  if (!result.success) {
    throw new PanelError('unavailable', 'VPN panel sent an answer that cannot be read', { cause: result.error });
  }
  const { categories, series } = result.data;
  return {
    days: categories,
    nodes: series.map((node) => ({
      uuid: node.uuid,
      name: node.name,
      countryCode: node.countryCode ?? '',
      totalBytes: Math.round(node.total),
      dailyBytes: node.data.map(Math.round),
    })),
  };
}
