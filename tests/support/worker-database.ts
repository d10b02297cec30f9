import { outsideOfTests } from './abandoned-tests.ts';
import { freshDatabase, type TestDatabase } from './test-database.ts';

declare global {
  var testDatabase: Promise<TestDatabase> | undefined;
}

/** The one database of this worker, kept on `globalThis` because files of a worker share a context but not modules. */
export function workerDatabase(): Promise<TestDatabase> {
  globalThis.testDatabase ??= outsideOfTests(() => freshDatabase());
  return globalThis.testDatabase;
}

/** The next file gets another one: what an abandoned test has changed in the schema of this one may not have been undone. */
export async function replaceWorkerDatabase(): Promise<void> {
  const former = globalThis.testDatabase;
  globalThis.testDatabase = undefined;
  await (await former)?.drop();
}
