import { z } from 'zod';
import {
  clockWrong,
  connectionsLost,
  describeHealth,
  describePool,
  notReady,
  probeDatabase,
  requireLive,
  requireReady,
} from '../../domain/ops/check-health.ts';
import { publicProcedure, router, webProcedure } from '../trpc.ts';

/** Contract group `health`. */

const HealthFeatureFlags = z
  .object({
    monitoring: z.boolean().describe('Whether the monitoring cycle runs.'),
    maintenance: z.boolean().describe('Whether maintenance mode is available.'),
    reporting: z.boolean().describe('Whether reports are available.'),
    webhooks: z.boolean().describe('Whether webhooks of the messenger are configured.'),
  })
  .meta({ id: 'HealthFeatureFlags' });

const HealthCheckResponse = z
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

const DatabaseHealthResponse = z.object({
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

const PoolMetricsResponse = z.object({
  metrics_available: z.boolean().describe('Whether the pool gives counters; all of them are 0 otherwise.'),
  pool_size: z.int().describe('Greatest number of connections of the pool.'),
  checked_in_connections: z.int().describe('Idle connections.'),
  checked_out_connections: z.int().describe('Connections in use.'),
  overflow_connections: z.int().describe('Connections beyond the size of the pool.'),
  total_connections: z.int().describe('Size of the pool plus overflow.'),
  max_possible_connections: z.int().describe('Greatest number of connections, overflow included.'),
  pool_utilization_percent: z.number().describe('Share of connections in use, percent with two decimals.'),
});

const LivenessResponse = z.object({ status: z.enum(['ok']).describe('Always `ok` while the process answers.') });

const ReadinessResponse = z.object({
  status: z.enum(['ok']).describe('Always `ok`; an instance that is not ready answers 503.'),
});

const tags: [string] = ['health'];

export const healthRouter = router({
  check: publicProcedure('web')
    .meta({
      openapi: { method: 'GET', path: '/health', tags, summary: 'State of the service and its enabled features' },
      description:
        'Returns the release and which parts of the service are enabled. Does not use the database and needs no credential.',
    })
    .output(HealthCheckResponse)
    .query(({ ctx }) => {
      const health = describeHealth(ctx.app);
      return {
        status: 'ok',
        api_version: health.apiVersion,
        bot_version: health.botVersion,
        features: { monitoring: health.monitoring, maintenance: true, reporting: true, webhooks: health.webhooks },
        sandbox: health.sandbox,
      };
    }),

  live: publicProcedure('web')
    .meta({
      openapi: { method: 'GET', path: '/livez', tags, summary: 'Liveness probe: the process answers' },
      description:
        'Liveness probe for an orchestrator: 200 while the process works, 503 when nothing could be read from the database for two minutes although a new connection to it works: then only a new process helps. Does not use the database itself and needs no credential.',
      refuses: [connectionsLost],
    })
    .output(LivenessResponse)
    .query(({ ctx }) => {
      requireLive(ctx.app);
      return { status: 'ok' as const };
    }),

  ready: publicProcedure('web')
    .meta({
      openapi: { method: 'GET', path: '/readyz', tags, summary: 'Readiness probe: ready for traffic, else 503' },
      description:
        'Readiness probe for a load balancer: 200 while requests may be sent here, 503 during start and shutdown while the database does not answer within a second or accepts no writes, and while the clock of the machine differs from the clock of the database by more than 30 seconds. Needs no credential.',
      refuses: [clockWrong, notReady],
    })
    .output(ReadinessResponse)
    .query(async ({ ctx }) => {
      await requireReady(ctx.app);
      return { status: 'ok' as const };
    }),

  database: webProcedure
    .meta({
      replicas: false,
      openapi: { method: 'GET', path: '/health/database', tags, summary: 'Database probe and pool' },
      description:
        'Sends a probe to the database, waits for at most 5 seconds, and returns its duration and the counters of the connection pool. The status is 200 in every case; read `status`.',
    })
    .output(DatabaseHealthResponse)
    .query(async ({ ctx }) => {
      const probe = await probeDatabase(ctx.app);
      const pool = describePool(ctx.app);
      return {
        status: probe.status,
        latency_ms: probe.latencyMs,
        pool: {
          metrics_available: true,
          size: pool.size,
          checked_in: pool.checkedIn,
          checked_out: pool.checkedOut,
          overflow: 0,
          total_connections: pool.size,
          utilization: `${pool.utilizationPercent.toFixed(1)}%`,
        },
      };
    }),

  pool: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/metrics/pool', tags, summary: 'Counters of the connection pool' },
      description: 'Returns the counters of the connection pool. They are zero where the pool gives none.',
    })
    .output(PoolMetricsResponse)
    .query(({ ctx }) => {
      const pool = describePool(ctx.app);
      return {
        metrics_available: true,
        pool_size: pool.size,
        checked_in_connections: pool.checkedIn,
        checked_out_connections: pool.checkedOut,
        overflow_connections: 0,
        total_connections: pool.size,
        max_possible_connections: pool.size,
        pool_utilization_percent: Math.round(pool.utilizationPercent * 100) / 100,
      };
    }),
});
