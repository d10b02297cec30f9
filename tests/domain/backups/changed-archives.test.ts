/** Archives of which a bit, the end or the key is another one (spec 06 section 7: whatever fails, at whatever byte, changes nothing). */

import { existsSync } from 'node:fs';
import { open, readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { backupFolder } from '../../../src/domain/backups/backup-folder.ts';
import { checkArchive } from '../../../src/domain/backups/check-archive.ts';
import { listMigrations, listTables } from '../../../src/domain/backups/repo.ts';
import { restoreBackup } from '../../../src/domain/backups/restore-backup.ts';
import { ArchiveRefused } from '../../../src/domain/backups/types.ts';
import { aBackup, appWithFolder, fill } from '../../support/backup-samples.ts';
import { databaseDigests } from '../../support/database-digests.ts';
import { storeRow } from '../../support/stored-rows.ts';
import { tarOf, untar } from '../../support/tar-members.ts';
import type { TestApp } from '../../support/test-app.ts';

let t: TestApp;
let goodPath: string;
let path: string;
let before: Record<string, string>;

beforeAll(async () => {
  t = await appWithFolder();
  await fill(t.app, 20);
  goodPath = (await aBackup(t.app)).path;
  path = join(backupFolder(t.app), 'backup_changed.tar.gz');
});
beforeEach(async () => {
  before = await databaseDigests(t.app);
});

test('cut off at any place', async () => {
  const whole = await readFile(goodPath);
  const places = Array.from({ length: 40 }, (_value, index) => Math.floor(((index + 0.5) * whole.length) / 40));
  for (const place of [...places, whole.length - 1, whole.length - 8, 20, 1]) {
    await writeFile(path, whole);
    await truncate(path, place);
    const result = await restoreBackup(t.app, path, { clearExisting: true, requestedBy: null });
    expect(result.success, `cut at ${place} of ${whole.length}`).toBe(false);
  }
  expect(await databaseDigests(t.app)).toEqual(before);
});

test('one bit changed at any place, packed or not', async () => {
  const installed = await t.app.db.long!.alone((session) =>
    session.snapshot(async (sql) => ({ migrations: await listMigrations(sql), tables: await listTables(sql) })),
  );
  const check = () => checkArchive(path, { password: null }, installed!.result);
  // The first bytes of a gzip file have its time and the system that made it, of which nothing is used.
  const packed = await readFile(goodPath);
  const members = gunzipSync(packed);
  for (const [content, from] of [
    [packed, 10],
    [tarOf(untar(members)), 0],
  ] as const) {
    await writeFile(path, content);
    await check();
    const random = fc.sample(fc.tuple(fc.integer({ min: from, max: content.length - 1 }), fc.integer({ min: 0, max: 7 })), {
      numRuns: 80,
    });
    const ends = [from, from + 1, content.length - 1, content.length - 8].map((place) => [place, 3] as const);
    // Every byte of a header of the tar archive.
    const header = from === 0 ? Array.from({ length: 512 }, (_value, place) => [place, place % 8] as const) : [];
    for (const [place, bit] of [...random, ...ends, ...header]) {
      const changed = Buffer.from(content);
      changed[place]! ^= 1 << bit;
      await writeFile(path, changed);
      const label = `bit ${bit} of byte ${place} of ${content.length}, packed: ${from > 0}`;
      const answer = await check().then(
        () => null,
        (error: unknown) => error,
      );
      // Some bits of a deflate stream have no meaning, as those that fill its last byte: what is unpacked is the same.
      if (from > 0 && unpacksTo(changed, members)) expect(answer, label).toBeNull();
      else expect(answer, label).toBeInstanceOf(ArchiveRefused);
    }
  }
  expect(await databaseDigests(t.app)).toEqual(before);
});

function unpacksTo(packed: Buffer, members: Buffer): boolean {
  try {
    return gunzipSync(packed).equals(members);
  } catch {
    return false;
  }
}

test('cut off after the check, while it is restored', async () => {
  const key = 'h'.repeat(32);
  const { mediaStore } = t.app.ports;
  await mediaStore.put(key, Buffer.from('content'), 'text/plain');
  await storeRow(t.app, 'MediaFile', { fileId: 'cut-test', mediaType: 'document', source: 'upload', storageKey: key });
  const whole = await readFile((await aBackup(t.app)).path);
  before = await databaseDigests(t.app);
  const { get } = mediaStore;
  for (const share of [0.2, 0.9]) {
    await writeFile(path, whole);
    await mediaStore.delete(key);
    // The content of files is restored after the check and before the rows; the safety backup reads it, too.
    mediaStore.get = async (wanted) => {
      if (existsSync(path)) await truncate(path, Math.floor(whole.length * share));
      return get.call(mediaStore, wanted);
    };
    const result = await restoreBackup(t.app, path, { clearExisting: true, requestedBy: null });
    mediaStore.get = get;
    expect(result).toMatchObject({ success: false, message: expect.stringMatching(/damaged|incomplete/) });
    expect(await mediaStore.get(key)).toBeNull();
    expect(await databaseDigests(t.app)).toEqual(before);
  }
});

test('one bit changed in an encrypted one, one with another key, and one that is cut off', async () => {
  const sealing = await appWithFolder({ environment: { BACKUP_ARCHIVE_PASSWORD: 'correct horse' } });
  const sealed = await aBackup(sealing.app);
  before = await databaseDigests(t.app);
  const whole = await readFile(sealed.path);
  expect(whole.subarray(0, 7).toString()).toBe('SBKAES1');
  const restore = (app = sealing.app, target = path) => restoreBackup(app, target, { clearExisting: true, requestedBy: null });
  for (const place of [9, 40, 70_000, whole.length - 1].filter((at) => at < whole.length)) {
    await writeFile(path, whole);
    const file = await open(path, 'r+');
    await file.write(Buffer.from([whole[place]! ^ 1]), 0, 1, place);
    await file.close();
    expect((await restore()).success, `bit at ${place}`).toBe(false);
  }
  for (const place of [30, 31, whole.length - 16, whole.length - 1]) {
    await writeFile(path, whole.subarray(0, place));
    expect((await restore()).success, `cut at ${place}`).toBe(false);
  }
  const other = await appWithFolder({ environment: { BACKUP_ARCHIVE_PASSWORD: 'wrong' } });
  expect(await restore(other.app, sealed.path)).toMatchObject({
    success: false,
    message: expect.stringMatching(/another password/),
  });
  expect(await databaseDigests(t.app)).toEqual(before);
  expect(await restore(sealing.app, sealed.path)).toMatchObject({ success: true });
});
