import { describeHealth, describePool, probeDatabase, requireLive, requireReady } from '../../domain/ops/check-health.ts';
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
    .meta({ openapi: { method: 'GET', path: '/health', tags, summary: 'State of the service and its enabled features' } })
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
    .meta({ openapi: { method: 'GET', path: '/livez', tags, summary: 'Liveness probe: the process answers' } })
    .output(LivenessResponse)
    .query(({ ctx }) => {
      requireLive(ctx.app);
      return { status: 'ok' as const };
    }),

  ready: publicProcedure('web')
    .meta({ openapi: { method: 'GET', path: '/readyz', tags, summary: 'Readiness probe: ready for traffic, else 503' } })
    .output(ReadinessResponse)
    .query(async ({ ctx }) => {
      await requireReady(ctx.app);
      return { status: 'ok' as const };
    }),

  database: webProcedure
    .meta({ openapi: { method: 'GET', path: '/health/database', tags, summary: 'Database probe and pool' } })
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
    .meta({ openapi: { method: 'GET', path: '/metrics/pool', tags, summary: 'Counters of the connection pool' } })
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
