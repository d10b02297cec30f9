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
import {
  DatabaseHealthResponse,
  HealthCheckResponse,
  LivenessResponse,
  PoolMetricsResponse,
  ReadinessResponse,
} from './health.schemas.ts';

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
