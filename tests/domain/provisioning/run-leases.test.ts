import { expect, test } from 'vitest';
import { claimRun, listAbandonedRuns, releaseRun, renewRun } from '../../../src/domain/provisioning/long-runs/repo.ts';
import { unique } from '../../support/builders.ts';
import { storeRow } from '../../support/stored-rows.ts';
import { testApp } from '../../support/test-app.ts';

const TABLE = 'squad_migration_runs';

test('a run has one worker: another claims it only when its lease has ended, and the former one then renews and releases nothing', async () => {
  const { app } = await testApp();
  const run = await storeRow(app, 'SquadMigrationRun', { sourceUuid: `source-${unique()}`, targetUuid: `target-${unique()}` });
  const id = run.id;
  const first = await claimRun(app.db, TABLE, id);
  expect(await claimRun(app.db, TABLE, id)).toBeNull();
  expect(await listAbandonedRuns(app.db, TABLE)).not.toContain(id);
  // Its worker died 90 seconds ago.
  const [ended] = await app.db.sql<{ lease: Date }>(
    "UPDATE squad_migration_runs SET lease_until = now() - interval '1 millisecond' WHERE id = $1::int RETURNING lease_until AS lease",
    [id],
  );
  expect(await listAbandonedRuns(app.db, TABLE)).toContain(id);
  const second = await claimRun(app.db, TABLE, id);
  for (const former of [first!, ended!.lease]) {
    expect(await renewRun(app.db, TABLE, id, former)).toBeNull();
    expect(await releaseRun(app.db, TABLE, id, former)).toBe(false);
  }
  expect(await renewRun(app.db, TABLE, id, second!)).not.toBeNull();
  await app.db.sql('DELETE FROM squad_migration_runs WHERE id = $1::int RETURNING id', [id]);
});
