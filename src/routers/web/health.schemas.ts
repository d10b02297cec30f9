import { z } from 'zod';

/** Contract group `health` (spec 06 section 1). */

const HealthFeatureFlags = z
  .object({
    monitoring: z.boolean().describe('Whether the monitoring cycle runs.'),
    maintenance: z.boolean().describe('Whether maintenance mode is available.'),
    reporting: z.boolean().describe('Whether reports are available.'),
    webhooks: z.boolean().describe('Whether webhooks of the messenger are configured.'),
  })
  .meta({ id: 'HealthFeatureFlags' });

export const HealthCheckResponse = z
  .object({
    status: z.string().describe('Always `ok` while the process answers.'),
    api_version: z.string().describe('Version of the Web API.'),
    bot_version: z.string().nullable().describe('Release of the service; null when unknown.'),
    features: HealthFeatureFlags.describe('Which parts of the service are switched on.'),
    /** Kinds of outside systems that are fakes at present (spec 00, SANDBOX). */
    sandbox: z
      .string()
      .array()
      .describe(
        'Outside systems that are replaced by a built-in fake: `vpnpanel`, `payments`, `messenger`, `mail`. Empty in production.',
      ),
  })
  .meta({ id: 'HealthCheckResponse' });

export const DatabaseHealthResponse = z.object({
  status: z
    .enum(['healthy', 'timeout', 'unhealthy'])
    .describe('State of the database: `healthy`, `timeout` (no answer in 5 s) or `unhealthy`.'),
  latency_ms: z.number().nullable().describe('Duration of the probe in milliseconds; null when it did not answer.'),
  pool: z
    .object({
      metrics_available: z.boolean().describe('Whether the pool gives counters; all of them are 0 otherwise.'),
      size: z.int().describe('Greatest number of connections of the pool.'),
      checked_in: z.int().describe('Idle connections.'),
      checked_out: z.int().describe('Connections in use.'),
      overflow: z.int().describe('Connections beyond the size of the pool.'),
      total_connections: z.int().describe('Size of the pool plus overflow.'),
      utilization: z.string().describe('Share of connections in use as text, for example `12.5%`.'),
    })
    .describe('Counters of the connection pool.'),
});

export const PoolMetricsResponse = z.object({
  metrics_available: z.boolean().describe('Whether the pool gives counters; all of them are 0 otherwise.'),
  pool_size: z.int().describe('Greatest number of connections of the pool.'),
  checked_in_connections: z.int().describe('Idle connections.'),
  checked_out_connections: z.int().describe('Connections in use.'),
  overflow_connections: z.int().describe('Connections beyond the size of the pool.'),
  total_connections: z.int().describe('Size of the pool plus overflow.'),
  max_possible_connections: z.int().describe('Greatest number of connections, overflow included.'),
  pool_utilization_percent: z.number().describe('Share of connections in use, percent with two decimals.'),
});

export const LivenessResponse = z.object({ status: z.enum(['ok']).describe('Always `ok` while the process answers.') });

export const ReadinessResponse = z.object({
  status: z.enum(['ok']).describe('Always `ok`; an instance that is not ready answers 503.'),
});
