import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { HOUR_MS, MINUTE_MS } from '../../../src/core/clock.ts';
import type { Logger } from '../../../src/core/log.ts';
import { mergeState } from '../../../src/core/service-state.ts';
import { listProblems } from '../../../src/domain/ledger/check/repo.ts';
import {
  checkLedger,
  checkNew,
  readCheckState,
  readLedgerHealth,
  runLedgerCheck,
} from '../../../src/domain/ledger/check-ledger.ts';
import { ledgerJobs } from '../../../src/domain/ledger/jobs.ts';
import { unique } from '../../support/builders.ts';
import { aMovement, settleLedger } from '../../support/ledger-check.ts';
import { storeRow } from '../../support/stored-rows.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { freshDatabase, type TestDatabase } from '../../support/test-database.ts';

const RUNNING = { id: 'x', data: {} as never, signal: new AbortController().signal };

let database: TestDatabase;
let t: TestApp;
beforeAll(async () => {
  database = await freshDatabase();
  t = await testApp({ database });
  // Two kinds of damage are not possible with these.
  await t.app.db.sql('ALTER TABLE users DROP CONSTRAINT users_balance_not_negative');
  await t.app.db.sql('ALTER TABLE payments DROP CONSTRAINT payments_topup_paid_is_credited');
});
afterAll(() => database.drop());

/** Runs a statement past all triggers and foreign keys. */
const byForce = (sql: string) =>
  database.jobDatabase.executeSql(`BEGIN; SET LOCAL session_replication_role = replica; ${sql}; COMMIT`);

interface Damage {
  problem: string;
  rowId: number;
  apply: string;
  undo: string;
  /** The rows at fault are found whenever they came to be. */
  isAlwaysNew?: boolean;
}

/** A clean movement, and how to damage it. */
const kinds: Record<string, () => Promise<Damage>> = {
  entries_do_not_sum_to_zero: async () => {
    const { transactionId } = await aMovement(t.app);
    const change = (kopeks: number) =>
      `UPDATE ledger_entries SET kopeks = kopeks + ${kopeks} WHERE transaction_id = ${transactionId} AND kopeks < 0`;
    return { problem: 'entries_do_not_sum_to_zero', rowId: transactionId, apply: change(1), undo: change(-1) };
  },
  completed_transaction_without_entries: async () => {
    const { userId } = await aMovement(t.app);
    // Raw SQL: written past the guards, as damage is.
    await byForce(
      `INSERT INTO transactions (user_id, type, amount_kopeks, is_completed) VALUES (${userId}, 'deposit', 5, false)`,
    );
    const [row] = await t.app.db.sql<{ id: number }>('SELECT max(id) AS id FROM transactions');
    const set = (isCompleted: boolean) => `UPDATE transactions SET is_completed = ${isCompleted} WHERE id = ${row!.id}`;
    return { problem: 'completed_transaction_without_entries', rowId: row!.id, apply: set(true), undo: set(false) };
  },
  paid_top_up_without_transaction: async () => {
    const row = await storeRow(t.app, 'Payment', {
      method: 'test',
      orderId: `order-${unique()}`,
      amountKopeks: 5,
      status: 'paid',
      isPaid: false,
    });
    const set = (isPaid: boolean) => `UPDATE payments SET is_paid = ${isPaid} WHERE id = ${row.id}`;
    const statements = { apply: set(true), undo: set(false) };
    return { problem: 'paid_top_up_without_transaction', rowId: row.id, ...statements, isAlwaysNew: true };
  },
  balance_differs_from_ledger: async () => {
    const { userId } = await aMovement(t.app);
    const change = (kopeks: number) => `UPDATE users SET balance_kopeks = balance_kopeks + ${kopeks} WHERE id = ${userId}`;
    return { problem: 'balance_differs_from_ledger', rowId: userId, apply: change(7), undo: change(-7) };
  },
  balance_below_zero: async () => {
    const { userId, kopeks } = await aMovement(t.app);
    const set = (balance: number) => `UPDATE users SET balance_kopeks = ${balance} WHERE id = ${userId}`;
    return { problem: 'balance_below_zero', rowId: userId, apply: set(-5), undo: set(kopeks) };
  },
  reserve_differs_from_request: async () => {
    const { userId, kopeks } = await aMovement(t.app);
    const row = await storeRow(t.app, 'WithdrawalRequest', { userId, amountKopeks: kopeks });
    await t.app.db.sql("SELECT reserve_withdrawal($1::int, 'request', now()) AS done", [row.id]);
    const change = (by: number) => `UPDATE withdrawal_requests SET amount_kopeks = amount_kopeks + ${by} WHERE id = ${row.id}`;
    return { problem: 'reserve_differs_from_request', rowId: row.id, apply: change(1), undo: change(-1), isAlwaysNew: true };
  },
  debts_differ_from_ledger: async () => {
    const { userId } = await aMovement(t.app);
    // Raw SQL: written past the guards, as damage is.
    const apply = `INSERT INTO referral_debts (user_id, kopeks, updated_at) VALUES (${userId}, 5, now())`;
    const undo = `DELETE FROM referral_debts WHERE user_id = ${userId}`;
    return { problem: 'debts_differ_from_ledger', rowId: 0, apply, undo, isAlwaysNew: true };
  },
};

const found = async ({ problem, rowId }: Damage) =>
  (await listProblems(t.app.db, 1_000)).some((row) => row.problem === problem && row.rowId === rowId);

describe('the ledger check', () => {
  beforeEach(async () => {
    await runLedgerCheck(t.app);
    expect(await listProblems(t.app.db, 1_000)).toEqual([]);
  });

  test.each(Object.keys(kinds))('%s: new damage is found by the next check of what is new', async (kind) => {
    await settleLedger(t.app);
    const damage = await kinds[kind]!();
    await byForce(damage.apply);
    await checkNew(t.app);
    expect(await found(damage)).toBe(true);
    // It stays known when it is not new any more, and is the answer of every later check until it is corrected.
    await settleLedger(t.app);
    expect((await runLedgerCheck(t.app)).problems).toContainEqual(
      expect.objectContaining({ problem: damage.problem, rowId: damage.rowId }),
    );
    expect((await readLedgerHealth(t.app)).isOk).toBe(false);
    await t.app.db.sql("DELETE FROM jobs.job WHERE name = 'ops.report-fault'");
    await ledgerJobs.find(({ name }) => name === 'ledger.check')!.handle(t.app, RUNNING);
    const [reported] = await t.app.db.sql<{ data: object }>("SELECT data FROM jobs.job WHERE name = 'ops.report-fault'");
    expect(reported!.data).toMatchObject({ kind: 'ledger_problems', detail: expect.stringContaining(damage.problem) });
    await byForce(damage.undo);
    expect((await runLedgerCheck(t.app)).problems).toEqual([]);
    expect((await readLedgerHealth(t.app)).isOk).toBe(true);
  });

  test.each(Object.keys(kinds))('%s: old damage is found by the check of everything', async (kind) => {
    const damage = await kinds[kind]!();
    await settleLedger(t.app);
    await byForce(damage.apply);
    await checkNew(t.app);
    expect(await found(damage)).toBe(damage.isAlwaysNew ?? false);
    await runLedgerCheck(t.app, { onFullStep: () => undefined });
    expect(await found(damage)).toBe(true);
    expect(await checkLedger(t.app)).toContainEqual(expect.objectContaining({ problem: damage.problem, rowId: damage.rowId }));
    await byForce(damage.undo);
    expect((await runLedgerCheck(t.app)).problems).toEqual([]);
  });

  test('a new entry of an old transaction is found by the next check of what is new', async () => {
    const { transactionId, contraAccountId } = await aMovement(t.app);
    await settleLedger(t.app);
    // Raw SQL: written past the guards, as damage is.
    await byForce(
      `INSERT INTO ledger_entries (transaction_id, account_id, kopeks) VALUES (${transactionId}, ${contraAccountId}, 3)`,
    );
    await checkNew(t.app);
    expect(await listProblems(t.app.db, 10)).toMatchObject([{ problem: 'entries_do_not_sum_to_zero', rowId: transactionId }]);
    await byForce(`DELETE FROM ledger_entries WHERE transaction_id = ${transactionId} AND kopeks = 3`);
  });

  test('a row with an id above all given ones is found', async () => {
    const { userId } = await aMovement(t.app);
    // Raw SQL: written past the guards, as damage is.
    await byForce(`INSERT INTO transactions (id, user_id, type, amount_kopeks) VALUES (2147483000, ${userId}, 'deposit', 5)`);
    await checkNew(t.app);
    expect(await listProblems(t.app.db, 10)).toMatchObject([{ rowId: 2_147_483_000 }]);
    await byForce('DELETE FROM transactions WHERE id = 2147483000');
  });

  test('the checked sums are those of the entries, however often the check runs', async () => {
    const { userId } = await aMovement(t.app);
    await settleLedger(t.app);
    await aMovement(t.app, userId);
    await settleLedger(t.app);
    await runLedgerCheck(t.app);
    const [row] = await t.app.db.sql<{ wallets: number; differing: number }>(
      `SELECT count(*)::int AS wallets, count(*) FILTER (WHERE c.kopeks IS DISTINCT FROM (SELECT coalesce(sum(e.kopeks), 0) FROM ledger_entries e
         WHERE e.account_id = a.id AND e.id <= c.through_entry_id))::int AS differing
       FROM ledger_accounts a LEFT JOIN ledger_checked_balances c ON c.account_id = a.id WHERE a.kind = 'user_wallet'`,
    );
    expect(row!.wallets).toBeGreaterThan(0);
    expect(row!.differing).toBe(0);
  });

  test('a checked sum of entries that were corrected since is corrected by the check of everything', async () => {
    const { userId } = await aMovement(t.app);
    await settleLedger(t.app);
    const wallet = `account_id = (SELECT id FROM ledger_accounts WHERE user_id = ${userId})`;
    await byForce(`UPDATE ledger_checked_balances SET kopeks = kopeks + 9 WHERE ${wallet}`);
    await aMovement(t.app, userId);
    expect((await runLedgerCheck(t.app, { onFullStep: () => undefined })).problems).toEqual([]);
    const [row] = await t.app.db.sql<{ isRight: boolean }>(
      `SELECT c.kopeks = (SELECT sum(e.kopeks) FROM ledger_entries e WHERE e.account_id = c.account_id AND e.id <= c.through_entry_id)
         AS is_right FROM ledger_checked_balances c WHERE ${wallet}`,
    );
    expect(row!.isRight).toBe(true);
  });

  test('a mark of another server, which came with a restore, is replaced', async () => {
    const { transactionId } = await aMovement(t.app);
    const mark = { transactionId, entryId: 1, xid: '999999999999' };
    await mergeState(t.app.db, 'ledger:check', { mark });
    await checkNew(t.app);
    expect((await readCheckState(t.app.db)).mark).not.toMatchObject({ xid: mark.xid });
    await settleLedger(t.app);
  });
});

describe('a check that does not run', () => {
  test('turns the answer to "not in order" after two hours, as does one that fails, and both are logged', async () => {
    const errors: string[] = [];
    const log = { ...t.app.log, error: (_fields: object, message: string) => errors.push(message) } as unknown as Logger;
    const app = { ...t.app, log };
    await runLedgerCheck(app);
    errors.length = 0;
    expect(await readLedgerHealth(app)).toMatchObject({ isOk: true, ageSeconds: 0 });
    t.clock.advance(119 * MINUTE_MS);
    expect(await readLedgerHealth(app)).toMatchObject({ isOk: true, isLate: false, ageSeconds: 119 * 60 });

    await app.db.sql('ALTER FUNCTION ledger_check_payments() RENAME TO ledger_check_payments_away');
    await expect(runLedgerCheck(app)).rejects.toThrow(/ledger_check_payments/);
    expect(errors).toEqual(['THE LEDGER CHECK DID NOT COMPLETE']);
    await app.db.sql('ALTER FUNCTION ledger_check_payments_away() RENAME TO ledger_check_payments');
    t.clock.advance(2 * MINUTE_MS);
    // Another instance returns the same answer.
    const other = await testApp({ database, clock: t.clock });
    expect(await readLedgerHealth(other.app)).toMatchObject({
      isOk: false,
      isLate: true,
      hasProblems: false,
      ageSeconds: 121 * 60,
    });

    await runLedgerCheck(app);
    expect(errors).toEqual(['THE LEDGER CHECK DID NOT COMPLETE', 'NO LEDGER CHECK WAS COMPLETED IN TIME']);
    expect(await readLedgerHealth(other.app)).toMatchObject({ isOk: true, ageSeconds: 0 });
  });
});

describe('progress', () => {
  test('a new installation has two hours for its first check', async () => {
    const fresh = await freshDatabase();
    try {
      const { app, clock } = await testApp({ database: fresh });
      const since = new Date((await readCheckState(app.db)).since!);
      clock.set(new Date(since.getTime() + HOUR_MS));
      expect(await readLedgerHealth(app)).toMatchObject({ isOk: null, checkedAt: null, fullAgeSeconds: null });
      clock.set(new Date(since.getTime() + 2 * HOUR_MS + 1));
      expect(await readLedgerHealth(app)).toMatchObject({ isOk: false, checkedAt: null });
    } finally {
      await fresh.drop();
    }
  });

  test('the check of everything goes on where it was, also in another process, and reports what an earlier run found', async () => {
    const fresh = await freshDatabase();
    try {
      const { app, clock } = await testApp({ database: fresh });
      const { userId, transactionId } = await aMovement(app);
      await settleLedger(app);
      await runLedgerCheck(app);
      const first = (await readCheckState(app.db)).lastPass!;
      // As many ids as a large ledger has: 51 steps of transactions and one of users.
      await app.db.sql("SELECT setval('transactions_id_seq', 1000000)");
      const force = (sql: string) =>
        fresh.jobDatabase.executeSql(`BEGIN; SET LOCAL session_replication_role = replica; ${sql}; COMMIT`);
      await force(`UPDATE ledger_entries SET kopeks = kopeks + 1 WHERE transaction_id = ${transactionId} AND kopeks < 0;
        UPDATE users SET balance_kopeks = balance_kopeks + 7 WHERE id = ${userId}`);
      const kindsFound: string[][] = [];
      const ends: (number | null)[] = [];
      for (let run = 0; run < 6; run++) {
        clock.advance(HOUR_MS);
        const instance = await testApp({ database: fresh, clock });
        kindsFound.push((await runLedgerCheck(instance.app)).problems.map((row) => row.problem).sort());
        ends.push((await readCheckState(app.db)).pass?.after ?? null);
      }
      expect(ends).toEqual([200_000, 400_000, 600_000, 800_000, -2_147_483_649, null]);
      const [sum, balance] = ['entries_do_not_sum_to_zero', 'balance_differs_from_ledger'];
      expect(kindsFound).toEqual([[sum], [sum], [sum], [sum], [sum], [balance, sum]]);
      const { lastPass } = await readCheckState(app.db);
      expect(lastPass!.startedAt > first.startedAt).toBe(true);
      expect(await readLedgerHealth(app)).toMatchObject({ isOk: false, fullAgeSeconds: 5 * 3_600 });
    } finally {
      await fresh.drop();
    }
  });
});
