/**
 * Every operation that is read from standbys answers from sessions that cannot write, as on a standby (spec 08 S10). On a real one, where it
 * would only be read from the primary after all: `tests/race/replica-reads.race.test.ts`.
 */
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Database } from '../../src/core/db/database.ts';
import type { Db } from '../../src/core/db/db.ts';
import { openPostgres } from '../../src/core/db/open-postgres.ts';
import type { ReplicaReads } from '../../src/core/db/replica.ts';
import { createLogger } from '../../src/core/log.ts';
import { readConfig } from '../../src/domain/engagement/wheel/repo.ts';
import { isReadFromReplicas } from '../../src/routers/operation-meta.ts';
import { testServer } from '../support/api.ts';
import { sampleOf } from '../support/matrix-sample.ts';
import { documentOfService, servedRoutes } from '../support/served-routes.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { freshDatabase, migrationsFolder, serverUrl, type TestDatabase } from '../support/test-database.ts';
import { WITH_BAN_SYSTEM } from './ban-system-writes.ts';
import { operationsOf } from './operation-cases.ts';
import { rightRequest, sendUnlimited, wholeRequest } from './right-request.ts';

const routeOf = new Map(servedRoutes.map((route) => [`${route.method} ${route.path}`, route]));
const reads = operationsOf(documentOfService as never)
  .map((operation) => [`${operation.method} ${operation.path}`, operation] as const)
  .filter(([name]) => {
    const route = routeOf.get(name);
    return route !== undefined && isReadFromReplicas(route.meta, route.type);
  });

test('there are lists and statistics', () => {
  expect(reads.length).toBeGreaterThan(150);
});

describe.skipIf(!serverUrl)('from sessions that cannot write (left out without a server: TEST_DATABASE_URL)', () => {
  let database: TestDatabase;
  let readOnly: Database;
  let t: TestApp;
  let server: FastifyInstance;
  const failures: unknown[] = [];
  let statements = 0;

  beforeAll(async () => {
    database = await freshDatabase();
    const url = new URL(database.url!);
    url.searchParams.set('options', '-c default_transaction_read_only=on');
    const log = createLogger({ level: 'silent', format: 'json' });
    readOnly = await openPostgres({ url: url.href, poolSize: 3, statementTimeoutMs: 60_000, migrationsFolder, log });
    const counted: Db = {
      ...readOnly.db,
      primary: database.db,
      sql: (text, values) => {
        statements += 1;
        return readOnly.db.sql(text, values);
      },
    };
    const replica: Pick<ReplicaReads, 'db' | 'isUsable' | 'failed'> = {
      db: counted,
      isUsable: () => true,
      failed: (error) => failures.push(error),
    };
    const db = { ...database.db, replica: replica as ReplicaReads };
    t = await testApp({ environment: WITH_BAN_SYSTEM, database: { ...database, db } });
    server = await testServer(t.app);
    // It has one row, which the first reader makes: on the primary, where the read from a standby has failed.
    await readConfig(database.db, t.clock.now());
  });
  beforeEach(() => {
    failures.length = 0;
  });
  afterAll(async () => {
    await server?.close();
    await readOnly?.close();
    await database?.drop();
    expect(statements).toBeGreaterThan(0);
  });

  test.each(sampleOf(reads, ([name]) => name))('%s', async (name, operation) => {
    const right = await rightRequest(t, server, name, operation);
    const requests = [right, wholeRequest(right, operation)].filter((request) => request !== null);
    for (const { client, path, body } of requests) {
      const reply = await sendUnlimited(t, client, operation.method as 'GET', path, body);
      expect(reply.status, reply.text).toBeLessThan(500);
      expect(failures, path).toEqual([]);
    }
  });
});
