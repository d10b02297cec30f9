import { afterAll, afterEach, beforeAll } from 'vitest';
import { setPasswordCost } from '../../src/core/password-hasher.ts';
import { takeAbandoned } from './abandoned-tests.ts';
import { runEndOfFileTasks } from './end-of-file.ts';
import { checkRecordedEvents } from './recorded-events.ts';
import { failOnUndeclaredRefusals } from './refusal-recorder.ts';
import { emptyDatabase } from './test-database.ts';
import { replaceWorkerDatabase, workerDatabase } from './worker-database.ts';

// The lowest cost of bcrypt. Tests of the cost set the real one; this line resets it for the next file.
setPasswordCost(4);

beforeAll(async () => {
  await emptyDatabase(await workerDatabase());
});

afterEach(failOnUndeclaredRefusals);
afterAll(failOnUndeclaredRefusals);
afterAll(async () => {
  await runEndOfFileTasks();
  // An abandoned test may have left the database half-written.
  if (takeAbandoned()) await replaceWorkerDatabase();
  else await checkRecordedEvents(await workerDatabase());
});
