import { afterAll, afterEach, beforeAll } from 'vitest';
import { setPasswordCost } from '../../src/core/password-hasher.ts';
import { runEndOfFileTasks } from './end-of-file.ts';
import { failOnUndeclaredRefusals } from './refusal-recorder.ts';
import { emptyDatabase } from './test-database.ts';
import { workerDatabase } from './worker-database.ts';

// The lowest cost of bcrypt. Tests of the cost set the real one; this line resets it for the next file.
setPasswordCost(4);

beforeAll(async () => {
  await emptyDatabase(await workerDatabase());
});

afterEach(failOnUndeclaredRefusals);
afterAll(failOnUndeclaredRefusals);
afterAll(runEndOfFileTasks);
