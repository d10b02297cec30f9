/** Values of every type come through an archive unchanged (spec 06 section 7: Values). */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { moveProbes } from '../../support/exact-rows.ts';
import { freshDatabase, type TestDatabase } from '../../support/test-database.ts';

let one: TestDatabase;
let other: TestDatabase;
beforeAll(async () => {
  one = await freshDatabase({ poolSize: 2 });
  other = await freshDatabase({ poolSize: 2 });
});
afterAll(async () => {
  await one.drop();
  await other.drop();
});

test.each([1, 2, 3])('all tables, seed %i', async (seed) => {
  const { from, to } = await moveProbes(one.db, other.db, seed);
  expect(Object.keys(from).length).toBeGreaterThan(100);
  expect(to).toEqual(from);
});
