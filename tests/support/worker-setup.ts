import { beforeAll } from 'vitest';
import { emptyDatabase } from './test-database.ts';
import { workerDatabase } from './worker-database.ts';

beforeAll(async () => {
  await emptyDatabase(await workerDatabase());
});
