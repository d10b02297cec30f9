/** The queues of background jobs, as an administrator sees them (docs/jobs.md). */
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type ActorClient, adminClient } from '../support/actors.ts';
import { testServer } from '../support/api.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { emptyDatabase } from '../support/test-database.ts';

const PATH = '/cabinet/admin/job-queues';
const HOUR_MS = 3_600_000;
let t: TestApp;
let server: FastifyInstance;
let admin: ActorClient;

beforeAll(async () => {
  t = await testApp();
  server = await testServer(t.app);
});
beforeEach(async () => {
  await emptyDatabase(t.database);
  admin = await adminClient(t.app, server, ['stats:read']);
});
afterAll(() => server.close());

/** A job that has been due since so many hours. */
async function due(queue: 'mail.send' | 'payments.callback', payload: never, hours: number): Promise<void> {
  await t.app.jobs.send(queue, payload);
  await t.app.db.sql(
    `UPDATE jobs.job SET start_after = now() - make_interval(hours => $3::int) WHERE name = $1 AND data @> $2::jsonb RETURNING id`,
    [queue, JSON.stringify(payload), hours],
  );
}

test('queues have what is due, waits for its time and runs, those that lag most first', async () => {
  await due('mail.send', { n: 1 } as never, 1);
  await due('mail.send', { n: 2 } as never, 2);
  await t.app.jobs.send('mail.send', { n: 3 } as never, { startAfter: new Date(t.clock.now().getTime() + HOUR_MS) });
  await due('payments.callback', { callbackId: 1 } as never, 3);
  await due('payments.callback', { callbackId: 2 } as never, 4);
  await t.app.db.sql(`UPDATE jobs.job SET state = 'active' WHERE data @> '{"callbackId": 2}' RETURNING id`);
  const { status, body } = await admin.get(PATH);
  const queues = body.items.filter(({ name }: { name: string }) => ['mail.send', 'payments.callback'].includes(name));
  expect([status, queues]).toEqual([
    200,
    [
      { name: 'payments.callback', due: 1, later: 0, running: 1, lag_seconds: expect.closeTo(3 * 3_600, -2) },
      { name: 'mail.send', due: 2, later: 1, running: 0, lag_seconds: expect.closeTo(2 * 3_600, -2) },
    ],
  ]);
});

test('another administrator is refused', async () => {
  const other = await adminClient(t.app, server, ['users:read']);
  expect((await other.get(PATH)).status).toBe(403);
});
