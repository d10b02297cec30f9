/** Work that waits in the job queue is part of a backup, like the rows that it names (spec 06 section 7). */
import { beforeAll, describe, expect, test } from 'vitest';
import { restoreBackup } from '../../../src/domain/backups/restore-backup.ts';
import { allJobs } from '../../../src/jobs/all-jobs.ts';
import { aBackup, appWithFolder } from '../../support/backup-samples.ts';
import type { TestApp } from '../../support/test-app.ts';

interface StoredJob {
  queue: string;
  state: string;
  id: string;
  data: { marker: string };
  singletonKey: string | null;
  startAfter: Date;
  retryCount: number;
  policy: string;
}

const QUEUES = allJobs().filter(({ name }) => !name.startsWith('backups.'));
let t: TestApp;
/** Jobs by queue: in their state when the backup was made, and after the restore. */
let before: Map<string, StoredJob[]>;
let after: Map<string, StoredJob[]>;
let message: string;

async function stored(marker: string): Promise<Map<string, StoredJob[]>> {
  const rows = await t.app.db.sql<StoredJob>(
    `SELECT name AS queue, state::text AS state, id, data, singleton_key, start_after, retry_count, policy FROM jobs.job
     WHERE data ->> 'marker' = $1 ORDER BY data ->> 'number', id`,
    [marker],
  );
  return Map.groupBy(rows, ({ queue }) => queue);
}

const send = (name: string, data: object, delayMs = 0, key: string | null = null) =>
  t.app.db.sql("SELECT send_job($1, $2::jsonb, $3, $4::bigint * interval '1 millisecond') AS sent", [
    name,
    JSON.stringify(data),
    key,
    delayMs,
  ]);

beforeAll(async () => {
  t = await appWithFolder();
  await t.app.db.sql("DELETE FROM jobs.job WHERE name NOT LIKE '\\_\\_pgboss%' RETURNING id");
  for (const { name } of QUEUES) {
    await send(name, { marker: 'kept', number: 1 }, 0, 'one');
    await send(name, { marker: 'kept', number: 2 }, 3_600_000, 'two');
    await send(name, { marker: 'kept', number: 3 }, 0, 'three');
    await t.app.db.sql(
      "UPDATE jobs.job SET state = 'active', started_on = now(), retry_count = 1 WHERE name = $1 AND singleton_key = 'three' RETURNING id",
      [name],
    );
    await send(name, { marker: 'done', number: 4 }, 0, 'four');
    await t.app.db.sql("UPDATE jobs.job SET state = 'completed' WHERE name = $1 AND singleton_key = 'four' RETURNING id", [name]);
  }
  before = await stored('kept');
  const { path } = await aBackup(t.app);
  // What has happened since: the work is done, and there is other work, on rows that the restore removes.
  await t.app.db.sql("DELETE FROM jobs.job WHERE data ->> 'marker' = 'kept' RETURNING id");
  for (const { name } of QUEUES) {
    await send(name, { marker: 'later', number: 5 }, 0, 'five');
    await send(name, { marker: 'later', number: 6 }, 0, 'six');
    await t.app.db.sql("UPDATE jobs.job SET state = 'active' WHERE name = $1 AND singleton_key = 'six' RETURNING id", [name]);
  }
  ({ message } = await restoreBackup(t.app, path, { clearExisting: true, requestedBy: null }));
  after = await stored('kept');
});

describe('after a restore', () => {
  test.each(QUEUES.map(({ name }) => name))(
    '%s: waits again, with its payload, time and tries; what ran has to run again',
    async (queue) => {
      expect(message).toMatch(/^Restored/);
      expect(before.get(queue)).toHaveLength(3);
      expect(after.get(queue)).toEqual(before.get(queue)!.map((job) => ({ ...job, state: 'created' })));
    },
  );

  test('nothing waits or runs for rows that are gone', async () => {
    expect(await stored('later')).toEqual(new Map());
  });
});

test('a merge leaves the jobs of the running system, whose rows are still there', async () => {
  await send('mail.send', { marker: 'archived' });
  const { path } = await aBackup(t.app);
  await t.app.db.sql("DELETE FROM jobs.job WHERE data ->> 'marker' = 'archived' RETURNING id");
  await send('mail.send', { marker: 'present' });
  expect(await restoreBackup(t.app, path, { clearExisting: false, requestedBy: null })).toMatchObject({ success: true });
  expect((await stored('present')).get('mail.send')).toHaveLength(1);
  expect(await stored('archived')).toEqual(new Map());
});

test('jobs whose time has passed are left out', async () => {
  await send('mail.send', { marker: 'old' });
  await t.app.db.sql("UPDATE jobs.job SET keep_until = now() - interval '1 second' WHERE data ->> 'marker' = 'old' RETURNING id");
  await send('mail.send', { marker: 'new' });
  const { path } = await aBackup(t.app);
  expect(await restoreBackup(t.app, path, { clearExisting: true, requestedBy: null })).toMatchObject({ success: true });
  expect(await stored('old')).toEqual(new Map());
  expect((await stored('new')).get('mail.send')).toHaveLength(1);
});
