import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Database } from '../../../src/core/db/database.ts';
import { openPostgres } from '../../../src/core/db/open-postgres.ts';
import { createLogger } from '../../../src/core/log.ts';
import { type EndingProxy, startEndingProxy } from '../../support/ending-proxy.ts';
import { migrationsFolder, serverUrl } from '../../support/test-database.ts';

describe.skipIf(!serverUrl)('the end of a session in one packet with the end of a statement (left out without a server)', () => {
  let proxy: EndingProxy;
  let database: Database;
  beforeAll(async () => {
    proxy = await startEndingProxy(serverUrl!);
    const log = createLogger({ level: 'silent', format: 'json' });
    database = await openPostgres({ url: proxy.url, poolSize: 1, statementTimeoutMs: 60_000, migrationsFolder, log });
    // The first transaction of a process takes longer than others.
    await database.db.prisma.$transaction((t) => t.$queryRawUnsafe('SELECT 0 AS zero'));
  });
  afterAll(async () => {
    await database?.close();
    await proxy?.close();
  });

  // The connection goes from the first statement to the transaction that waits for it while the packet is read.
  test('ends neither the process nor the pool', async () => {
    const uncaught: unknown[] = [];
    const listeners = process.listeners('uncaughtException');
    process.removeAllListeners('uncaughtException');
    process.on('uncaughtException', (error) => uncaught.push(error));
    try {
      const first = database.db.sql<{ one: number }>('SELECT 1 AS one FROM pg_sleep(2)');
      const second = database.db.prisma
        .$transaction((t) => t.$queryRawUnsafe('SELECT 2 AS two'))
        .then(
          () => 'answered',
          () => 'rejected',
        );
      await proxy.endAfterStatement();
      expect(await first).toEqual([{ one: 1 }]);
      expect(await second).toBe('rejected');
      expect(await database.db.sql<{ three: number }>('SELECT 3 AS three')).toEqual([{ three: 3 }]);
      expect(uncaught).toEqual([]);
    } finally {
      process.removeAllListeners('uncaughtException');
      for (const listener of listeners) process.on('uncaughtException', listener);
    }
  });
});
