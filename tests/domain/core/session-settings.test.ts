import { expect, test } from 'vitest';
import { openPostgres } from '../../../src/core/db/open-postgres.ts';
import { createLogger } from '../../../src/core/log.ts';
import { testApp } from '../../support/test-app.ts';
import { freshDatabase, migrationsFolder, serverUrl } from '../../support/test-database.ts';

test.runIf(serverUrl !== null)(
  'no session of the pool compiles its statements (left out without a server: TEST_DATABASE_URL)',
  async () => {
    const { app } = await testApp();
    const settings = await Promise.all(
      Array.from({ length: 4 }, () =>
        app.db.sql<{ jit: string }>("SELECT current_setting('jit') AS jit, pg_sleep(0.01)::text AS slept"),
      ),
    );
    expect(settings.map(([row]) => row!.jit)).toEqual(['off', 'off', 'off', 'off']);
  },
);

test.runIf(serverUrl !== null)(
  'spec 08 S3: behind a pooler sessions have their settings from the role, and no statement has a name (left out without a server)',
  async () => {
    const template = await freshDatabase();
    const options = { url: template.url!, directUrl: template.url!, poolSize: 1, statementTimeoutMs: 12_345, migrationsFolder };
    const log = createLogger({ level: 'silent', format: 'json' });
    try {
      const first = await openPostgres({ ...options, log });
      await first.migrate();
      // The pooler opens sessions of its own, later ones with the defaults.
      await first.close();
      const { db, side, close } = await openPostgres({ ...options, log });
      try {
        await db.prisma.user.count();
        await db.begin!(async (tx, sql) => {
          await tx.user.findFirst();
          await sql('SELECT count(*)::int AS users FROM users WHERE id > $1', [0]);
        });
        const settings = await db.sql(
          `SELECT name, setting, source FROM pg_settings
           WHERE name IN ('jit', 'statement_timeout', 'idle_in_transaction_session_timeout') ORDER BY name`,
        );
        expect(settings).toEqual([
          { name: 'idle_in_transaction_session_timeout', setting: '30000', source: 'database user' },
          { name: 'jit', setting: 'off', source: 'database user' },
          { name: 'statement_timeout', setting: '12345', source: 'database user' },
        ]);
        expect(await db.sql('SELECT name FROM pg_prepared_statements')).toEqual([]);
        expect(await side.sql('SELECT 1 AS one')).toEqual([{ one: 1 }]);
      } finally {
        await close();
      }
    } finally {
      await template.drop();
    }
  },
);
