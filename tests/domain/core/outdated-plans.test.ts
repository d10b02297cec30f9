/** Two releases on one database: the next one makes a column longer, whose statements the running one has prepared (spec 08 S11). */
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { isConnectionLost, isRetryable, retried } from '../../../src/core/db/db-errors.ts';
import { systemRandom } from '../../../src/core/random.ts';
import { freshDatabase, poolerUrl, serverUrl, type TestDatabase } from '../../support/test-database.ts';

const CONNECTIONS = 3;
const READ = 'SELECT username FROM users WHERE id = $1';

// Behind a pooler no statement has a name, and no plan is kept.
describe.skipIf(!serverUrl || poolerUrl)('a column that became longer (left out without a server)', () => {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await freshDatabase({ poolSize: CONNECTIONS });
    onTestFinished(() => database.drop());
    await onAllConnections();
    await database.jobDatabase.executeSql('ALTER TABLE users ALTER COLUMN username TYPE varchar(300)');
  });

  /** In transactions that all are open at the same time. */
  async function onAllConnections(): Promise<void> {
    const all = Promise.withResolvers<void>();
    let open = 0;
    const read = () =>
      database.db.begin!(async (tx, sql) => {
        await sql(READ, [1]);
        await tx.user.findFirst({ select: { username: true } });
        open += 1;
        if (open === CONNECTIONS) all.resolve();
        await all.promise;
      });
    await Promise.all(Array.from({ length: CONNECTIONS }, read));
  }

  test('fails one statement, which may be repeated, and no other one on any connection', async () => {
    const failure = await database.db.sql(READ, [1]).catch((error: unknown) => error);
    expect([isConnectionLost(failure), isRetryable(failure)]).toEqual([true, true]);
    await onAllConnections();
  });

  test('fails one query of the client, which may be repeated', async () => {
    const failure = await database.db.prisma.user.findFirst({ select: { username: true } }).catch((error: unknown) => error);
    expect([isConnectionLost(failure), isRetryable(failure)]).toEqual([true, true]);
    await onAllConnections();
  });

  test('makes a transaction run twice, and succeed', async () => {
    const { db } = database;
    let attempts = 0;
    const read = () =>
      db.begin!(async (_tx, sql) => {
        attempts += 1;
        return sql(READ, [1]);
      });
    expect(await retried({ db, random: systemRandom } as Parameters<typeof retried>[0], read)).toEqual([]);
    expect(attempts).toBe(2);
  });
});
