import { defineConfig } from 'vitest/config';

// Databases are costly to start, so the files of one worker share a context and a database.
const shared = {
  pool: 'forks' as const,
  isolate: false,
  globalSetup: ['tests/support/global-setup.ts'],
  setupFiles: ['tests/support/worker-setup.ts'],
  testTimeout: 20_000,
  hookTimeout: 60_000,
};

export default defineConfig({
  test: {
    env: { TZ: 'Asia/Kathmandu', NODE_ENV: 'test' },
    maxWorkers: 2,
    // Shuffled, so that no test leans on its neighbour; by a fixed seed, so that a landing is judged by the order that was tried.
    // TEST_SEED=$RANDOM npm test tries another one.
    sequence: { shuffle: { files: false, tests: true }, seed: Number(process.env.TEST_SEED ?? 20261120) },
    dangerouslyIgnoreUnhandledErrors: false,
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['tests/unit/**/*.test.ts'],
          exclude: ['**/*.iso.test.ts'],
          pool: 'threads',
          testTimeout: 20_000,
        },
      },
      { extends: true, test: { name: 'domain', include: ['tests/domain/**/*.test.ts'], ...shared } },
      { extends: true, test: { name: 'api', include: ['tests/api/**/*.test.ts'], ...shared } },
      { extends: true, test: { name: 'contract', include: ['tests/contract/**/*.test.ts'], ...shared } },
      { extends: true, test: { name: 'realtime', include: ['tests/realtime/**/*.test.ts'], ...shared } },
      {
        extends: true,
        test: { name: 'race', include: ['tests/race/**/*.test.ts'], ...shared, maxWorkers: 1, testTimeout: 60_000 },
      },
      {
        extends: true,
        test: {
          name: 'system',
          include: ['tests/system/**/*.test.ts'],
          pool: 'forks',
          maxWorkers: 1,
          testTimeout: 180_000,
          hookTimeout: 180_000,
        },
      },
      { extends: true, test: { name: 'isolated', include: ['tests/**/*.iso.test.ts'], pool: 'forks' } },
    ],
  },
});
