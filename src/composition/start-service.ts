import { mkdir, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import type { App } from '../core/app.ts';
import type { Env } from '../core/env.ts';
import { assertCanListen, listenFailure } from '../core/http/listen-failure.ts';
import type { Logger } from '../core/log.ts';
import type { LogFiles } from '../core/log-files/log-files.ts';
import type { Metrics } from '../core/metrics.ts';
import { closePasswordHasher } from '../core/password-hasher.ts';
import { COMMAND_LINE, START_COMMAND } from '../core/process-env.ts';
import type { Redactor } from '../core/redaction.ts';
import { startTelemetry } from '../core/telemetry/start-telemetry.ts';
import { seedRoles } from '../domain/access/roles.ts';
import { authenticateToken, ensureDefaultToken, ensureFirstToken, followDefaultToken } from '../domain/access/tokens.ts';
import { syncServersOnce } from '../domain/catalog/server-sync.ts';
import { ensureDefaultTariff } from '../domain/catalog/tariffs.ts';
import { authenticateUser } from '../domain/identity/authenticate.ts';
import { endImport } from '../domain/import/switch-over.ts';
import { notifyStart } from '../domain/ops/report-fault.ts';
import { followLogSettings } from '../domain/ops/system-log/read-system-log.ts';
import { startLogRotation } from '../domain/ops/system-log/rotate-logs.ts';
import { startHeartbeat } from '../domain/payments/heartbeat.ts';
import { seedPaymentMethods } from '../domain/payments/payment-methods.ts';
import { nameFirstOfferTemplates } from '../domain/promo/offers/offers.ts';
import { nameFirstPromoGroup } from '../domain/promo-groups/promo-groups.ts';
import { isBackupLocation } from '../domain/settings/backup-location.ts';
import { listCallbackPathProblems } from '../domain/settings/change-setting.ts';
import { startSchedules } from '../jobs/schedules.ts';
import { attachRealtime } from '../realtime/attach-realtime.ts';
import { readCabinetAccess, recheckCabinetAccess } from '../realtime/cabinet-access.ts';
import { addressOf } from '../rest/request-context.ts';
import { assembleService } from './assemble-service.ts';
import { callbackRoute, registerCallbackRoutes } from './callback-routes.ts';
import { createHttpServer } from './http-server.ts';
import type { Sandbox } from './sandbox.ts';
import { registerSandboxPage } from './sandbox-page.ts';
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
  /** What must be there when the service says that it is ready. */
  beforeReady?: (app: App) => Promise<void>;
}

/** Starts everything: database, jobs, HTTP, sockets, sandbox. Resolves when requests are served. */
export async function startService({
  env,
  log,
  logFiles,
  metrics,
  redactor,
  beforeReady,
}: StartOptions): Promise<RunningService> {
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

  const { fastify, words } = await createHttpServer({
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
    mount: words,
    clientIp: (request) => addressOf(request, env.trustedProxies),
    metrics,
  });
  await fastify.listen({ host: env.host, port: env.port }).catch((error: unknown) => {
    throw listenFailure(error, env.host, env.port);
  });
  const address = fastify.server.address();
  const url = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : env.port}`;

  await fakes?.host.start(url);
  if (fakes?.isFake('messenger')) await saveBotFile(env.dataDir, url, fakes);
  await runner.work(app, app.ports.gate);
  const stopSchedules = startSchedules(app, jobs);
  const stopRotation = startLogRotation(app);
  state.isStarted = true;
  // Any failure: of a notice; the service has started.
  await notifyStart(app, hostname()).catch((error: unknown) => log.warn({ err: error }, 'the start could not be notified'));
  await beforeReady?.(app);
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

/**
 * The time between the order to stop and the time when no connection is accepted any more (spec 08 S11). A load balancer needs it to see
 * that the instance is not ready; until then everything is served.
 */
class Drain {
  #isStopping = false;
  #end: () => void = () => undefined;

  /** From the order to stop on: not ready, and every answer asks its client to connect again. */
  get isStopping(): boolean {
    return this.#isStopping;
  }

  /** Resolves after `ms`, or as soon as `end` is called. */
  begin(ms: number): Promise<void> {
    this.#isStopping = true;
    if (ms <= 0) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#end = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  end(): void {
    this.#end();
  }
}

/**
 * Rows that every installation has (spec 06 section 15, start order). Safe to run on every start and on several instances.
 * @returns the text of the first API token, when this start made it
 */
export async function seedInstallation(app: App): Promise<string | null> {
  await endImport(app);
  await ensureDefaultToken(app);
  const firstToken = app.env.isProduction ? null : await ensureFirstToken(app);
  if (firstToken !== null && app.ports.instance.sandboxKinds().length > 0) {
    await mkdir(app.env.dataDir, { recursive: true });
    await saveTokenFile(app.env.dataDir, firstToken);
  }
  // A failure here must not prevent the start (spec 01 section 12).
  // Any failure: see above.
  await seedRoles(app).catch((error: unknown) => app.log.error({ err: error }, 'roles could not be seeded'));
  await nameFirstPromoGroup(app);
  await nameFirstOfferTemplates(app);
  await seedPaymentMethods(app);
  return firstToken;
}

/** What needs outside systems: runs in the background after requests are served. @returns when all of it has ended; never rejects */
export async function seedLate(app: App): Promise<void> {
  await Promise.all([
    // Any failure: there is no caller; the port asks again when it needs the name.
    askBotName(app).catch((error: unknown) =>
      app.log.warn(
        { err: error },
        'the messenger did not give the name of the bot; set BOT_USERNAME, because links to the bot need it',
      ),
    ),
    // Any failure: there is no caller; the next start repeats it.
    prepareSales(app).catch((error: unknown) =>
      app.log.warn({ err: error }, 'servers and the first tariff could not be set up from the panel at start'),
    ),
  ]);
}

/** The port remembers the answer. */
async function askBotName(app: App): Promise<void> {
  if (app.ports.messengerIdentity.botUsername() !== null || !app.settings.get('BOT_TOKEN')) return;
  await app.ports.messenger.getMe();
}

async function prepareSales(app: App): Promise<void> {
  await syncServersOnce(app);
  await ensureDefaultTariff(app);
}

interface Announcement {
  app: App;
  url: string;
  version: string;
  migrated: readonly string[];
  /** Text of the token made by the first start; shown here and never again. */
  firstToken: string | null;
  sandbox: Sandbox | null;
  startedAt: number;
  databaseKind: 'embedded' | 'postgres';
}

/** Writes the addresses and first steps of a started service: plain text for people, in addition to the log. */
export async function announce(facts: Announcement): Promise<void> {
  const { app, url, sandbox, firstToken, databaseKind } = facts;
  const { env, log } = app;
  const ms = Math.round(performance.now() - facts.startedAt);
  log.info({ url, version: facts.version, database: databaseKind, migrated: facts.migrated.length, ms }, 'ready');
  const fakes = sandbox?.kinds() ?? [];
  if (fakes.length > 0) log.warn({ fakes }, 'SANDBOX: these systems are fakes; nothing reaches a real one of them');
  if (fakes.length > 0 && !fakes.includes('messenger')) {
    log.warn('SANDBOX: BOT_TOKEN is set, so the messenger is the real one: its users get real messages');
  }
  const moved = sandbox?.clock.describe();
  if (moved) log.warn(moved);
  // The console is for the person who typed `npm start`; a production log holds no token.
  if (env.nodeEnv === 'test') return;
  const lines = [
    '',
    `  Subscription Service ${facts.version} is ready after ${(ms / 1000).toFixed(1)} s`,
    `  Address             ${url}`,
    ...(env.isDocsEnabled ? [`  API documentation   ${url}/docs`] : []),
    ...(fakes.length > 0 ? [`  Sandbox             ${url}/sandbox   (fake ${fakes.join(', ')})`] : []),
    ...(firstToken === null ? [] : [`  First API token     ${firstToken}   (shown once; send it as X-API-Key)`]),
    `  Administrator       ${COMMAND_LINE} admin create you@example.com`,
    ...(databaseKind === 'embedded'
      ? [`  Use PostgreSQL      DATABASE_URL=postgresql://user:password@host:5432/database${START_COMMAND}`]
      : []),
    '',
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}

/** The sandbox also leaves the first token in `DATA_DIR/api-token`, readable by its owner alone. */
async function saveTokenFile(dataDir: string, token: string): Promise<void> {
  await writeFile(join(dataDir, 'api-token'), `${token}\n`, { mode: 0o600 });
}

/** What a bot of the fake messenger needs, as a file for `node --env-file`: it is a process of its own (docs/client.md). */
async function saveBotFile(dataDir: string, url: string, { secrets }: Sandbox): Promise<void> {
  const lines = [
    `SERVICE_URL=${url}`,
    `API_KEY_FILE=${resolve(dataDir, 'api-token')}`,
    `BOT_TOKEN=${secrets.botToken}`,
    `BOT_API_ROOT=${url}/sandbox/bot-api`,
    `WEBHOOK_SECRET_TOKEN=${secrets.webhookSecret}`,
  ];
  await mkdir(dataDir, { recursive: true });
  await writeFile(join(dataDir, 'sandbox-bot.env'), `${lines.join('\n')}\n`, { mode: 0o600 });
}
