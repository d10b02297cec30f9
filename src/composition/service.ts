import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { App, Ports } from '../core/app.ts';
import { DatabaseSharedCache } from '../core/cache/shared-cache.ts';
import type { Clock } from '../core/clock.ts';
import type { Database } from '../core/db/database.ts';
import { DatabaseWatch } from '../core/db/database-watch.ts';
import { isDatabaseUnavailable } from '../core/db/db-errors.ts';
import { openPostgres } from '../core/db/open-postgres.ts';
import { runOutsideTransaction } from '../core/db/root-guard.ts';
import { type Env, EnvError } from '../core/env.ts';
import { EventBus } from '../core/events/event-bus.ts';
import { sqlEventRecorder } from '../core/events/event-recorder.ts';
import type { JobDefinition } from '../core/jobs/define-job.ts';
import { JobRunner } from '../core/jobs/job-runner.ts';
import { sqlJobSender } from '../core/jobs/job-sender.ts';
import type { Logger } from '../core/log.ts';
import type { Metrics } from '../core/metrics.ts';
import { systemRandom } from '../core/random.ts';
import type { Redactor } from '../core/redaction.ts';
import { NO_TRACING, type Tracing } from '../core/telemetry/tracing.ts';
import { readBackupHealth } from '../domain/backups/backup-tasks.ts';
import { readLedgerHealth } from '../domain/ledger/check-ledger.ts';
import { readJobQueues } from '../domain/ops/job-queues.ts';
import type { Fault } from '../domain/ops/report-fault.ts';
import { secretKeys } from '../domain/settings/catalogue/catalogue.ts';
import { createSettingsStore, followSettings } from '../domain/settings/settings-store.ts';
import { allJobs } from '../jobs/all-jobs.ts';
import { migrationsFolder, packageRoot } from './package-root.ts';

/** An assembled service that serves no requests yet: what the server, the command line and the tests share. */
export interface Service {
  readonly app: App;
  readonly database: Database;
  readonly bus: EventBus;
  readonly jobs: readonly JobDefinition[];
  readonly runner: JobRunner;
  /** Receives what fails on this instance. */
  readonly faults: FaultReporter;
  /** Names of migrations applied by this start. */
  readonly migrated: readonly string[];
  close(): Promise<void>;
}

export interface ServiceOptions {
  env: Env;
  log: Logger;
  metrics: Metrics;
  redactor: Redactor;
  tracing?: Tracing | undefined;
  /** Creates the outside systems; called once, before the `App` exists. */
  ports: (parts: {
    database: Database;
    /** The clock of the database. */
    watch: DatabaseWatch;
    bus: EventBus;
    settings: App['settings'];
    log: Logger;
    metrics: Metrics;
  }) => Promise<{ ports: Ports; clock: Clock }>;
}

/** Opens the database `DATABASE_URL` names, else the embedded one in `DATA_DIR`. */
export async function openDatabase(env: Env, log: Logger, tracing: Tracing = NO_TRACING): Promise<Database> {
  if (env.databaseUrl === null) {
    // Loaded only here: a service on a server does not need the embedded one in its memory.
    const { openEmbedded } = await import('../core/db/open-embedded.ts');
    return openEmbedded({ dataDir: env.dataDir, migrationsFolder, tracing });
  }
  return openPostgres({
    url: env.databaseUrl,
    directUrl: env.databaseDirectUrl,
    replicaUrl: env.databaseReplicaUrl,
    poolSize: env.databasePoolSize,
    statementTimeoutMs: env.databaseStatementTimeoutMs,
    migrationsFolder,
    log,
    tracing,
  });
}

/** Opens, migrates and assembles. @throws EnvError when settings given by the environment cannot be used */
export async function createService(options: ServiceOptions): Promise<Service> {
  const { env, log, redactor, metrics, tracing = NO_TRACING } = options;
  const settings = createSettingsStore({ environment: env.raw, log });
  if (settings.problems.length > 0) throw new EnvError(settings.problems);
  const database = await openDatabase(env, log, tracing);
  const watch = new DatabaseWatch({ database, log });
  let unwatch: () => void = () => undefined;
  try {
    unwatch = await watch.follow();
    const migrated = await database.migrate();
    const jobs = allJobs();
    const faults = new FaultReporter();
    const onLastFailure = (queue: string, error: unknown, id: string) => faults.report('job_failed', queue, error, id);
    const runner = new JobRunner(database, log, jobs, { tracing, onLastFailure });
    await runner.install();
    const bus = new EventBus(database.side, log);
    await bus.start();
    const cache = new DatabaseSharedCache();
    cache.follow(bus);
    const { ports, clock } = await options.ports({ database, watch, bus, settings, log, metrics });
    const app: App = {
      env,
      clock,
      random: systemRandom,
      log,
      db: database.db,
      jobs: sqlJobSender(database.db.sql, clock, (queue) => runner.wake(queue), tracing),
      events: sqlEventRecorder(database.db.sql, clock, () => bus.announce()),
      settings,
      cache,
      ports,
    };
    faults.use(app);
    const unfollow = await followSettings(app, settings, bus);
    const hideSecrets = () => {
      for (const key of secretKeys) {
        const value = settings.get(key);
        if (typeof value === 'string') redactor.register([value]);
      }
    };
    hideSecrets();
    settings.onChange(secretKeys, hideSecrets);
    metrics.setPoolSource(() => database.poolCounters());
    if (database.db.replica) metrics.setReplicaSource(database.db.replica.counters);
    metrics.setQueueLagSource(() => queueLag(database));
    metrics.setOutboxSource(() => outboxAge(database));
    metrics.setLedgerSource(() => readLedgerHealth(app));
    metrics.setBackupSource(async () => {
      const { last, drill } = await readBackupHealth(app);
      return { ageSeconds: last?.ageSeconds ?? null, drill };
    });
    return {
      app,
      database,
      bus,
      jobs,
      runner,
      faults,
      migrated,
      close: async () => {
        unwatch();
        await bus.stop();
        await ports.audit.flush();
        unfollow();
        await database.close();
      },
    };
  } catch (error) {
    unwatch();
    await database.close();
    throw error;
  }
}

async function queueLag({ db }: Database): Promise<Record<string, number>> {
  const lagging = (await readJobQueues(db)).filter(({ due }) => due > 0);
  return Object.fromEntries(lagging.map(({ name, lagSeconds }) => [name, lagSeconds]));
}

/** Age of the oldest webhook delivery that is due. */
async function outboxAge(database: Database): Promise<number> {
  const [row] = await database.db.sql<{ seconds: number }>(
    `SELECT coalesce(max(extract(epoch FROM now() - next_retry_at)), 0)::float8 AS seconds FROM webhook_deliveries
     WHERE status = 'pending' AND next_retry_at < now()`,
  );
  return row?.seconds ?? 0;
}

/** The version of this package, from its manifest. */
export async function readVersion(): Promise<string> {
  const manifest = JSON.parse(await readFile(join(packageRoot, 'package.json'), 'utf8')) as { version: string };
  return manifest.version;
}

/** Faults of one source are sent as jobs at most this often by an instance; the job decides whether administrators are notified. */
const PAUSE_MS = 60_000;
/** More than there are queues and operations. */
const MAX_SOURCES = 5_000;

/** Turns failures that this instance sees into jobs `ops.report-fault`. It never fails and never waits in the caller's way. */
export class FaultReporter {
  readonly #sentAt = new Map<string, number>();
  #app: App | null = null;

  /** Faults before this are in the log only. */
  use(app: App): void {
    this.#app = app;
  }

  /** @returns when the job is stored, or was not needed; never rejects */
  async report(kind: Fault['kind'], source: string, error: unknown, reference = ''): Promise<void> {
    const app = this.#app;
    // An unavailable database is the reason of every failure then, and stores no job.
    if (app === null || !app.settings.get('ADMIN_NOTIFICATIONS_ENABLED') || isDatabaseUnavailable(error)) return;
    const fault: Fault = { kind, source: source.slice(0, 60), detail: [nameOf(error), reference].filter(Boolean).join(', ') };
    const key = `${kind}:${fault.source}`;
    const now = performance.now();
    if (now - (this.#sentAt.get(key) ?? Number.NEGATIVE_INFINITY) < PAUSE_MS) return;
    if (this.#sentAt.size >= MAX_SOURCES) this.#sentAt.clear();
    this.#sentAt.set(key, now);
    try {
      await runOutsideTransaction(() => app.jobs.send('ops.report-fault', { ...fault }, { singletonKey: key }));
    } catch (failure) {
      // Any failure: of the report; the fault itself is in the log.
      app.log.warn({ err: failure, kind, source }, 'a fault could not be reported to the administrators');
    }
  }
}

/** Class and code: neither holds data. */
function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const code = 'code' in error && typeof error.code === 'string' ? ` ${error.code.slice(0, 40)}` : '';
  return `${error.name.slice(0, 60)}${code}`;
}
