import { hostname } from 'node:os';
import type { App } from '../core/app.ts';
import type { Env } from '../core/env.ts';
import { assertCanListen, listenFailure } from '../core/http/listen-failure.ts';
import type { Logger } from '../core/log.ts';
import type { LogFiles } from '../core/log-files/log-files.ts';
import type { Metrics } from '../core/metrics.ts';
import { closePasswordHasher } from '../core/password-hasher.ts';
import type { Redactor } from '../core/redaction.ts';
import { startTelemetry } from '../core/telemetry/start-telemetry.ts';
import { authenticateToken } from '../domain/access/authenticate-token.ts';
import { followDefaultToken } from '../domain/access/follow-default-token.ts';
import { authenticateUser } from '../domain/identity/authenticate-user.ts';
import { notifyStart } from '../domain/ops/notify-start.ts';
import { followLogSettings } from '../domain/ops/system-log/log-paths.ts';
import { startLogRotation } from '../domain/ops/system-log/rotation-timer.ts';
import { startHeartbeat } from '../domain/payments/heartbeat.ts';
import { isBackupLocation } from '../domain/settings/backup-location.ts';
import { listCallbackPathProblems } from '../domain/settings/callback-paths.ts';
import { startSchedules } from '../jobs/schedules.ts';
import { attachRealtime } from '../realtime/attach-realtime.ts';
import { readCabinetAccess, recheckCabinetAccess } from '../realtime/cabinet-access.ts';
import { addressOf } from '../rest/request-context.ts';
import { announce } from './announce.ts';
import { assembleService } from './assemble-service.ts';
import { callbackRoute, registerCallbackRoutes } from './callback-routes.ts';
import { Drain } from './drain.ts';
import { createHttpServer } from './http-server.ts';
import type { Sandbox } from './sandbox.ts';
import { registerSandboxPage } from './sandbox-page.ts';
import { seedInstallation, seedLate } from './seed-installation.ts';
import { readVersion } from './service.ts';

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
  /** Reports an error after which the process ends; never rejects. */
  reportCrash(error: unknown): Promise<void>;
}

export interface StartOptions {
  env: Env;
  log: Logger;
  logFiles: LogFiles;
  metrics: Metrics;
  redactor: Redactor;
}

/** Starts everything: database, jobs, HTTP, sockets, sandbox. Resolves when requests are served. */
export async function startService({ env, log, logFiles, metrics, redactor }: StartOptions): Promise<RunningService> {
  const startedAt = performance.now();
  await assertCanListen(env.host, env.port);
  const state = { isStarted: false };
  const drain = new Drain();
  const isReady = () => state.isStarted && !drain.isStopping;
  const telemetry = { env: env.telemetry, version: await readVersion(), environment: env.nodeEnv, metrics, log };
  const tracing = await startTelemetry(telemetry);
  const assembled = await assembleService({ env, log, metrics, redactor, tracing, isReady });
  const { service, sandbox: fakes, version } = assembled;
  const { app, bus, jobs, runner, faults } = service;
  const unfollowLogSettings = followLogSettings(app, logFiles);
  const firstToken = await seedInstallation(app);
  const unfollowToken = followDefaultToken(app);
  const unfollowGate = app.ports.gate.follow();
  const heartbeat = startHeartbeat(app);

  const { fastify } = await createHttpServer({
    app,
    metrics,
    tracing,
    callbackRoute: callbackRoute(app),
    isStopping: () => drain.isStopping,
    reportFailure: (operation, error, requestId) => void faults.report('request_failed', operation, error, requestId),
    extend: async (server) => {
      await registerCallbackRoutes(server, app, () => heartbeat.callbackRefused());
      if (fakes) registerSandboxPage(server, fakes);
    },
  });
  await fastify.ready();
  for (const { key, problem } of listCallbackPathProblems(app)) log.warn({ key }, `Callbacks do not arrive as set: ${problem}`);
  const location = app.settings.get('BACKUP_LOCATION');
  if (!isBackupLocation(app, location))
    log.warn({ location }, 'BACKUP_LOCATION has no effect: it is in no folder of BACKUP_ROOTS');
  const realtime = await attachRealtime({
    httpServer: fastify.server,
    app,
    bus,
    authenticateToken,
    authenticateUser,
    readCabinetAccess,
    recheckCabinetAccess,
    clientIp: (request) => addressOf(request, env.trustedProxies),
    metrics,
  });
  await fastify.listen({ host: env.host, port: env.port }).catch((error: unknown) => {
    throw listenFailure(error, env.host, env.port);
  });
  const address = fastify.server.address();
  const url = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : env.port}`;

  await fakes?.host.start(url);
  await runner.work(app, app.ports.gate);
  const stopSchedules = startSchedules(app, jobs);
  const stopRotation = startLogRotation(app);
  state.isStarted = true;
  // Any failure: of a notice; the service has started.
  await notifyStart(app, hostname()).catch((error: unknown) => log.warn({ err: error }, 'the start could not be notified'));
  // Last: who reads it may stop the service at once.
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
  void seedLate(app);

  return {
    app,
    url,
    sandbox: fakes,
    endDrain: () => drain.end(),
    reportCrash: (error) => faults.report('process_crashed', hostname(), error),
    stop: async (drainMs) => {
      const drained = drain.begin(drainMs);
      if (drainMs > 0) realtime.drain(drainMs);
      await drained;
      unfollowToken();
      unfollowGate();
      heartbeat.stop();
      const schedulesStopped = Promise.all([stopSchedules(), stopRotation()]);
      await realtime.close();
      // Finishes running requests. Idle connections are closed only now: a request that is on its way on one would be lost.
      await fastify.close();
      await runner.stop(10_000);
      await fakes?.close();
      await closePasswordHasher();
      await schedulesStopped;
      // Collects the metrics a last time, for which the database is still open.
      await tracing.close();
      await service.close();
      metrics.close();
      unfollowLogSettings();
      await logFiles.close();
    },
  };
}
