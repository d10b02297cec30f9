import { expect, test } from 'vitest';
import { testApp } from '../../support/test-app.ts';
import { serverUrl } from '../../support/test-database.ts';

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
