/** Archives that must be refused with nothing changed (spec 06 section 7, restore 1 and 2; section 17, hazard 2). */
import { createHash } from 'node:crypto';
import { open, readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { tarEnd, tarHeader, tarPadding } from '../../../src/core/tar-format.ts';
import { encrypted } from '../../../src/domain/backups/encryption.ts';
import { backupFolder } from '../../../src/domain/backups/folder.ts';
import { restoreBackup } from '../../../src/domain/backups/restore-backup.ts';
import { aBackup, appWithFolder, fill } from '../../support/backup-samples.ts';
import { databaseDigests } from '../../support/database-digests.ts';
import type { TestApp } from '../../support/test-app.ts';

let t: TestApp;
/** Members of a good archive, by name, in their order. */
let good: Map<string, Buffer>;
let goodPath: string;
let path: string;

beforeAll(async () => {
  t = await appWithFolder();
  await fill(t.app, 20);
  goodPath = (await aBackup(t.app)).path;
  good = untar(gunzipSync(await readFile(goodPath)));
  path = join(backupFolder(t.app), 'backup_hostile.tar.gz');
});

function untar(tar: Buffer): Map<string, Buffer> {
  const members = new Map<string, Buffer>();
  for (let at = 0; tar[at] !== 0; ) {
    const name = tar.toString('latin1', at, at + 100).replace(/\0.*$/s, '');
    const size = Number.parseInt(tar.toString('latin1', at + 124, at + 135), 8);
    members.set(name, tar.subarray(at + 512, at + 512 + size));
    at += 512 + Math.ceil(size / 512) * 512;
  }
  return members;
}

type Member = [name: string, content: Buffer, change?: (header: Buffer) => void];

function tarOf(members: Iterable<Member>): Buffer {
  const parts: Buffer[] = [];
  for (const [name, content, change] of members) {
    const header = tarHeader(name, content.length, new Date(0));
    if (change) {
      change(header);
      header.fill(' ', 148, 156);
      header.write(
        `${header
          .reduce((sum, byte) => sum + byte, 0)
          .toString(8)
          .padStart(6, '0')}\0 `,
        148,
        'latin1',
      );
    }
    parts.push(header, content, tarPadding(content.length));
  }
  return Buffer.concat([...parts, tarEnd()]);
}

const packed = (members: Iterable<Member>) => gzipSync(tarOf(members));
const json = (name: string) => JSON.parse(good.get(name)!.toString());
const withMember = (name: string, content: Buffer | string): Member[] =>
  [...good].map(([each, bytes]) => [each, each === name ? Buffer.from(content) : bytes]);
const changedMetadata = (change: (metadata: Record<string, unknown>) => void) => {
  const metadata = json('metadata.json');
  change(metadata);
  return packed(withMember('metadata.json', JSON.stringify(metadata)));
};
// biome-ignore lint/suspicious/noExplicitAny: a test changes any part of a document
const changedSchema = (change: (schema: any) => void) => {
  const schema = json('schema.json');
  change(schema);
  return packed(withMember('schema.json', JSON.stringify(schema)));
};
/** Other rows of a table, with a checksum and counts that fit them. */
const changedRows = (table: string, change: (lines: string[]) => string[]) => {
  const name = `tables/${table}.ndjson`;
  const lines = change(good.get(name)!.toString().trimEnd().split('\n'));
  const content = Buffer.from(`${lines.join('\n')}\n`);
  const schema = json('schema.json');
  const metadata = json('metadata.json');
  metadata.total_records += lines.length - schema.tables[table].rows;
  schema.tables[table].rows = lines.length;
  schema.tables[table].sha256 = createHash('sha256').update(content).digest('hex');
  const members = withMember(name, content);
  members[0] = ['metadata.json', Buffer.from(JSON.stringify(metadata))];
  members[1] = ['schema.json', Buffer.from(JSON.stringify(schema))];
  return packed(members);
};
const collect = async (source: AsyncIterable<Buffer>) => {
  const parts: Buffer[] = [];
  for await (const part of source) parts.push(part);
  return Buffer.concat(parts);
};
const once = async function* (content: Buffer) {
  yield content;
};

const HOSTILE: [what: string, make: () => Buffer | Promise<Buffer>, reason: RegExp][] = [
  ['an empty file', () => Buffer.alloc(0), /empty/],
  ['something else', () => Buffer.from('DROP TABLE users;'.repeat(100)), /damaged|incomplete/],
  ['a dump of SQL', () => gzipSync('DROP TABLE users;'.repeat(100)), /damaged|incomplete/],
  ['a foreign tar archive', () => packed([['README.md', Buffer.from('hello')]]), /no metadata.json/],
  ['a path that escapes', () => packed([...good, ['../../etc/cron.d/x', Buffer.from('x')]]), /does not name/],
  ['an absolute path', () => packed([...good, ['/etc/passwd', Buffer.from('x')]]), /does not name/],
  [
    'a symbolic link',
    () => packed([...good, ['tables/users.ndjson', Buffer.alloc(0), (header) => header.write('2', 156)]]),
    /not a plain file/,
  ],
  [
    'a hard link',
    () => packed([...good, ['media/aaaaaaaaaaaaaaaaaaaa', Buffer.alloc(0), (header) => header.write('1', 156)]]),
    /not a plain file/,
  ],
  [
    'a long name in a member of its own',
    () => packed([['PaxHeader', Buffer.from('30 path=tables/users.ndjson\n'), (header) => header.write('x', 156)], ...good]),
    /not a plain file/,
  ],
  [
    'a name with a prefix',
    () => packed([['metadata.json', good.get('metadata.json')!, (header) => header.write('..', 345)]]),
    /not a plain file/,
  ],
  ['a member twice', () => packed([...good, ['tables/users.ndjson', good.get('tables/users.ndjson')!]]), /twice/],
  ['a missing table', () => packed([...good].filter(([name]) => name !== 'tables/users.ndjson')), /incomplete: tables\/users/],
  ['a bomb', () => packed([...good, ['tables/x.ndjson', Buffer.alloc(64 * 1024 * 1024)]]), /does not name|more than 20 times/],
  [
    'a bomb in a table',
    () => changedRows('menu_layouts', () => [`{"name":"${' '.repeat(24 * 1024 * 1024)}"}`]),
    /more than 20 times/,
  ],
  [
    'a damaged header',
    () => {
      const tar = tarOf(good);
      tar[3] = 0x41;
      return gzipSync(tar);
    },
    /damaged/,
  ],
  [
    'the format of the former service',
    () =>
      changedMetadata((m) => {
        m.format_version = '2.0';
      }),
    /cli -- import/,
  ],
  [
    'a newer format',
    () =>
      changedMetadata((m) => {
        m.format_version = '3.1';
      }),
    /newer release/,
  ],
  [
    'other counts',
    () =>
      changedMetadata((m) => {
        m.total_records = 1;
      }),
    /counts do not agree/,
  ],
  [
    'a file of the head with a path',
    () =>
      changedMetadata((m) => {
        m.files = [{ name: 'media/../../x', size_bytes: 1, sha256: '0'.repeat(64) }];
      }),
    /metadata of the archive/,
  ],
  ['a newer migration', () => changedSchema((s) => s.migrations.push('9999_later')), /9999_later/],
  ['another order of migrations', () => changedSchema((s) => s.migrations.reverse()), /other migrations/],
  [
    'an unknown table',
    () =>
      changedSchema((s) => {
        s.tables.pg_authid = s.tables.users;
        delete s.tables.users;
      }),
    /pg_authid/,
  ],
  [
    'the table of migrations',
    () =>
      changedSchema((s) => {
        s.tables.schema_migrations = s.tables.users;
        delete s.tables.users;
      }),
    /schema_migrations/,
  ],
  [
    'a table whose name is SQL',
    () =>
      changedSchema((s) => {
        s.tables['users; DROP'] = s.tables.users;
      }),
    /schema of the archive/,
  ],
  [
    'an unknown column',
    () => changedSchema((s) => s.tables.users.columns.push({ name: 'is_root', type: 'text', nullable: true })),
    /users.is_root/,
  ],
  ['a column too few', () => changedSchema((s) => s.tables.users.columns.splice(0, 1)), /lacks the column users.id/],
  [
    'another checksum',
    () =>
      changedSchema((s) => {
        s.tables.users.sha256 = '0'.repeat(64);
      }),
    /checksum of tables\/users/,
  ],
  [
    'a changed row',
    () => packed(withMember('tables/users.ndjson', good.get('tables/users.ndjson')!.toString().replace('User 7', 'User X'))),
    /checksum/,
  ],
  ['a line that is no row', () => changedRows('users', (lines) => ['[1, 2]', ...lines]), /not a row/],
  [
    'a row with another column',
    () => changedRows('users', (lines) => [lines[0]!.replace('"id"', '"is_root":1,"id"'), ...lines.slice(1)]),
    /not a row/,
  ],
  [
    'a value that no column takes',
    () =>
      changedRows('users', (lines) => [lines[0]!.replace(/"status":"\w+"/, `"status":"${'x'.repeat(50)}"`), ...lines.slice(1)]),
    /does not take/,
  ],
  ['a row twice', () => changedRows('users', (lines) => [...lines, lines[0]!]), /violates users_/],
  ['a row that refers to nothing', () => changedRows('users', (lines) => lines.slice(1)), /refers to a missing one/],
  [
    'money out of nothing',
    () =>
      changedRows('users', (lines) => [
        lines[0]!.replace(/"balance_kopeks":"\d+"/, '"balance_kopeks":"99999999"'),
        ...lines.slice(1),
      ]),
    /ledger would not be clean/,
  ],
  [
    'an encrypted one without a password',
    async () => collect(encrypted(once(await readFile(goodPath)), 'secret')),
    /BACKUP_ARCHIVE_PASSWORD is not set/,
  ],
  ['something behind the end', () => gzipSync(Buffer.concat([tarOf(good), Buffer.from('x')])), /behind its end/],
];

describe('an archive is refused and nothing is changed', () => {
  let before: Record<string, string>;
  beforeEach(async () => {
    before = await databaseDigests(t.app);
  });

  test.each(HOSTILE)('%s', async (_what, make, reason) => {
    await writeFile(path, await make());
    const result = await restoreBackup(t.app, path, { clearExisting: true, requestedBy: null });
    expect(result).toEqual({
      success: false,
      message: expect.stringMatching(reason),
      tablesRestored: null,
      recordsRestored: null,
    });
    expect(result.message).toMatch(/Nothing was changed/);
    expect(await databaseDigests(t.app)).toEqual(before);
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
});
