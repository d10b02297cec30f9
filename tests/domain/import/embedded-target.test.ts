/** Spec 07 section 9: an import into the embedded database. */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { openEmbedded } from '../../../src/core/db/open-embedded.ts';
import type { ImportSource } from '../../../src/domain/import/import-source.ts';
import { runImport } from '../../../src/domain/import/run-import.ts';
import { verifyImport } from '../../../src/domain/import/verify-import.ts';
import {
  IMPORT_OPTIONS,
  importFrom,
  type MadeSource,
  makeSource,
  readSource,
  SOURCE_TIME,
} from '../../support/import-sources.ts';
import { TestClock, testApp } from '../../support/test-app.ts';
import { emptyDatabaseOnServer, migrationsFolder, serverUrl } from '../../support/test-database.ts';

async function anEmbeddedService(): Promise<App> {
  const database = await openEmbedded({ dataDir: null, migrationsFolder });
  onTestFinished(() => database.close());
  await database.migrate();
  const clock = new TestClock();
  clock.set(SOURCE_TIME);
  return (await testApp({ database, clock })).app;
}

/** The same source, which says that it has so many users. */
function withUsers(source: ImportSource, users: number): ImportSource {
  return {
    ...source,
    contents: async function* () {
      for await (const content of source.contents())
        yield content.table.name === 'users' ? { ...content, count: async () => users } : content;
    },
  };
}

describe.skipIf(!serverUrl)('the embedded database (left out without a server: TEST_DATABASE_URL)', () => {
  let source: { url: string; drop(): Promise<void> };
  let made: MadeSource;
  beforeAll(async () => {
    source = await emptyDatabaseOnServer();
    made = await makeSource(source.url, ['--users', '40', '--now', SOURCE_TIME.toISOString()]);
  });
  afterAll(() => source.drop());

  test('gets every row of a source of 40 users', async () => {
    const app = await anEmbeddedService();
    const { source: fates } = await importFrom(app, source.url);
    expect(fates.users).toMatchObject({ read: made.source_rows.users, kept: made.kept_rows.users });
    const verified = await readSource(source.url, SOURCE_TIME, (opened) => verifyImport(app, opened));
    expect(verified).toMatchObject({
      differing: 0,
      differences: [],
      checks: [
        { name: 'ledger', isOk: true },
        { name: 'sequences', isOk: true },
      ],
    });
  });

  const triedWith = async (users: number) => {
    const app = await anEmbeddedService();
    return readSource(source.url, SOURCE_TIME, (opened) =>
      runImport(app, withUsers(opened, users), { ...IMPORT_OPTIONS, isDryRun: true }),
    );
  };

  test('is large enough for a source of 50,000 users', async () => {
    expect(await triedWith(50_000)).toMatchObject({ runId: null });
  });

  test('is refused for a source of more', async () => {
    await expect(triedWith(50_001)).rejects.toMatchObject({
      code: 'target_too_small',
      message: expect.stringContaining('PostgreSQL'),
      details: { users: 50_001 },
    });
  });
});
