import { beforeAll } from 'vitest';
import { workerDatabase } from './worker-database.ts';
import { emptyDatabase } from './test-database.ts';

beforeAll(async () => {
  await emptyDatabase(await workerDatabase());
});
