/** Spec 07 sections 1 and 9: what `import check` says of databases of the existing product. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { checkSource } from '../../../src/domain/import/check-source.ts';
import type { ImportSource } from '../../../src/domain/import/import-source.ts';
import { openArchiveSource } from '../../../src/integrations/import-sources/archive-source.ts';
import { openPostgresSource } from '../../../src/integrations/import-sources/postgres-source.ts';
import { openSqliteSource } from '../../../src/integrations/import-sources/sqlite-source.ts';
import { type MadeSource, makeSource, writeArchive, writeSqlite } from '../../support/import-sources.ts';
import { type Member, tarOf } from '../../support/tar-members.ts';
import { emptyDatabaseOnServer, serverUrl } from '../../support/test-database.ts';

const NOW = new Date('2026-11-22T00:00:00Z');
const USERS = ['--users', '200', '--now', NOW.toISOString()];

async function closing(opened: Promise<ImportSource>): Promise<ImportSource> {
  const source = await opened;
  onTestFinished(() => source.close());
  return source;
}

describe.skipIf(!serverUrl).each(['v3', 'v4'])('a database of %s (left out without a server: TEST_DATABASE_URL)', (version) => {
  let database: { url: string; drop(): Promise<void> };
  let folder: string;
  let made: MadeSource;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'import-test-'));
    database = await emptyDatabaseOnServer();
    made = await makeSource(database.url, ['--version', version, ...USERS]);
  });
  afterAll(async () => {
    await database.drop();
    await rm(folder, { recursive: true, force: true });
  });

  const postgres = () => closing(openPostgresSource(database.url, NOW));

  test('has its revision, the rows of every table, and what the operator has to choose', async () => {
    const found = await checkSource(await postgres());
    expect(found.revision.text).toBe(made.revision);
    const rows = Object.fromEntries(found.tables.map(({ name, rows: count }) => [name, count]));
    for (const [table, count] of Object.entries(made.source_rows)) expect([table, rows[table]]).toEqual([table, count]);
    expect([...new Set(found.refusals.map(({ code }) => code))]).toEqual(made.refused_without ?? []);
    if (made.several_subscriptions) {
      const { users, subscriptions, days, kopeks, without_price } = made.several_subscriptions;
      expect(found.refusals[0]!.details).toMatchObject({ users, subscriptions, days, kopeks, without_price });
    }
  });

  test('says the same as an archive and as a SQLite file', async () => {
    const source = await postgres();
    const expected = await checkSource(source);
    const archive = join(folder, 'backup_20261122_000000.tar.gz');
    await writeArchive(source, archive, [['data/branding/logo.png', Buffer.alloc(4_000)]]);
    expect(await checkSource(await closing(openArchiveSource(archive)))).toEqual({ ...expected, kind: 'archive' });
    const file = join(folder, 'bot.db');
    await writeSqlite(source, file);
    expect(await checkSource(await closing(openSqliteSource(file, NOW)))).toEqual({ ...expected, kind: 'sqlite' });
  });

  test('is read by a role that may only SELECT, and not changed', async () => {
    const owner = new pg.Client({ connectionString: database.url });
    await owner.connect();
    onTestFinished(() => owner.end());
    const role = `import_reader_${process.pid}_${version}`;
    await owner.query(`CREATE ROLE ${role} LOGIN; GRANT SELECT ON ALL TABLES IN SCHEMA public TO ${role}`);
    onTestFinished(async () => {
      await owner.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
    });
    const url = new URL(database.url);
    url.username = role;
    const { tables } = await checkSource(await closing(openPostgresSource(url.href, NOW)));
    expect(tables.find(({ name }) => name === 'users')!.rows).toBe(made.source_rows.users);
  });

  test('with a column that is missing or of another type is refused with the list', async () => {
    const damaged = await emptyDatabaseOnServer(`TEMPLATE ${new URL(database.url).pathname.slice(1)}`);
    onTestFinished(() => damaged.drop());
    const owner = new pg.Client({ connectionString: damaged.url });
    await owner.connect();
    onTestFinished(() => owner.end());
    await owner.query(
      'ALTER TABLE users DROP COLUMN referral_code; ALTER TABLE tickets ALTER title DROP NOT NULL, ALTER title TYPE json USING NULL',
    );
    await owner.query('DROP TABLE polls CASCADE; DROP TABLE webhook_deliveries');
    await expect(checkSource(await closing(openPostgresSource(damaged.url, NOW)))).rejects.toMatchObject({
      code: 'source_schema_damaged',
      details: {
        faults: expect.toSatisfy((faults: string[]) => faults.sort().join() === 'polls,tickets.title (json),users.referral_code'),
      },
    });
  });
});

describe('a SQLite file', () => {
  test('into which a bot still writes is refused, and one that is no database too', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'import-test-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const path = join(folder, 'bot.db');
    await expect(openSqliteSource(path, NOW)).rejects.toMatchObject({ code: 'source_not_found' });
    await writeFile(
      path,
      'something else, long enough for the head of a database of SQLite, which has a hundred bytes at its beginning',
    );
    await expect(openSqliteSource(path, NOW)).rejects.toMatchObject({ code: 'source_unreadable' });
    await writeFile(`${path}-wal`, 'x');
    await expect(openSqliteSource(path, NOW)).rejects.toMatchObject({ code: 'source_in_use' });
  });
});

describe('a server', () => {
  test('that does not answer is refused without its password', async () => {
    const refused = await openPostgresSource('postgresql://bot:hidden@127.0.0.1:1/bot', NOW).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'source_not_found', message: expect.not.stringContaining('hidden') });
  });
});

describe('an archive', () => {
  const folderOfTest = async () => {
    const folder = await mkdtemp(join(tmpdir(), 'import-test-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    return folder;
  };

  test.each([
    ['backup_1.json.gz', 'backup_incomplete'],
    ['backup_1.zip', 'source_unreadable'],
    ['backup_1.tar.gz', 'source_unreadable'],
    ['backup_1.tar', 'source_unreadable'],
  ])('%s that cannot be read is refused as %s', async (name, code) => {
    const path = join(await folderOfTest(), name);
    await writeFile(path, 'something else');
    await expect(openArchiveSource(path)).rejects.toMatchObject({ code });
  });

  test.each<[string, Member[]]>([
    ['a name that leads outside', [['../outside.txt', Buffer.from('x')]]],
    ['an absolute name', [['/etc/outside.txt', Buffer.from('x')]]],
    ['a link', [['link', Buffer.alloc(0), (header) => void header.write('2', 156)]]],
    ['more than twenty times its size', [['zeros', Buffer.alloc(80 * 1024 * 1024)]]],
    ['a dump that ends in the middle of a table', [['database.sql', Buffer.from('COPY public.users (id) FROM stdin;\n1\n')]]],
    ['no database', [['data/logo.png', Buffer.alloc(10)]]],
  ])('with %s is refused, and nothing of it is written', async (_name, members) => {
    const path = join(await folderOfTest(), 'backup_1.tar.gz');
    const metadata = Buffer.from('{"timestamp": "2026-11-22T00:00:00"}');
    await writeFile(path, gzipSync(tarOf([['metadata.json', metadata], ...members])));
    await expect(openArchiveSource(path)).rejects.toMatchObject({ code: 'source_unreadable' });
  });

  test('of which one bit is changed is refused', async () => {
    const path = join(await folderOfTest(), 'backup_1.tar.gz');
    const bytes = gzipSync(tarOf([['metadata.json', Buffer.from('{"timestamp": "2026-11-22T00:00:00"}')]]));
    bytes[bytes.length - 6]! ^= 1;
    await writeFile(path, bytes);
    await expect(openArchiveSource(path)).rejects.toMatchObject({ code: 'source_unreadable' });
  });

  test('that is not there is refused', async () => {
    await expect(openArchiveSource(join(await folderOfTest(), 'backup.tar'))).rejects.toMatchObject({ code: 'source_not_found' });
  });
});
