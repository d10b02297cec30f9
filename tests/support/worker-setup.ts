import { afterAll, beforeAll } from 'vitest';
import { setPasswordCost } from '../../src/core/password-hasher.ts';
import { takeAbandoned } from './abandoned-tests.ts';
import { runEndOfFileTasks } from './end-of-file.ts';
import { emptyDatabase } from './test-database.ts';
import { replaceWorkerDatabase, workerDatabase } from './worker-database.ts';

// The lowest cost of bcrypt. Tests of the cost set the real one; this line resets it for the next file.
setPasswordCost(4);

beforeAll(async () => {
  await emptyDatabase(await workerDatabase());
});

afterAll(async () => {
  await runEndOfFileTasks();
  if (takeAbandoned()) await replaceWorkerDatabase();
});
