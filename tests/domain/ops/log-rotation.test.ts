import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { FileAppender } from '../../../src/core/log-files/log-files.ts';
import { expiredArchives, lastDueDay, rotateWhenDue } from '../../../src/domain/ops/system-log/rotate-logs.ts';
import { entriesOf } from '../../support/tar-entries.ts';
import { type TestClock, testApp } from '../../support/test-app.ts';

/** Spec 06 section 14, log rotation. */
let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'log-rotation-'));
  await mkdir(join(root, 'logs', 'current'), { recursive: true });
});
afterEach(() => rm(root, { recursive: true }));

const current = (name: string) => join(root, 'logs', 'current', name);
const archive = (name = '') => join(root, 'logs', 'archive', name);
const archives = async () => (await readdir(archive())).filter((name) => !name.startsWith('.')).sort();

async function rotating(environment: Record<string, string> = {}): Promise<{ app: App; clock: TestClock }> {
  const made = await testApp({
    environment: { LOG_ROOT: root, LOG_ROTATION_ENABLED: 'true', TIMEZONE: 'Europe/Moscow', ...environment },
  });
  made.clock.set(new Date('2025-01-31T12:00:00Z'));
  return made;
}

const atMidnight = new Date('2025-01-31T21:00:10Z');

describe('rotateWhenDue', () => {
  test('after the time of the local day: non-empty files into the archive of yesterday, emptied, once', async () => {
    const { app, clock } = await rotating();
    await writeFile(current('bot.log'), 'first\nsecond\n');
    await writeFile(current('error.log'), '');
    expect(await rotateWhenDue(app, 0)).toBeNull();
    clock.set(new Date('2025-01-31T20:59:59Z'));
    expect(await rotateWhenDue(app, 0)).toBeNull();
    clock.set(atMidnight);
    expect(await rotateWhenDue(app, 0)).toEqual([archive('logs_2025-01-31.tar.gz')]);
    expect(entriesOf(gunzipSync(await readFile(archive('logs_2025-01-31.tar.gz'))))).toEqual({ 'bot.log': 'first\nsecond\n' });
    expect((await stat(current('bot.log'))).size).toBe(0);
    await writeFile(current('bot.log'), 'third\n');
    expect(await rotateWhenDue(app, 0)).toBeNull();
    expect(await archives()).toEqual(['logs_2025-01-31.tar.gz']);
  });

  test('without compression a plain tar, and of the files only old archives are deleted', async () => {
    const { app, clock } = await rotating({ LOG_ROTATION_COMPRESS: 'false', LOG_ROTATION_KEEP_DAYS: '2' });
    await rotateWhenDue(app, 0);
    for (const name of ['logs_2025-01-29.tar.gz', 'logs_2025-01-30.tar', 'notes.txt', 'logs_old.tar.gz'])
      await writeFile(archive(name), 'x');
    await writeFile(archive('logs_2025-01-28_2.tar'), 'x');
    await writeFile(current('bot.log'), 'x\n');
    clock.set(atMidnight);
    await rotateWhenDue(app, 0);
    expect(await archives()).toEqual(['logs_2025-01-30.tar', 'logs_2025-01-31.tar', 'logs_old.tar.gz', 'notes.txt']);
  });

  test('switched off it does nothing', async () => {
    const { app } = await rotating({ LOG_ROTATION_ENABLED: 'false' });
    expect(await rotateWhenDue(app, 0)).toBeNull();
    expect(await readdir(join(root, 'logs'))).toEqual(['current']);
  });

  test('several instances on one folder rotate it once, and writers lose no line', async () => {
    const instances = [await rotating(), await rotating()];
    const writers = [1, 2].map(() => new FileAppender(current('bot.log'), () => undefined));
    await rotateWhenDue(instances[0]!.app, 0);
    for (const writer of writers) {
      writer.write('before\n');
      await writer.flush();
    }
    for (const { clock } of instances) clock.set(atMidnight);
    let written = 0;
    let done = false;
    const writing = (async () => {
      while (!done) {
        for (const writer of writers) writer.write(`line ${written++}\n`);
        await Promise.all(writers.map((writer) => writer.flush()));
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    })();
    const made = await Promise.all(instances.map(({ app }) => rotateWhenDue(app, 2_500)));
    done = true;
    await writing;
    await Promise.all(writers.map((writer) => writer.close()));
    expect(made.flatMap((paths) => paths ?? [])).toEqual([archive('logs_2025-01-31.tar.gz')]);
    const archived = entriesOf(gunzipSync(await readFile(archive('logs_2025-01-31.tar.gz'))))['bot.log']!;
    const lines = (archived + (await readFile(current('bot.log'), 'utf8'))).trimEnd().split('\n');
    expect(archived.startsWith('before\nbefore\n')).toBe(true);
    expect(lines.slice(2).sort()).toEqual(Array.from({ length: written }, (_value, n) => `line ${n}`).sort());
  });

  test('files of a rotation that was cut short are archived by the next one, under their day', async () => {
    const { app, clock } = await rotating();
    await rotateWhenDue(app, 0);
    await mkdir(archive('.staged-2025-01-31'), { recursive: true });
    await writeFile(archive('.staged-2025-01-31/bot.log'), 'cut short\n');
    await writeFile(current('bot.log'), 'later\n');
    clock.set(atMidnight);
    await rotateWhenDue(app, 0);
    expect(await archives()).toEqual(['logs_2025-01-30.tar.gz', 'logs_2025-01-31.tar.gz']);
    expect(entriesOf(gunzipSync(await readFile(archive('logs_2025-01-30.tar.gz'))))).toEqual({ 'bot.log': 'cut short\n' });
  });

  test('an archive is sent to the chat, and a failure of the messenger is only logged', async () => {
    const { app, clock } = await rotating({
      LOG_ROTATION_SEND_TO_MESSENGER: 'true',
      LOG_ROTATION_CHAT_ID: '-100500',
      LOG_ROTATION_TOPIC_ID: '7',
    });
    const sent: unknown[] = [];
    const messenger = {
      ...app.ports.messenger,
      isConfigured: () => true,
      sendFile: async (chat: number, kind: string, file: { name?: string }, _html: string, options?: object) => {
        sent.push([chat, kind, file.name, options]);
        throw new Error('away');
      },
    };
    const rotated = { ...app, ports: { ...app.ports, messenger: messenger as unknown as App['ports']['messenger'] } };
    await rotateWhenDue(rotated, 0);
    await writeFile(current('bot.log'), 'x\n');
    clock.set(atMidnight);
    await rotateWhenDue(rotated, 0);
    expect(sent).toEqual([[-100500, 'document', 'logs_2025-01-31.tar.gz', { threadId: 7 }]]);
    expect(await archives()).toEqual(['logs_2025-01-31.tar.gz']);
  });
});

test.each([
  ['2025-01-31T20:59:00Z', '00:00', '2025-01-31'],
  ['2025-01-31T21:00:00Z', '00:00', '2025-02-01'],
  ['2025-01-31T21:00:00Z', '00:01', '2025-01-31'],
  ['2025-03-01T01:00:00Z', '04:00', '2025-03-01'],
])('at %s in Moscow the rotation of %s was last due on %s', (now, time, day) => {
  expect(lastDueDay(new Date(now), 'Europe/Moscow', time)).toBe(day);
});

test('0 kept days keep only the archive that follows', () => {
  expect(expiredArchives(['logs_2025-01-30.tar.gz', 'logs_2025-01-31.tar.gz'], '2025-02-01', 0)).toHaveLength(2);
});
