import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { App, Ports } from '../../src/core/app.ts';
import { DatabaseSharedCache } from '../../src/core/cache/shared-cache.ts';
import type { Clock } from '../../src/core/clock.ts';
import type { Database } from '../../src/core/db/database.ts';
import { loadEnv } from '../../src/core/env.ts';
import { sqlEventRecorder } from '../../src/core/events/event-recorder.ts';
import { sqlJobSender } from '../../src/core/jobs/job-sender.ts';
import { createLogger } from '../../src/core/log.ts';
import { systemRandom } from '../../src/core/random.ts';
import { createSettingsStore } from '../../src/domain/settings/settings-store.ts';
import { atEndOfFile } from './end-of-file.ts';
import { busOf } from './test-bus.ts';
import { sandboxPorts, TEST_BOT_TOKEN } from './test-sandbox.ts';
import { workerDatabase } from './worker-database.ts';

/** A clock that does not advance until a test sets it; it starts at the real time, so that rows of other tests are not in its future. */
export class TestClock implements Clock {
  #now = new Date();

  now(): Date {
    return new Date(this.#now);
  }

  set(timestamp: Date): void {
    this.#now = timestamp;
  }

  advance(ms: number): void {
    this.#now = new Date(this.#now.getTime() + ms);
  }
}

export interface TestApp {
  app: App;
  clock: TestClock;
  database: Database;
  /** Real adapters on the worker's sandbox servers (`workerSandbox`). */
  ports: Ports;
  cache: DatabaseSharedCache;
}

/** Settings that tests start from; the environment of the test process is not used. */
const TEST_ENVIRONMENT = {
  NODE_ENV: 'test',
  DATA_DIR: join(tmpdir(), 'subscription-service-tests'),
  BOT_TOKEN: TEST_BOT_TOKEN,
  BOT_USERNAME: 'test_bot',
  CABINET_JWT_SECRET: 'tests-only-0123456789abcdef0123456789abcdef',
  CABINET_URL: 'https://cabinet.example.com',
  // No worker runs the pushes that an answer would wait for.
  PROVISION_ANSWER_WAIT_MS: '0',
  PINNED_ANSWER_WAIT_MS: '0',
};

export interface TestAppOptions {
  /** Setting and environment values of this app, e.g. `{ SALES_MODE: 'classic' }`. */
  environment?: Record<string, string>;
  /** Another database than the worker's, see `freshDatabase`. */
  database?: Database;
  clock?: TestClock;
}

/** An `App` on the worker's database with a test clock and the sandbox's fakes behind real adapters. */
export async function testApp(options: TestAppOptions = {}): Promise<TestApp> {
  const database = options.database ?? (await workerDatabase());
  const environment = { ...TEST_ENVIRONMENT, ...options.environment };
  const env = loadEnv(environment);
  const log = createLogger({ level: 'silent', format: 'json' });
  const clock = options.clock ?? new TestClock();
  const cache = new DatabaseSharedCache();
  const bus = await busOf(database);
  cache.follow(bus);
  const settings = createSettingsStore({ environment: env.raw, log });
  const ports = await sandboxPorts({ env, db: database.db, settings, clock, log });
  // Rows of read requests are written shortly after the answer.
  atEndOfFile(() => ports.audit.flush());
  const app: App = {
    env,
    clock,
    random: systemRandom,
    log,
    db: database.db,
    jobs: sqlJobSender(database.db.sql, clock),
    events: sqlEventRecorder(database.db.sql, clock, () => bus.announce()),
    settings,
    cache,
    ports,
  };
  return { app, clock, database, ports, cache };
}
