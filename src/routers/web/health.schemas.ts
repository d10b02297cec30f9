import { z } from 'zod';

/** Contract group `health` (spec 06 section 1). */

export const HealthFeatureFlags = z
  .object({ monitoring: z.boolean(), maintenance: z.boolean(), reporting: z.boolean(), webhooks: z.boolean() })
  .meta({ id: 'HealthFeatureFlags' });

export const HealthCheckResponse = z
  .object({
    status: z.string(),
    api_version: z.string(),
    bot_version: z.string().nullable(),
    features: HealthFeatureFlags,
    /** Kinds of outside systems that are fakes at present (spec 00, SANDBOX). */
    sandbox: z.string().array(),
  })
  .meta({ id: 'HealthCheckResponse' });

export const DatabaseHealthResponse = z.object({
  status: z.enum(['healthy', 'timeout', 'unhealthy']),
  latency_ms: z.number().nullable(),
  pool: z.object({
    metrics_available: z.boolean(),
    size: z.int(),
    checked_in: z.int(),
    checked_out: z.int(),
    overflow: z.int(),
    total_connections: z.int(),
    utilization: z.string(),
  }),
});

export const PoolMetricsResponse = z.object({
  metrics_available: z.boolean(),
  pool_size: z.int(),
  checked_in_connections: z.int(),
  checked_out_connections: z.int(),
  overflow_connections: z.int(),
  total_connections: z.int(),
  max_possible_connections: z.int(),
  pool_utilization_percent: z.number(),
});

export const ProbeResponse = z.object({ status: z.enum(['ok']) });
