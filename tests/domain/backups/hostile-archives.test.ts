/** Archives that must be refused with nothing changed (spec 06 section 7, restore 1 and 2; section 17, hazard 2). */
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { headSum } from '../../../src/domain/backups/archive-format.ts';
import { backupFolder } from '../../../src/domain/backups/backup-folder.ts';
import { encrypted } from '../../../src/domain/backups/encryption.ts';
import { restoreBackup } from '../../../src/domain/backups/restore-backup.ts';
import { aBackup, appWithFolder, fill } from '../../support/backup-samples.ts';
import { databaseDigests } from '../../support/database-digests.ts';
import { type Member, tarOf, untar } from '../../support/tar-members.ts';
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

/** With a checksum of the head that fits. */
const packed = (members: Iterable<Member>) => {
  const list = [...members];
  const textOf = (name: string) => list.find(([each]) => each === name)?.[1].toString() ?? '';
  const sum = Buffer.from(headSum(textOf('metadata.json'), textOf('schema.json')));
  return gzipSync(tarOf(list.map(([name, content, change]) => [name, name === 'head.sha256' ? sum : content, change] as Member)));
};
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
    'a device',
    () => packed([...good, ['tables/x.ndjson', Buffer.alloc(0), (header) => header.write('4', 156)]]),
    /not a plain file/,
  ],
  [
    'a sparse file',
    () => packed([['metadata.json', good.get('metadata.json')!, (header) => header.write('S', 156)]]),
    /not a plain file/,
  ],
  [
    'a long name as GNU writes it',
    () => packed([['././@LongLink', Buffer.from('tables/users.ndjson\0'), (header) => header.write('L', 156)], ...good]),
    /not a plain file/,
  ],
  [
    'a PAX header for all members',
    () => packed([['pax_global_header', Buffer.from('16 comment=hello\n'), (header) => header.write('g', 156)], ...good]),
    /not a plain file/,
  ],
  [
    'a negative size',
    () => packed([['metadata.json', good.get('metadata.json')!, (header) => header.fill(0xff, 124, 136)], ...good]),
    /size is no number/,
  ],
  [
    'a size beyond every number',
    () => packed([['metadata.json', Buffer.alloc(0), (header) => header.fill(0xff, 125, 136).writeUInt8(0x80, 124)]]),
    /size is no number/,
  ],
  [
    'a size with something behind its digits',
    () => packed([['metadata.json', good.get('metadata.json')!, (header) => header.write('0000000001z\0', 124, 'latin1')]]),
    /size is no number/,
  ],
  [
    'something between two members',
    () => {
      const tar = tarOf(good);
      const end = 512 + good.get('metadata.json')!.length;
      tar[end] = 1;
      return gzipSync(tar);
    },
    /between its members/,
  ],
  ['no end', () => gzipSync(tarOf(good).subarray(0, -1024)), /incomplete/],
  ['half an end', () => gzipSync(tarOf(good).subarray(0, -512)), /incomplete/],
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
    'another head than its checksum says',
    () => gzipSync(tarOf(withMember('head.sha256', '0'.repeat(64)))),
    /checksum of its head/,
  ],
  ['no checksum of its head', () => packed([...good].filter(([name]) => name !== 'head.sha256')), /head.sha256 is missing/],
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
});
