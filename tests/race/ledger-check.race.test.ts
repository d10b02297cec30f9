import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listProblems } from '../../src/domain/ledger/check/repo.ts';
import { checkLedger, checkNew, readCheckState, runLedgerCheck } from '../../src/domain/ledger/check-ledger.ts';
import { aUser } from '../support/builders.ts';
import { aMovement, settleLedger } from '../support/ledger-check.ts';
import { times } from '../support/parallel.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { freshDatabase, serverUrl, type TestDatabase } from '../support/test-database.ts';

// The embedded database has one connection: nothing commits while a check runs.
describe.runIf(serverUrl)('the ledger check among other transactions', () => {
  let database: TestDatabase;
  let t: TestApp;
  beforeAll(async () => {
    database = await freshDatabase({ poolSize: 12 });
    t = await testApp({ database });
  });
  afterAll(() => database.drop());

  it('a transaction that commits late, with a lower id than others that were checked, is not left out', async () => {
    const { id } = await aUser(t.app);
    await aMovement(t.app, id);
    await settleLedger(t.app);
    const late = new pg.Client({ connectionString: database.url! });
    await late.connect();
    try {
      await late.query('BEGIN');
      const { rows } = await late.query<{ transaction_id: number }>(
        "SELECT transaction_id FROM post_transaction($1, 'deposit', 100, 'provider_clearing', 'provider:late', 'late', NULL, 'late', now())",
        [id],
      );
      const lateId = rows[0]!.transaction_id;
      await late.query('SET LOCAL session_replication_role = replica');
      await late.query('UPDATE ledger_entries SET kopeks = kopeks + 1 WHERE transaction_id = $1 AND kopeks < 0', [lateId]);
      for (let round = 0; round < 3; round++) {
        expect((await aMovement(t.app)).transactionId).toBeGreaterThan(lateId);
        await checkNew(t.app);
      }
      expect((await readCheckState(t.app.db)).checked!.transactionId).toBeLessThan(lateId);
      expect(await listProblems(t.app.db, 10)).toEqual([]);
      await late.query('COMMIT');
      await checkNew(t.app);
      const expected = [{ problem: 'entries_do_not_sum_to_zero', rowId: lateId, detail: '1' }];
      expect(await listProblems(t.app.db, 10)).toEqual(expected);
      await settleLedger(t.app);
      expect((await readCheckState(t.app.db)).checked!.transactionId).toBeGreaterThan(lateId);
      expect((await runLedgerCheck(t.app)).problems).toEqual(expected);
      await late.query('BEGIN');
      await late.query('SET LOCAL session_replication_role = replica');
      await late.query('UPDATE ledger_entries SET kopeks = kopeks - 1 WHERE transaction_id = $1 AND kopeks < 0', [lateId]);
      await late.query('COMMIT');
      expect((await runLedgerCheck(t.app)).problems).toEqual([]);
    } finally {
      await late.end();
    }
  });

  it('checks of several instances during movements find nothing, and each sum is right', async () => {
    const users = await times(6, () => aUser(t.app));
    const second = await testApp({ database });
    const move = async (index: number) => {
      for (let round = 0; round < 15; round++) await aMovement(t.app, users[(index + round) % users.length]!.id);
    };
    const check = async (app: TestApp['app']) => {
      for (let round = 0; round < 6; round++) expect((await runLedgerCheck(app)).problems).toEqual([]);
    };
    await Promise.all([times(4, move), check(t.app), check(second.app), check(second.app)]);
    await settleLedger(t.app);
    await times(3, () => runLedgerCheck(second.app, { onFullStep: () => undefined }));
    expect(await checkLedger(t.app)).toEqual([]);
    const rows = await t.app.db.sql(
      `SELECT c.account_id FROM ledger_checked_balances c WHERE c.kopeks <> (SELECT coalesce(sum(e.kopeks), 0) FROM ledger_entries e
         WHERE e.account_id = c.account_id AND e.id <= c.through_entry_id)`,
    );
    expect(rows).toEqual([]);
    const { pass, lastPass } = await readCheckState(t.app.db);
    expect(pass).toBeNull();
    expect(lastPass).not.toBeNull();
  });
});
