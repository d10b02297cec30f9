/** What the drill of money runs on: a database of its own, two instances, the fakes of everything outside, people and tariffs. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { PgBoss } from 'pg-boss';
import { assembleService } from '../../../../../src/composition/assemble-service.ts';
import { SANDBOX_HOST_KEY } from '../../../../../src/composition/sandbox-store.ts';
import type { App } from '../../../../../src/core/app.ts';
import type { Database } from '../../../../../src/core/db/database.ts';
import { loadEnv } from '../../../../../src/core/env.ts';
import { createLogger } from '../../../../../src/core/log.ts';
import { createMetrics } from '../../../../../src/core/metrics.ts';
import { createRedactor } from '../../../../../src/core/redaction.ts';
import { CREDENTIAL_ENVIRONMENT, makeToken, signTokens } from '../../bench/credentials.ts';
import { createScratch } from '../../bench/scratch-database.ts';
import { undoAtEnd } from '../cleanup.ts';
import { timeName } from '../fixture.ts';
import { createInstance, type Instance } from '../instance.ts';
import type { SeededRandom } from '../seeded-random.ts';
import { type FakeSystems, startFakeSystems } from './fake-systems.ts';
import { makePeople, makeTariffs, type People, type Tariffs } from './people.ts';

export interface ServiceFixture {
  /** Of this process: the commands of an operator, and service time. It serves no requests and runs no jobs. */
  app: App;
  database: Database;
  fakes: FakeSystems;
  instances: readonly Instance[];
  logFolder: string;
  people: People;
  tariffs: Tariffs;
  tokenOf(userId: number): string;
  apiToken: string;
  /** Kills all instances at once and waits until the database has ended what they had begun. */
  killAll(): Promise<void>;
  startAll(): Promise<void>;
  /** Lets all instances end what they are doing, and stops them. */
  stopAll(): Promise<void>;
  /** Ends the leases of a process that was killed, which would hinder the others for minutes. */
  endLeases(): Promise<void>;
  /** Moves service time while no instance runs: jobs that were being run are free again, as their time limits have passed. */
  passTime(ms: number): Promise<void>;
  /** Moves service time, by less than any lease of it where something is being done. */
  skipTime(ms: number): Promise<void>;
  close(): Promise<void>;
}

/** The drill covers more days than an access token is valid. */
const TOKEN_HOURS = 24 * 365;
const PROVIDERS =
  'cryptobot,heleket,mulenpay,pal24,yookassa,freekassa,kassa_ai,severpay,cloudpayments,tribute,platega,riopay,wata';

const SETTINGS = {
  SANDBOX: 'on',
  SANDBOX_PROVIDERS: PROVIDERS,
  ...CREDENTIAL_ENVIRONMENT,
  // Fakes that are slow on a busy machine would close the cabinet.
  MAINTENANCE_AUTO_ENABLE: 'false',
  DEFAULT_LANGUAGE: 'en',
  // The client names the payer's address.
  TRUSTED_PROXIES: '127.0.0.1',
  MESSENGER_STARS_ENABLED: 'true',
  FREEKASSA_SBP_ENABLED: 'true',
  FREEKASSA_CARD_ENABLED: 'true',
  YOOKASSA_RECURRENT_ENABLED: 'true',
  YOOKASSA_RECURRENT_REQUIRED: 'true',
  ENABLE_AUTOPAY: 'true',
  MONITORING_INTERVAL: '1',
  PAYMENT_VERIFICATION_AUTO_CHECK_ENABLED: 'true',
  PAYMENT_VERIFICATION_AUTO_CHECK_INTERVAL_MINUTES: '1',
  NALOGO_ENABLED: 'true',
  NALOGO_QUEUE_RECEIPT_DELAY: '0',
  NALOGO_QUEUE_CHECK_INTERVAL: '2',
  REFERRAL_WITHDRAWAL_ENABLED: 'true',
  REFERRAL_WITHDRAWAL_MIN_AMOUNT_KOPEKS: '1000',
  REFERRAL_WITHDRAWAL_COOLDOWN_DAYS: '0',
  // The answers need not wait for the panel.
  PROVISION_ANSWER_WAIT_MS: '0',
};

export interface ServiceFixtureOptions {
  serverUrl: string;
  random: SeededRandom;
}

export async function openServiceFixture({ serverUrl, random }: ServiceFixtureOptions): Promise<ServiceFixture> {
  const ends: (() => Promise<unknown>)[] = [];
  const close = undoAtEnd(async () => {
    for (const end of ends.reverse()) await end().catch((error: unknown) => console.error(String(error)));
  });
  try {
    const startedAt = timeName(new Date());
    const logFolder = join(import.meta.dirname, '..', '..', '..', '..', '..', '.tmp', 'drills', `money-${startedAt}`);
    await mkdir(logFolder, { recursive: true });
    const scratch = await createScratch('postgres', serverUrl);
    ends.push(() => scratch.drop());
    const environment = { ...scratch.environment, ...SETTINGS };
    const { service, sandbox } = await assembleService({
      env: loadEnv(environment),
      log: createLogger({ level: 'silent', format: 'json' }),
      metrics: createMetrics(),
      redactor: createRedactor(),
      isReady: () => true,
    });
    ends.push(async () => {
      await sandbox?.close();
      await service.runner.stop(0);
      await service.close();
    });
    const { app, database } = service;
    const boss = new PgBoss({ db: database.jobDatabase, schema: 'jobs', supervise: false, schedule: false, migrate: false });
    boss.on('error', () => undefined);
    await boss.start();
    ends.push(() => boss.stop({ close: false }));
    const instances: Instance[] = [];
    const targets = () => instances.map(({ url }) => url);
    const fakes = await startFakeSystems({ database, secrets: sandbox!.secrets, now: () => app.clock.now(), targets, random });
    ends.push(() => fakes.close());
    for (const name of ['instance-1', 'instance-2']) instances.push(await createInstance(name, environment, logFolder));
    ends.push(async () => {
      await Promise.all(instances.map((instance) => instance.kill()));
      for (const instance of instances) instance.close();
    });
    const endLeases = async () => {
      const old = "UPDATE service_state SET updated_at = now() - interval '1 day' WHERE value ? 'instance' AND key <> $1";
      await database.jobDatabase.executeSql(old, [SANDBOX_HOST_KEY]);
    };
    const startAll = async () => void (await Promise.all(instances.map((instance) => instance.start())));
    const stopAll = async () => void (await Promise.all(instances.map((instance) => instance.stop())));
    // The first start makes the rows of an installation.
    await instances[0]!.start();
    await instances[1]!.start();
    const apiToken = await makeToken(instances[0]!.url, 'drill');
    const tariffs = await makeTariffs(app);
    const people = await makePeople(app);
    const tokens = await signTokens(people.all, TOKEN_HOURS);
    return {
      ...{ app, database, fakes, instances, logFolder, people, tariffs, apiToken, endLeases, startAll, stopAll, close },
      tokenOf: (userId) => tokens.get(userId)!,
      killAll: async () => {
        await Promise.all(instances.map((instance) => instance.kill()));
        await untilQuiet(database);
      },
      passTime: async (ms) => {
        await sandbox!.clock.advance(ms);
        await endLeases();
        await database.jobDatabase.executeSql('UPDATE subscriptions SET provision_lease_until = NULL');
        await database.jobDatabase.executeSql("UPDATE jobs.job SET started_on = now() - interval '1 day' WHERE state = 'active'");
        // The watch over time limits of jobs runs once a minute unless the record of its last run is removed.
        await database.jobDatabase.executeSql('UPDATE jobs.queue SET monitor_claim_on = NULL');
        await boss.supervise();
      },
      skipTime: (ms) => sandbox!.clock.advance(ms),
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** A server process goes on briefly with the statement of a client that was killed. */
export async function untilQuiet(database: Database): Promise<void> {
  for (;;) {
    const [row] = await database.db.sql<{ busy: number }>(
      `SELECT count(*)::int AS busy FROM pg_stat_activity
       WHERE datname = current_database() AND pid <> pg_backend_pid() AND state IN ('active', 'idle in transaction')`,
    );
    if (row!.busy === 0) return;
    await wait(100);
  }
}
