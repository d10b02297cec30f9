import type { App } from '../core/app.ts';
import type { Env } from '../core/env.ts';
import type { Logger } from '../core/log.ts';
import type { Metrics } from '../core/metrics.ts';
import { closePasswordHasher } from '../core/password-hasher.ts';
import type { Redactor } from '../core/redaction.ts';
import { authenticateToken } from '../domain/access/authenticate-token.ts';
import { followDefaultToken } from '../domain/access/follow-default-token.ts';
import { authenticateUser } from '../domain/identity/authenticate-user.ts';
import { listCallbackPathProblems } from '../domain/settings/callback-paths.ts';
import { startSchedules } from '../jobs/schedules.ts';
import { attachRealtime } from '../realtime/attach-realtime.ts';
import { readCabinetAccess } from '../realtime/cabinet-access.ts';
import { addressOf } from '../rest/request-context.ts';
import { announce } from './announce.ts';
import { assembleService } from './assemble-service.ts';
import { callbackRoute, registerCallbackRoutes } from './callback-routes.ts';
import { Drain } from './drain.ts';
import { createHttpServer } from './http-server.ts';
import type { Sandbox } from './sandbox.ts';
import { registerSandboxPage } from './sandbox-page.ts';
import { seedInstallation, seedLate } from './seed-installation.ts';

export interface RunningService {
  readonly app: App;
  /** Address on loopback. */
  readonly url: string;
  readonly sandbox: Sandbox | null;
  /**
   * Is not ready any more and closes the sockets at spread times, but serves everything for `drainMs`. Then accepts no new work, finishes
   * running requests, returns unfinished jobs to the queue, closes the database.
   */
  stop(drainMs: number): Promise<void>;
  /** Ends the drain of a running stop at once. */
  endDrain(): void;
}

export interface StartOptions {
  env: Env;
  log: Logger;
  metrics: Metrics;
  redactor: Redactor;
}

/** Starts everything: database, jobs, HTTP, sockets, sandbox. Resolves when requests are served. */
export async function startService({ env, log, metrics, redactor }: StartOptions): Promise<RunningService> {
  const startedAt = performance.now();
  const state = { isStarted: false };
  const drain = new Drain();
  const isReady = () => state.isStarted && !drain.isStopping;
  const assembled = await assembleService({ env, log, metrics, redactor, isReady });
  const { service, sandbox: fakes, version } = assembled;
  const { app, bus, jobs, runner } = service;
  const firstToken = await seedInstallation(app);
  const unfollowToken = followDefaultToken(app);
  const unfollowGate = app.ports.gate.follow();

  const { fastify } = await createHttpServer({
    app,
    metrics,
    callbackRoute: callbackRoute(app),
    isStopping: () => drain.isStopping,
    extend: async (server) => {
      await registerCallbackRoutes(server, app);
      if (fakes) registerSandboxPage(server, fakes);
    },
  });
  await fastify.ready();
  for (const { key, problem } of listCallbackPathProblems(app)) log.warn({ key }, `Callbacks do not arrive as set: ${problem}`);
  const realtime = await attachRealtime({
    httpServer: fastify.server,
    app,
    bus,
    authenticateToken,
    authenticateUser,
    readCabinetAccess,
    clientIp: (request) => addressOf(request, env.trustedProxies),
    metrics,
  });
  await fastify.listen({ host: env.host, port: env.port });
  const address = fastify.server.address();
  const url = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : env.port}`;

  await fakes?.host.start(url);
  await runner.work(app, app.ports.gate);
  const stopSchedules = startSchedules(app, jobs);
  state.isStarted = true;
  await announce({
    app,
    url,
    version,
    migrated: service.migrated,
    firstToken,
    sandbox: fakes,
    startedAt,
    databaseKind: service.database.kind,
  });
  seedLate(app);

  return {
    app,
    url,
    sandbox: fakes,
    endDrain: () => drain.end(),
    stop: async (drainMs) => {
      const drained = drain.begin(drainMs);
      if (drainMs > 0) realtime.drain(drainMs);
      await drained;
      unfollowToken();
      unfollowGate();
      const schedulesStopped = stopSchedules();
      await realtime.close();
      // Finishes running requests. Idle connections are closed only now: a request that is on its way on one would be lost.
      await fastify.close();
      await runner.stop(10_000);
      await fakes?.close();
      await closePasswordHasher();
      await schedulesStopped;
      await service.close();
      metrics.close();
    },
  };
}
