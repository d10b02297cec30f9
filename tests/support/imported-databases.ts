/** Databases of the existing product that were imported into new services. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { type ImportResult, runImport } from '../../src/domain/import/run-import.ts';
import { type VerifyResult, verifyImport } from '../../src/domain/import/verify-import.ts';
import { openArchiveSource } from '../../src/integrations/import-sources/archive-source.ts';
import { openSqliteSource } from '../../src/integrations/import-sources/sqlite-source.ts';
import {
  IMPORT_OPTIONS,
  importFrom,
  type MadeSource,
  makeSource,
  readSource,
  SOURCE_TIME,
  writeArchive,
  writeSqlite,
} from './import-sources.ts';
import { type TestApp, TestClock, testApp } from './test-app.ts';
import { emptyDatabaseOnServer, freshDatabase, type TestDatabase } from './test-database.ts';

export interface Imported extends TestApp {
  database: TestDatabase;
  /** Address of the source. */
  url: string;
  made: MadeSource;
  result: ImportResult;
  /** Rows of the service. */
  rows: <T extends object = Record<string, unknown>>(sql: string) => Promise<T[]>;
  verify: () => Promise<VerifyResult>;
  drop: () => Promise<void>;
}

/**
 * Makes a source of 200 users unless the words say otherwise, lets `change` work on it, and imports it into a new service. `drop` ends
 * both.
 */
export async function importedFrom(
  words: readonly string[],
  change: (source: pg.Client) => Promise<unknown> = async () => undefined,
  environment: Readonly<Record<string, string>> = {},
): Promise<Imported> {
  const source = await emptyDatabaseOnServer();
  const made = await makeSource(source.url, ['--users', '200', '--now', SOURCE_TIME.toISOString(), ...words]);
  const owner = new pg.Client({ connectionString: source.url, options: '-c timezone=UTC' });
  await owner.connect();
  await change(owner).finally(() => owner.end());
  const database = await freshDatabase();
  const clock = new TestClock();
  clock.set(SOURCE_TIME);
  const t = await testApp({
    database,
    clock,
    environment: { ADMIN_EMAILS: (made.admin_emails ?? []).join(','), ...environment },
  });
  const result = await importFrom(t.app, source.url);
  return {
    ...t,
    ...{ database, url: source.url, made, result },
    rows: (sql) => t.app.db.sql(sql),
    verify: () => readSource(source.url, SOURCE_TIME, (opened) => verifyImport(t.app, opened)),
    drop: async () => {
      await database.drop();
      await source.drop();
    },
  };
}

/** Imports the source of an import in another form, into a service of its own. */
export async function importedFromFile({ url, made }: Imported, form: 'archive' | 'sqlite'): Promise<ImportResult> {
  const folder = await mkdtemp(join(tmpdir(), 'import-forms-'));
  const database = await freshDatabase();
  try {
    const path = join(folder, form === 'archive' ? 'backup_20261128_090000.tar.gz' : 'bot.db');
    await readSource(url, SOURCE_TIME, (source) => (form === 'archive' ? writeArchive : writeSqlite)(source, path));
    const source = await (form === 'archive' ? openArchiveSource(path) : openSqliteSource(path, SOURCE_TIME));
    const clock = new TestClock();
    clock.set(SOURCE_TIME);
    const { app } = await testApp({
      database,
      clock,
      environment: { ADMIN_EMAILS: (made.admin_emails ?? []).join(',') },
    });
    return await runImport(app, source, IMPORT_OPTIONS).finally(() => source.close());
  } finally {
    await database.drop();
    await rm(folder, { recursive: true, force: true });
  }
}
