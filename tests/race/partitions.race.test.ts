import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runLedgerCheck } from '../../src/domain/ledger/check-ledger.ts';
import { listPartitions, maintainPartitions } from '../../src/domain/ops/partitions.ts';
import { aMovement } from '../support/ledger-check.ts';
import { someoneWaitsForALock } from '../support/lock-wait.ts';
import { times } from '../support/parallel.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { freshDatabase, serverUrl, type TestDatabase } from '../support/test-database.ts';

// The embedded database has one connection: nobody writes while a partition is made.
describe.runIf(serverUrl)('a partition that is made while others write', () => {
  let database: TestDatabase;
  let t: TestApp;
  beforeAll(async () => {
    database = await freshDatabase();
    t = await testApp({ database });
  });
  afterAll(() => database.drop());

  it('waits for an open transaction in tries, between which everybody goes on writing', async () => {
    await t.app.db.sql("SELECT setval('ledger_entries_id_seq', 19999990)::text AS id");
    const { userId } = await aMovement(t.app);
    const other = new pg.Client({ connectionString: database.url! });
    await other.connect();
    try {
      await other.query('BEGIN');
      await other.query('SELECT count(*) FROM ledger_entries');
      let isMade = false;
      const made = maintainPartitions(t.app).then((result) => {
        isMade = true;
        return result;
      });
      for (let round = 0; round < 2; round += 1) {
        await someoneWaitsForALock(t.app, 'LOCK TABLE');
        // Ids of both partitions.
        await times(10, () => aMovement(t.app, userId));
      }
      expect(isMade).toBe(false);
      await other.query('COMMIT');
      expect((await made)!.made).toEqual(['ledger_entries_40000000']);
    } finally {
      await other.end();
    }
    await times(10, () => aMovement(t.app));
    expect((await listPartitions(t.app.db)).filter(({ table }) => table === 'ledger_entries')).toHaveLength(3);
    expect((await runLedgerCheck(t.app, { onFullStep: () => undefined })).problems).toEqual([]);
  });
});
