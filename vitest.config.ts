import { randomInt } from 'node:crypto';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { restartedWorkers, WORKER_ARGUMENTS } from './tests/support/worker-pool.ts';

/** As measured; the order on a fresh clone, where the test runner has recorded no durations. */
const LONG_FILES =
  /tests.(contract|protocol)|race.(backups|provider-callbacks)\.|system.(panel-of|cabinet-spa|rolling)|ledger.check-ledger\./;

/** The longest files first: whichever worker gets one, the other has enough left to do meanwhile. */
class LongFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification) => LONG_FILES.test(moduleId);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

// A time-out only ends a test that hangs: no test depends on the machine's speed, and a busy machine may take ten times as long.
const limits = { testTimeout: 120_000, hookTimeout: 180_000 };

// Shuffled, so that no test leans on its neighbour; by a fixed seed, so that a landing is judged by the order that was tried.
// TEST_SEED=$RANDOM npm test tries others.
const seed = Number(process.env.TEST_SEED ?? 20261120);
// Properties get other examples in each run (spec 10 G1). PROPERTY_SEED=N repeats those of a run.
// The configuration is read once for each project, the seed is drawn once.
if (process.env.PROPERTY_SEED === undefined) {
  process.env.PROPERTY_SEED = String(randomInt(2 ** 31));
  console.log(`Properties run with PROPERTY_SEED=${process.env.PROPERTY_SEED}`);
}
const sequence = { shuffle: { files: false, tests: true }, seed };
const environment = { TZ: 'Asia/Kathmandu', NODE_ENV: 'test', TEST_SEED: String(seed) };
const properties = ['tests/support/changed-coverage.ts', 'tests/support/property-seed.ts'];
const abandoned = ['tests/support/abandoned-setup.ts'];

// Databases are costly to start, so the files of one worker share a context and a database.
const onDatabase = {
  pool: restartedWorkers,
  execArgv: WORKER_ARGUMENTS,
  isolate: false,
  globalSetup: ['tests/support/global-setup.ts'],
  setupFiles: [...properties, ...abandoned, 'tests/support/worker-setup.ts'],
};

/** 1 where the server has connections for one worker only, see `scripts/test.mjs`. */
const raceWorkers = Number(process.env.RACE_WORKERS ?? 2);
/** A fifth of the time of these tests is waiting, which a third worker uses where the server has connections for it. */
const serviceWorkers = Number(process.env.SERVICE_WORKERS ?? 2);
const systemWorkers = Number(process.env.SYSTEM_WORKERS ?? 3);

export default defineConfig({
  test: {
    env: environment,
    maxWorkers: 2,
    globalSetup: ['tests/support/document-setup.ts'],
    // Node runs the files itself, types stripped: transforming them again in each round costs as much as many of the tests.
    experimental: { viteModuleRunner: false },
    sequence: process.env.TEST_SHUFFLE_FILES
      ? { shuffle: { files: true, tests: true }, seed }
      : { ...sequence, sequencer: LongFilesFirst },
    dangerouslyIgnoreUnhandledErrors: false,
    ...limits,
    // For what another connection, process or timer brings about: `expect.poll` and `eventually` wait as long.
    expect: { poll: { timeout: 60_000, interval: 10 } },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['tests/unit/**/*.test.ts'],
          exclude: ['**/*.iso.test.ts'],
          pool: 'threads',
          isolate: false,
          setupFiles: properties,
        },
      },
      {
        extends: true,
        test: {
          // One project, so that all five folders share the workers and their databases. `scripts/test.mjs` says which folders run on
          // which database.
          name: 'service',
          include: ['tests/{domain,api,contract,realtime,protocol}/**/*.test.ts'],
          exclude: ['**/*.iso.test.ts'],
          ...onDatabase,
          maxWorkers: serviceWorkers,
          // Two workers leave most of 20 connections to the databases that a test opens beside.
          env: { ...environment, TEST_POOL_SIZE: '6' },
        },
      },
      {
        extends: true,
        test: {
          name: 'race',
          include: ['tests/race/**/*.test.ts'],
          ...onDatabase,
          maxWorkers: raceWorkers,
          // A single worker that files share would get all of them as one task: it would grow to the end, and its death would end all of them.
          isolate: raceWorkers === 1,
          sequence: { ...sequence, groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: 'system',
          include: ['tests/system/**/*.test.ts'],
          pool: 'forks',
          // Some copy the template of a database: it is there also when no other project has run before.
          globalSetup: ['tests/support/global-setup.ts'],
          setupFiles: abandoned,
          // Most of its time is waiting, for a process to start or a schedule to come round.
          maxWorkers: systemWorkers,
          sequence: { ...sequence, groupOrder: 2 },
          testTimeout: 900_000,
          hookTimeout: 900_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'isolated',
          include: ['tests/**/*.iso.test.ts'],
          pool: 'forks',
          setupFiles: ['tests/support/changed-coverage.ts', ...abandoned],
        },
      },
    ],
  },
});
