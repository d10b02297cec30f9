import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { freshDatabase, type TestDatabase } from '../support/test-database.ts';
import { anApiToken, emitNumbers, startRealtime, type TestRealtime } from './realtime-server.ts';
import { numbersOf, resume } from './resuming-client.ts';
import { disconnectAll } from './socket-client.ts';

let t: TestApp;
let database: TestDatabase;
let server: TestRealtime;
let token: string;

beforeAll(async () => {
  // Of its own: it ends in timelines that the others have not reached.
  database = await freshDatabase();
  t = await testApp({ database });
  server = await startRealtime(t.app, database);
  token = (await anApiToken(t.app)).token;
});
afterEach(disconnectAll);
afterAll(async () => {
  await server.close();
  await database.drop();
});

const feed = (after?: unknown) => resume(server.url, `/ws?token=${token}`, after);

/** Lets the database say that so many timelines have begun since the present one. */
const beginTimeline = (number: number) =>
  database.jobDatabase.executeSql(
    `CREATE OR REPLACE FUNCTION event_timeline() RETURNS bigint LANGUAGE sql VOLATILE AS
     $$ SELECT ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::bigint + ${number} $$`,
  );

it('08 S5: a position from before a failover continues, while one from before a restore to an earlier point in time begins again', async () => {
  const client = await feed();
  await emitNumbers(t.app, 1, 2);
  await eventually(() => expect(numbersOf(client)).toEqual([1, 2]));
  const position = client.ids.at(-1);

  await beginTimeline(1);
  await emitNumbers(t.app, 3, 3);
  const afterFailover = await feed(position);
  expect(afterFailover.greeting).toMatchObject({ resumed: true });
  await eventually(() => expect(numbersOf(afterFailover)).toEqual([3]));
  const laterPosition = afterFailover.ids.at(-1);

  await beginTimeline(2);
  // As docs/point-in-time-recovery.md does, before anything else is written.
  await database.jobDatabase.executeSql("SELECT emit_event('database.restored', '{}', 'instance', NULL, now())");
  await emitNumbers(t.app, 4, 4);
  await server.bus.refresh();
  for (const old of [position, laterPosition]) {
    const afterRestore = await feed(old);
    expect(afterRestore.greeting).toMatchObject({ resumed: false });
  }

  const fresh = await feed();
  await beginTimeline(3);
  await emitNumbers(t.app, 5, 5);
  await eventually(() => expect(numbersOf(fresh)).toEqual([5]));
  // Issued after the restore.
  const again = await feed(fresh.ids[0]);
  expect(again.greeting).toMatchObject({ resumed: true });
  await eventually(() => expect(numbersOf(again)).toEqual([5]));
});
