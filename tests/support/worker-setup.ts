import { beforeAll } from 'vitest';
import { setPasswordCost } from '../../src/core/password-hasher.ts';
import { emptyDatabase } from './test-database.ts';
import { workerDatabase } from './worker-database.ts';

// The lowest that bcrypt knows. Whoever examines the cost sets the real one; this line puts it back for the next file.
setPasswordCost(4);

beforeAll(async () => {
  await emptyDatabase(await workerDatabase());
});
