/** A backup of a filled database, restored over whatever came after it (spec 06 section 7). */
import { beforeAll, describe, expect, test } from 'vitest';
import { restoreBackup } from '../../../src/domain/backups/restore-backup.ts';
import { aBackup, appWithFolder, fill } from '../../support/backup-samples.ts';
import { changedTables, databaseDigests } from '../../support/database-digests.ts';
import type { TestApp } from '../../support/test-app.ts';

let t: TestApp;
const restore = (path: string, clearExisting = true) => restoreBackup(t.app, path, { clearExisting, requestedBy: null });

beforeAll(async () => {
  t = await appWithFolder();
  await fill(t.app);
});

describe('restore', () => {
  test('everything is in its former state, whatever was changed, deleted or added since', async () => {
    const before = await databaseDigests(t.app);
    const backup = await aBackup(t.app);
    await fill(t.app, 5);
    await t.app.db.sql("UPDATE users SET first_name = 'Changed' RETURNING id");
    const result = await restore(backup.path);
    expect(result).toMatchObject({ success: true, message: expect.stringContaining('Restored') });
    const after = await databaseDigests(t.app);
    expect(changedTables(before, after)).toEqual(['backup_tasks', 'domain_events', 'job', 'service_state']);
  });
});
