/** Spec 07 section 1.2: a backup that the bot has made without pg_dump is imported like the database itself, but for what it leaves out. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { runImport } from '../../../src/domain/import/run-import.ts';
import { verifyImport } from '../../../src/domain/import/verify-import.ts';
import { openArchiveSource } from '../../../src/integrations/import-sources/archive-source.ts';
import { addGrowth } from '../../support/growth-imports.ts';
import {
  anEmptyService,
  IMPORT_OPTIONS,
  NOT_IN_JSON,
  readSource,
  SOURCE_TIME,
  writeJsonArchive,
} from '../../support/import-sources.ts';
import { importedFrom } from '../../support/imported-databases.ts';
import { serverUrl } from '../../support/test-database.ts';

test.skipIf(!serverUrl)('a backup as JSON has the rows of its database, and the report names what it leaves out', async () => {
  const imported = await importedFrom(['--version', 'v4', '--users', '60'], addGrowth, { ADMIN_EMAILS: '' });
  onTestFinished(() => imported.drop());
  const folder = await mkdtemp(join(tmpdir(), 'json-backup-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, 'backup_20261128_090000.tar.gz');
  await readSource(imported.url, SOURCE_TIME, (source) => writeJsonArchive(source, path));
  const { app, drop } = await anEmptyService();
  onTestFinished(drop);
  const source = await openArchiveSource(path, true);
  const result = await runImport(app, source, { ...IMPORT_OPTIONS, acceptIncomplete: true });
  const withRows = Object.entries(imported.result.source).filter(([name, { read }]) => read > 0 && !NOT_IN_JSON.includes(name));
  expect(result.source).toEqual(Object.fromEntries(withRows));
  expect(result.leftOut).toEqual(expect.arrayContaining(NOT_IN_JSON.slice(0, -1)));
  const lost = result.leftOut.filter((name) => (imported.result.source[name]?.read ?? 0) > 0);
  expect(lost.filter((name) => !NOT_IN_JSON.includes(name))).toEqual([]);
  expect(await verifyImport(app, source)).toMatchObject({ differing: 0, differences: [] });
});
