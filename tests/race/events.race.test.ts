import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPostgres } from '../../src/core/db/open-postgres.ts';
import { EventBus } from '../../src/core/events/event-bus.ts';
import { createLogger } from '../../src/core/log.ts';
import { eventually } from '../support/eventually.ts';
import { inventEvents } from '../support/recorded-events.ts';
import { freshDatabase, migrationsFolder, type TestDatabase } from '../support/test-database.ts';

const WRITERS = 12;
const USERS = 6;
const EVENTS_EACH = 120;
const log = createLogger({ level: 'silent', format: 'json' });

let database: TestDatabase;
const instances: { bus: EventBus; close(): Promise<void>; seen: { id: number; user: number; n: number }[] }[] = [];

/** A bus with a database of its own, as another process has it. */
async function anInstance(url: string) {
  const opened = await openPostgres({ url, poolSize: 2, statementTimeoutMs: 30_000, migrationsFolder, log });
  const bus = new EventBus(opened.side, log);
  await bus.start();
  const seen: { id: number; user: number; n: number }[] = [];
  bus.subscribe(({ id, payload }) => seen.push({ id, user: Number(payload.user), n: Number(payload.n) }));
  return {
    bus,
    seen,
    close: async () => {
      await bus.stop();
      await opened.close();
    },
  };
}

beforeAll(async () => {
  database = await freshDatabase();
  if (!database.url) throw new Error('Races need a PostgreSQL server: set TEST_DATABASE_URL');
  for (let i = 0; i < 3; i++) instances.push(await anInstance(database.url));
});
afterAll(async () => {
  await Promise.all(instances.map((instance) => instance.close()));
  await database?.drop();
});

test('08 L1, L2: while writers overlap, roll back and are killed, and readers are cut off, each instance gets each event once, in order per user', async () => {
  const pool = new pg.Pool({ connectionString: database.url!, max: WRITERS, application_name: 'writer' });
  pool.on('error', () => undefined);
  // Also between the times at which the pool and a user of the connection listen.
  pool.on('connect', (client) => client.on('error', () => undefined));
  await pool.query('CREATE TABLE counted_users (id int PRIMARY KEY, n int NOT NULL DEFAULT 0)');
  // Raw SQL: a table of this test.
  await pool.query('INSERT INTO counted_users SELECT generate_series(1, $1)', [USERS]);
  let isDone = false;
  let killed = 0;
  const writer = async (number: number) => {
    for (let i = 0; i < EVENTS_EACH; i++) {
      const client = await pool.connect();
      try {
        await client.query('BEGIN');
        // Assigns the transaction its id before it waits for the user, so that ids and commits are in another order.
        await client.query('SELECT pg_current_xact_id()');
        const user = 1 + ((number + i) % USERS);
        const { rows } = await client.query('UPDATE counted_users SET n = n + 1 WHERE id = $1 RETURNING n', [user]);
        inventEvents();
        await client.query("SELECT emit_event('counted', $1::jsonb, 'feed', NULL, now())", [
          JSON.stringify({ user, n: rows[0].n }),
        ]);
        await client.query(i % 10 === 3 ? 'ROLLBACK' : 'COMMIT');
        client.release();
      } catch {
        // Killed: committed or not, the table says.
        client.release(true);
      }
    }
  };
  const killer = async () => {
    const admin = new pg.Client({ connectionString: database.url! });
    await admin.connect();
    while (!isDone) {
      for (const name of ['writer', 'subscription-service-beside']) {
        const { rowCount } = await admin.query(
          `SELECT pg_terminate_backend(pid) FROM (SELECT pid FROM pg_stat_activity
             WHERE datname = current_database() AND application_name = $1 ORDER BY random() LIMIT 1) victim`,
          [name],
        );
        killed += rowCount ?? 0;
      }
      await new Promise((resolve) => setTimeout(resolve, 40));
    }
    await admin.end();
  };
  const killing = killer();
  try {
    await Promise.all(Array.from({ length: WRITERS }, (_, number) => writer(number)));
  } finally {
    isDone = true;
  }
  await killing;
  // Raw SQL: an event of this test, read past the service.
  const { rows } = await pool.query<{ id: string; user: number; n: number }>(
    `SELECT id, (payload->>'user')::int AS user, (payload->>'n')::int AS n FROM domain_events WHERE type = 'counted' ORDER BY id`,
  );
  const committed = rows.map((row) => ({ ...row, id: Number(row.id) }));
  expect(committed.length).toBeGreaterThan((WRITERS * EVENTS_EACH) / 2);
  expect(killed).toBeGreaterThan(5);
  for (const { seen } of instances) {
    await eventually(() => expect(seen.length).toBeGreaterThanOrEqual(committed.length));
    expect([...seen].sort((a, b) => a.id - b.id)).toEqual(committed);
    for (let user = 1; user <= USERS; user++) {
      const order = seen.filter((event) => event.user === user).map(({ n }) => n);
      expect(order).toEqual([...order].sort((a, b) => a - b));
    }
  }
  await pool.end();
});
