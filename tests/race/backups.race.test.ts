/** Backups between kinds of databases, and two callers at once (spec 06 section 7). On a server. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { installJobs } from '../../src/composition/install-jobs.ts';
import type { Database } from '../../src/core/db/database.ts';
import { openEmbedded } from '../../src/core/db/open-embedded.ts';
import { openPostgres } from '../../src/core/db/open-postgres.ts';
import { createLogger } from '../../src/core/log.ts';
import { readTask, requestBackup, runTask } from '../../src/domain/backups/backup-tasks.ts';
import { runDrill } from '../../src/domain/backups/drill.ts';
import { restoreBackup } from '../../src/domain/backups/restore-backup.ts';
import { aBackup, appWithFolder, fill } from '../support/backup-samples.ts';
import { databaseDigests } from '../support/database-digests.ts';
import { moveProbes } from '../support/exact-rows.ts';
import { storeRow } from '../support/stored-rows.ts';
import type { TestApp } from '../support/test-app.ts';
import {
  emptyDatabaseOnServer,
  freshDatabase,
  migrationsFolder,
  serverUrl,
  type TestDatabase,
} from '../support/test-database.ts';

/** What a restore leaves or makes new: of the installation, not of its data. */
const LOCAL = /\.(?:backup_tasks|job|service_state|domain_events|schema_\w+)$/;
const dataOf = async (t: TestApp) =>
  Object.fromEntries(Object.entries(await databaseDigests(t.app)).filter(([name]) => !LOCAL.test(name)));

// Each test writes two whole databases, which takes a busy machine minutes.
const limit = { timeout: 600_000 };
describe.skipIf(!serverUrl)('a server and an embedded database (left out without a server: TEST_DATABASE_URL)', limit, () => {
  let server: TestDatabase;
  let embedded: Database;
  let onServer: TestApp;
  let inFolder: TestApp;
  beforeAll(async () => {
    server = await freshDatabase({ poolSize: 5 });
    embedded = await openEmbedded({ dataDir: null, migrationsFolder });
    await embedded.migrate();
    await installJobs(embedded, createLogger({ level: 'silent', format: 'json' }));
    onServer = await appWithFolder({ database: server });
    inFolder = await appWithFolder({ database: { ...embedded } });
    await installJobs(embedded, onServer.app.log);
  });
  afterAll(async () => {
    await embedded.close();
    await server.drop();
  });

  test('a backup of one restores into the other and back, row by row, with a clean ledger', async () => {
    await fill(onServer.app, 200);
    const before = await dataOf(onServer);
    const first = await aBackup(onServer.app);
    expect(await restoreBackup(inFolder.app, first.path, { clearExisting: true, requestedBy: null })).toMatchObject({
      success: true,
    });
    const { path } = await aBackup(inFolder.app);
    await onServer.app.db.sql("UPDATE users SET first_name = 'Changed' RETURNING id");
    expect(await dataOf(onServer)).not.toEqual(before);
    expect(await restoreBackup(onServer.app, path, { clearExisting: true, requestedBy: null })).toMatchObject({ success: true });
    expect(await dataOf(onServer)).toEqual(before);
    expect(await onServer.app.db.sql('SELECT problem FROM ledger_check()')).toEqual([]);
  });

  test('values of every type come through exactly, from one to the other', async () => {
    for (const [source, target] of [
      [onServer, inFolder],
      [inFolder, onServer],
    ] as const) {
      const { from, to } = await moveProbes(source.app.db, target.app.db, 7);
      expect(Object.keys(from).length).toBeGreaterThan(100);
      expect(to).toEqual(from);
    }
  });

  test('a database that sorts texts in another order gives and takes the same archives', async () => {
    const sorted = await emptyDatabaseOnServer("LOCALE_PROVIDER icu ICU_LOCALE 'en-US' TEMPLATE template0");
    const log = createLogger({ level: 'silent', format: 'json' });
    const database = await openPostgres({ url: sorted.url, poolSize: 3, statementTimeoutMs: 60_000, migrationsFolder, log });
    try {
      await database.migrate();
      await installJobs(database, log);
      const alphabetic = await appWithFolder({ database });
      for (const key of ['a_b', 'aB', 'A_', '_z', 'ab', 'ё', 'Z'])
        await storeRow(alphabetic.app, 'FaqSetting', { language: key, isEnabled: true });
      const { path } = await aBackup(alphabetic.app);
      for (const { app } of [inFolder, alphabetic])
        expect(await restoreBackup(app, path, { clearExisting: true, requestedBy: null })).toMatchObject({ success: true });
    } finally {
      await database.close();
      await sorted.drop();
    }
  });

  test('the drill restores the newest backup into a database of its own and drops it', async () => {
    await aBackup(onServer.app);
    expect(await runDrill(onServer.app)).toMatchObject({ isOk: true });
  });

  test('two restores and a backup at once: one runs, the others are refused or wait', async () => {
    const backup = await aBackup(onServer.app);
    const { taskId } = await requestBackup(onServer.app, null, 'api');
    const restore = () => restoreBackup(onServer.app, backup.path, { clearExisting: true, requestedBy: null });
    const [one, other] = await Promise.all([restore(), restore(), runTask(onServer.app, taskId, new AbortController().signal)]);
    expect([one, other].filter(({ success }) => success).length).toBeLessThanOrEqual(1);
    for (const result of [one, other]) if (!result.success) expect(result.message).toMatch(/is running/);
    expect(['queued', 'completed']).toContain((await readTask(onServer.app, taskId)).status);
  });

  test('a session that is cut in the middle of a restore leaves everything unchanged', async () => {
    const backup = await aBackup(onServer.app);
    await onServer.app.db.sql("UPDATE users SET first_name = 'Now' RETURNING id");
    const before = await dataOf(onServer);
    const restoring = restoreBackup(onServer.app, backup.path, { clearExisting: true, requestedBy: null });
    await expect
      .poll(async () => {
        const rows = await onServer.database.side.sql(
          "SELECT pg_terminate_backend(pid, 5000) AS ended FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'subscription-service-long' AND EXISTS (SELECT 1 FROM pg_locks l WHERE l.pid = pg_stat_activity.pid AND l.mode = 'AccessExclusiveLock' AND l.granted)",
        );
        return rows.length;
      })
      .toBeGreaterThan(0);
    expect(await restoring).toMatchObject({ success: false });
    expect(await dataOf(onServer)).toEqual(before);
    expect(await aBackup(onServer.app)).toMatchObject({ name: expect.any(String) });
  });
});
