/** When backups are made, and where their copies go (spec 06 section 7: Schedule, Notices). */

import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import S3rver from '@20minutes/s3rver';
import { beforeEach, describe, expect, test } from 'vitest';
import { backupFolder } from '../../../src/domain/backups/backup-folder.ts';
import {
  queueDueBackup,
  readTask,
  readTasks,
  requestBackup,
  runTask,
  sendBackup,
} from '../../../src/domain/backups/backup-tasks.ts';
import { runDueDrill } from '../../../src/domain/backups/drill.ts';
import { restoreBackup } from '../../../src/domain/backups/restore-backup.ts';
import { s3BackupStore } from '../../../src/integrations/backup-storage/s3-backup-store.ts';
import { aBackup, appWithFolder, fill } from '../../support/backup-samples.ts';
import { atEndOfFile } from '../../support/end-of-file.ts';
import { storeRow } from '../../support/stored-rows.ts';
import type { TestApp } from '../../support/test-app.ts';
import { workerSandbox } from '../../support/test-sandbox.ts';

const CHAT = -100_800_000_001;
const HOUR = 3_600_000;

beforeEach(async () => {
  const { app } = await appWithFolder();
  await app.db.sql('DELETE FROM backup_tasks WHERE true RETURNING task_id');
  await app.db.sql("DELETE FROM service_state WHERE key LIKE 'backups:%' RETURNING key");
});

const scheduled = async (t: TestApp) =>
  (await readTasks(t.app, { activeOnly: false })).filter(({ origin }) => origin === 'schedule').length;

test('spec 10 O6: a stored location outside of the permitted folders has no effect, one of the environment has', async () => {
  const t = await appWithFolder();
  const at = (stored: string, original: string) => {
    const settings = { ...t.app.settings, get: () => stored, describe: () => ({ original }) };
    return backupFolder({ env: t.app.env, settings: settings as unknown as typeof t.app.settings });
  };
  const standard = join(t.app.env.dataDir, 'backups');
  expect(at('/etc', '/app/data/backups')).toBe(standard);
  expect(at(join(t.app.env.dataDir, 'other'), '/app/data/backups')).toBe(join(t.app.env.dataDir, 'other'));
  expect(at('/srv/elsewhere', '/srv/elsewhere')).toBe('/srv/elsewhere');
});

describe('schedule', () => {
  test('the first one at the next BACKUP_TIME, then every BACKUP_INTERVAL_HOURS, once in the cluster', async () => {
    const t = await appWithFolder({ environment: { BACKUP_TIME: '03:00', BACKUP_INTERVAL_HOURS: '12' } });
    const day = new Date(`${t.clock.now().toISOString().slice(0, 10)}T00:00:00Z`).getTime();
    const at = async (hours: number) => {
      t.clock.set(new Date(day + hours * HOUR));
      await Promise.all([queueDueBackup(t.app), queueDueBackup(t.app)]);
      return scheduled(t);
    };
    expect(await at(1)).toBe(0);
    expect(await at(2.99)).toBe(0);
    expect(await at(3)).toBe(1);
    expect(await at(14)).toBe(1);
    expect(await at(15.01)).toBe(2);
  });

  test('BACKUP_AUTO_ENABLED off: none', async () => {
    const t = await appWithFolder({ environment: { BACKUP_AUTO_ENABLED: 'false' } });
    await queueDueBackup(t.app);
    t.clock.advance(48 * HOUR);
    await queueDueBackup(t.app);
    expect(await scheduled(t)).toBe(0);
  });
});

describe('spec 10 F4: a backup whose process died', () => {
  const jobsOf = (t: TestApp, taskId: string) =>
    t.app.db.sql<{ state: string }>(
      "SELECT state::text AS state FROM jobs.job WHERE name = 'backups.create' AND data->>'taskId' = $1 ORDER BY state",
      [taskId],
    );
  const setJob = (t: TestApp, taskId: string, state: string) =>
    t.app.db.sql(
      "UPDATE jobs.job SET state = $2::jobs.job_state WHERE name = 'backups.create' AND data->>'taskId' = $1 RETURNING id",
      [taskId, state],
    );
  const run = (t: TestApp, taskId: string) => runTask(t.app, taskId, new AbortController().signal);

  test('between its job and the beginning is queued again, once, and completed, while one that waits is left alone', async () => {
    const t = await appWithFolder({ environment: { BACKUP_AUTO_ENABLED: 'false' } });
    const [{ taskId }, waiting] = [await requestBackup(t.app, null, 'api'), await requestBackup(t.app, null, 'api')];
    await setJob(t, taskId, 'failed');
    for (let round = 0; round < 2; round++) await queueDueBackup(t.app);
    expect(await jobsOf(t, taskId)).toEqual([{ state: 'created' }, { state: 'failed' }]);
    expect(await jobsOf(t, waiting.taskId)).toEqual([{ state: 'created' }]);
    await run(t, taskId);
    expect((await readTask(t.app, taskId)).status).toBe('completed');
    // A second job for it, by two instances that looked at once, does nothing.
    await run(t, taskId);
    expect((await readTask(t.app, taskId)).status).toBe('completed');
  });

  test('each time before the beginning is given up after three jobs', async () => {
    const t = await appWithFolder({ environment: { BACKUP_AUTO_ENABLED: 'false' } });
    const { taskId } = await requestBackup(t.app, null, 'api');
    const seen: [string, number][] = [];
    for (let round = 0; round < 5; round++) {
      await t.app.db.sql(
        "UPDATE jobs.job SET state = 'failed' WHERE name = 'backups.create' AND data->>'taskId' = $1 AND state = 'created' RETURNING id",
        [taskId],
      );
      await queueDueBackup(t.app);
      seen.push([(await readTask(t.app, taskId)).status, (await jobsOf(t, taskId)).length]);
    }
    expect(seen).toEqual([
      ['queued', 2],
      ['queued', 3],
      ['failed', 3],
      ['failed', 3],
      ['failed', 3],
    ]);
    expect((await readTask(t.app, taskId)).message).toBe('The process ended before the backup was complete');
  });

  test('is not one whose end is looked at as soon as others may work', async () => {
    const t = await appWithFolder({ environment: { BACKUP_AUTO_ENABLED: 'false' } });
    const { taskId } = await requestBackup(t.app, null, 'api');
    const long = t.app.db.long!;
    const looked: Pick<typeof long, 'alone'> = {
      alone: async (work) => {
        const done = await long.alone(work);
        await queueDueBackup(t.app);
        return done;
      },
    };
    const app = Object.assign({}, t.app, { db: Object.assign({}, t.app.db, { long: Object.assign({}, long, looked) }) });
    await runTask(app, taskId, new AbortController().signal);
    expect((await readTask(t.app, taskId)).status).toBe('completed');
  });

  test('while it ran is ended, and one of the schedule is repeated, once', async () => {
    const t = await appWithFolder({ environment: { BACKUP_TIME: '03:00', BACKUP_INTERVAL_HOURS: '12' } });
    const day = new Date(`${t.clock.now().toISOString().slice(0, 10)}T00:00:00Z`).getTime();
    const look = async (hours: number) => {
      t.clock.set(new Date(day + hours * HOUR));
      await Promise.all([queueDueBackup(t.app), queueDueBackup(t.app)]);
      return (await readTasks(t.app, { activeOnly: false })).filter(({ origin }) => origin === 'schedule');
    };
    const die = async (taskId: string) => {
      await t.app.db.sql("UPDATE backup_tasks SET status = 'running' WHERE task_id = $1 RETURNING task_id", [taskId]);
      await setJob(t, taskId, 'failed');
    };
    await look(1);
    const [first] = await look(3);
    await die(first!.taskId);
    const [ended, second] = await look(3.1);
    expect(ended).toMatchObject({ status: 'failed', message: 'The process ended before the backup was complete' });
    expect(second).toMatchObject({ status: 'queued' });
    await die(second!.taskId);
    expect((await look(3.2)).map(({ status }) => status)).toEqual(['failed', 'failed']);
    // The next one of the schedule has its own repetition.
    const third = (await look(15.1)).at(-1)!;
    await die(third.taskId);
    expect((await look(15.2)).map(({ status }) => status)).toEqual(['failed', 'failed', 'failed', 'queued']);
  });

  test('and one that failed for another reason is not repeated', async () => {
    const t = await appWithFolder({ environment: { BACKUP_TIME: '03:00', BACKUP_INTERVAL_HOURS: '12' } });
    const day = new Date(`${t.clock.now().toISOString().slice(0, 10)}T00:00:00Z`).getTime();
    for (const hours of [1, 3]) {
      t.clock.set(new Date(day + hours * HOUR));
      await queueDueBackup(t.app);
    }
    await t.app.db.sql(
      "UPDATE backup_tasks SET status = 'failed', message = 'The backup failed, see the log' WHERE true RETURNING task_id",
    );
    await queueDueBackup(t.app);
    expect(await scheduled(t)).toBe(1);
  });
});

describe('copies', () => {
  test('to a storage that speaks S3, in parts where it is large', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'backup-s3-'));
    atEndOfFile(() => rm(directory, { recursive: true, force: true, maxRetries: 5 }));
    const server = new S3rver({ address: '127.0.0.1', port: 0, silent: true, directory, configureBuckets: [{ name: 'safe' }] });
    const { port } = await server.run();
    try {
      const store = s3BackupStore({
        bucket: 'safe',
        endpoint: `http://127.0.0.1:${port}`,
        region: 'us-east-1',
        isPathStyle: true,
        credentials: { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' },
      });
      const path = join(directory, 'large');
      const content = Buffer.alloc(65 * 1024 * 1024, 'backup');
      await writeFile(path, content);
      await store.put('backup_large.tar', path, content.length);
      await store.put('backup_small.tar', path, 100);
      const kept = async (name: string) => readFile(join(directory, 'safe', 'backups', `${name}._S3rver_object`));
      expect((await kept('backup_large.tar')).equals(content)).toBe(true);
      expect(await kept('backup_small.tar')).toEqual(content.subarray(0, 100));
      expect((await readdir(join(directory, 'safe', 'backups'))).filter((name) => name.endsWith('_object'))).toHaveLength(2);
    } finally {
      await server.close();
    }
  });

  test('to the chat, encrypted with BACKUP_ARCHIVE_PASSWORD, while one above 50 MB is announced instead', async () => {
    const t = await appWithFolder({
      environment: {
        BACKUP_SEND_ENABLED: 'true',
        BACKUP_SEND_CHAT_ID: String(CHAT),
        BACKUP_SEND_TOPIC_ID: '7',
        BACKUP_ARCHIVE_PASSWORD: 'correct horse',
        ADMIN_NOTIFICATIONS_ENABLED: 'true',
        ADMIN_NOTIFICATIONS_CHAT_ID: String(CHAT),
      },
    });
    await fill(t.app, 3);
    const { name, path } = await aBackup(t.app);
    const sent: { chatId: number; bytes: Uint8Array; threadId: number | undefined }[] = [];
    const { messenger } = t.app.ports;
    const { sendFile } = messenger;
    messenger.sendFile = async (chatId, _kind, file, _html, options) => {
      sent.push({ chatId, bytes: 'bytes' in file ? file.bytes : Buffer.alloc(0), threadId: options?.threadId });
      return { messageId: 1, fileId: null, fileUniqueId: null };
    };
    try {
      await sendBackup(t.app, name, false);
      expect(sent).toEqual([{ chatId: CHAT, bytes: await readFile(path), threadId: 7 }]);
      expect(Buffer.from(sent[0]!.bytes).toString('latin1')).toMatch(/^SBKAES1/);
      await writeFile(join(backupFolder(t.app), 'backup_huge.tar'), Buffer.alloc(51 * 1024 * 1024));
      await sendBackup(t.app, 'backup_huge.tar', false);
      expect(sent).toHaveLength(1);
      const notices = await t.app.db.sql<{ html: string }>(
        "SELECT data ->> 'html' AS html FROM jobs.job WHERE name = 'messenger.send' ORDER BY created_on DESC, ctid DESC LIMIT 1",
      );
      expect(notices[0]!.html).toContain('backup_huge.tar');
    } finally {
      messenger.sendFile = sendFile;
    }
  });
});

test('the content of uploaded files is in the backup and comes back', async () => {
  const t = await appWithFolder();
  const key = 'k'.repeat(32);
  await t.app.ports.mediaStore.put(key, Buffer.from('content of a file'), 'text/plain');
  await storeRow(t.app, 'MediaFile', { fileId: 'backup-test', mediaType: 'document', source: 'upload', storageKey: key });
  const { path } = await aBackup(t.app);
  await t.app.ports.mediaStore.delete(key);
  expect(await restoreBackup(t.app, path, { clearExisting: true, requestedBy: null })).toMatchObject({ success: true });
  expect(await t.app.ports.mediaStore.get(key)).toEqual(Buffer.from('content of a file'));
});

test('BACKUP_INCLUDE_SECRETS off: the archive has none, and a restore keeps those of the running system', async () => {
  const t = await appWithFolder({ environment: { BACKUP_INCLUDE_SECRETS: 'false', BACKUP_COMPRESSION: 'false' } });
  // Raw SQL: settings that the registry does not know.
  const set = (key: string, value: string) =>
    t.app.db.sql(
      'INSERT INTO system_settings (key, value) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = $2 RETURNING key',
      [key, value],
    );
  await set('SMTP_PASSWORD', 'secret-in-the-archive');
  await set('SERVICE_NOTE', 'plain');
  const { path } = await aBackup(t.app);
  const text = await readFile(path, 'latin1');
  expect(text).not.toContain('secret-in-the-archive');
  expect(text).toContain('SERVICE_NOTE');
  await set('SMTP_PASSWORD', 'secret of now');
  await set('SERVICE_NOTE', 'changed');
  expect(await restoreBackup(t.app, path, { clearExisting: true, requestedBy: null })).toMatchObject({ success: true });
  const rows = await t.app.db.sql(
    "SELECT key, value FROM system_settings WHERE key IN ('SMTP_PASSWORD', 'SERVICE_NOTE') ORDER BY key",
  );
  expect(rows).toEqual([
    { key: 'SERVICE_NOTE', value: 'plain' },
    { key: 'SMTP_PASSWORD', value: 'secret of now' },
  ]);
});

// Migrates an empty database, which takes a busy machine minutes.
describe('a drill', { timeout: 600_000 }, () => {
  const drilling = async () => {
    await workerSandbox();
    const t = await appWithFolder({ environment: { BACKUP_DRILL_INTERVAL_HOURS: '24', NODE_ENV: 'test' } });
    await t.app.db.sql("DELETE FROM service_state WHERE key LIKE 'backups:drill%'");
    await fill(t.app, 3);
    const drillNow = async () => {
      await runDueDrill(t.app, new AbortController().signal);
      const [row] = await t.app.db.sql<{ value: { isOk: boolean; at: string; message: string } }>(
        "SELECT value FROM service_state WHERE key = 'backups:drill'",
      );
      return row?.value;
    };
    return { ...t, drillNow };
  };

  test('of a new installation does not wait for a day, once there is a backup', async () => {
    const { app, drillNow } = await drilling();
    expect(await drillNow()).toBeUndefined();
    await aBackup(app);
    expect(await drillNow()).toMatchObject({ isOk: true });
  });

  test('finds a backup that cannot be restored, when it is due', async () => {
    const { app, clock, drillNow } = await drilling();
    const { path } = await aBackup(app);
    const whole = await readFile(path);
    await writeFile(path, whole.subarray(0, whole.length - 100));
    const found = await drillNow();
    expect(found).toMatchObject({ isOk: false, message: expect.stringMatching(/damaged|incomplete/) });
    await writeFile(path, whole);
    clock.advance(23 * HOUR);
    expect(await drillNow()).toEqual(found);
  });
});
