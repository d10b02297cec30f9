import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPostgres } from '../../../src/core/db/open-postgres.ts';
import { toHttp } from '../../../src/core/errors.ts';
import { createLogger } from '../../../src/core/log.ts';
import { requireReady } from '../../../src/domain/ops/check-health.ts';
import { testApp } from '../../support/test-app.ts';
import { freshDatabase, migrationsFolder, serverUrl, type TestDatabase } from '../../support/test-database.ts';

// A database that says it is in recovery while the row says so: functions of the schema `node` hide those of the server.
describe.runIf(serverUrl !== null)('a node in recovery (left out without a server: TEST_DATABASE_URL)', () => {
  let database: TestDatabase;
  let admin: pg.Client;
  beforeAll(async () => {
    database = await freshDatabase({ poolSize: 2 });
    admin = new pg.Client({ connectionString: database.url! });
    await admin.connect();
    // Raw SQL: a table of this test.
    await admin.query(`CREATE SCHEMA node; CREATE TABLE node.state (is_standby boolean); INSERT INTO node.state VALUES (false);
      CREATE FUNCTION node.pg_is_in_recovery() RETURNS boolean LANGUAGE sql AS 'SELECT is_standby FROM node.state'`);
  });
  afterAll(async () => {
    await admin?.end();
    await database?.drop();
  });

  test('spec 08 S2: no session stays on it, so that the instance is ready as soon as its address leads to a primary', async () => {
    const url = new URL(database.url!);
    url.searchParams.set('options', '-c search_path=node,public,pg_catalog');
    const log = createLogger({ level: 'silent', format: 'json' });
    const opened = await openPostgres({ url: url.href, poolSize: 2, statementTimeoutMs: 60_000, migrationsFolder, log });
    const { app } = await testApp({ database: opened });
    const setStandby = async (isStandby: boolean) => {
      await admin.query('UPDATE node.state SET is_standby = $1', [isStandby]);
      await admin.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'subscription-service'",
      );
    };
    await expect(requireReady(app)).resolves.toBeUndefined();
    await setStandby(true);
    await expect.poll(() => requireReady(app).catch((error: { code: string }) => error.code)).toBe('not_ready');
    const refusal = await app.db.sql('SELECT 1 AS one').catch((error: unknown) => error);
    expect(toHttp(refusal)).toMatchObject({ status: 503, headers: { 'Retry-After': '5' } });
    await expect(app.db.prisma.user.count()).rejects.toThrow(/standby|recovery|primary|closed|terminat/i);
    expect(opened.poolCounters()).toMatchObject({ inUse: 0 });
    await admin.query('UPDATE node.state SET is_standby = false');
    // The first question after the change: nothing remembers the answer, and no session is left on the standby.
    await expect(requireReady(app)).resolves.toBeUndefined();
    await opened.close();
  });
});
