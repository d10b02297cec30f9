import type { App } from '../app.ts';
import { retried } from './retried.ts';

/**
 * Runs one SQL statement that is a whole transaction: the database begins and commits it by itself, which saves two round trips of
 * `inTransaction`. Several changes fit into one statement as a SQL function (prisma/sql). After a deadlock or a write conflict it runs
 * again, and after it the readers of events are told to look; a statement that records no events needs `retried` alone. Inside a
 * transaction it is a part of that transaction.
 * @param statement sends exactly one statement through `app.db`
 */
export async function committedStatement<T>(app: App, statement: () => Promise<T>): Promise<T> {
  const result = await retried(app, statement);
  // Those of a transaction are announced with its commit.
  if (app.db.begin !== null) app.events.announce();
  return result;
}
