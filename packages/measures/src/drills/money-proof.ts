/** Proves from the database that each acknowledged write was done exactly once. */
import type { ScratchDatabase } from '../bench/scratch-database.ts';
import { compareMovements, expectedBalances, type Movement } from './movement-check.ts';
import type { DrillReport } from './report.ts';
import type { WriteBook } from './write-book.ts';

/** State before the load. */
export interface MoneyBefore {
  lastTransaction: number;
  balances: ReadonlyMap<number, number>;
}

type Run = (text: string) => Promise<Record<string, unknown>[]>;

export async function readMoneyBefore(run: Run): Promise<MoneyBefore> {
  const [last] = await run('SELECT coalesce(max(id), 0) AS id FROM transactions');
  return { lastTransaction: Number(last!.id), balances: await readBalances(run) };
}

/** Acknowledged callbacks are credited by jobs: waits until none is open, at most `limitMs`. */
export async function waitForCallbacks(database: ScratchDatabase, limitMs: number): Promise<void> {
  const until = performance.now() + limitMs;
  for (;;) {
    const rows = await database.withSql((run) => run('SELECT count(*) AS n FROM provider_callbacks WHERE processed_at IS NULL'));
    if (Number(rows[0]!.n) === 0 || performance.now() > until) return;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

/**
 * @param options.mayLose replication was asynchronous: acknowledged writes may be missing
 * @returns counts of writes
 */
export async function proveMoney(
  database: ScratchDatabase,
  before: MoneyBefore,
  book: WriteBook,
  report: DrillReport,
  options = { mayLose: false },
): Promise<{ acknowledged: number; lost: number; doubled: number }> {
  const { movements, balances, problems } = await database.withSql(async (run) => ({
    movements: await readMovements(run, before.lastTransaction),
    balances: await readBalances(run),
    problems: await run('SELECT problem, row_id, detail FROM ledger_check()'),
  }));
  const { lost, doubled, changed, unknown, unanswered } = compareMovements(book.writes, movements);
  const acknowledged = book.writes.filter((write) => write.isAcknowledged).length;
  report.add(
    `acknowledged writes${options.mayLose ? '' : ': 0 lost'}`,
    `${acknowledged} acknowledged, ${movements.length} movements, ${lost.length} lost`,
    options.mayLose ? [] : lost,
  );
  report.add('keys: 0 doubled', `${book.writes.length} keys, ${doubled.length} doubled`, doubled);
  report.add('movements as they were asked for', `${changed.length} changed, ${unknown.length} unknown`, [
    ...changed,
    ...unknown,
  ]);
  report.add('each key was answered in the end', `${unanswered.length} unanswered`, unanswered);
  if (!options.mayLose) {
    const expected = expectedBalances(before.balances, book.writes, movements);
    const different = [...expected].filter(([userId, kopeks]) => balances.get(userId) !== kopeks);
    report.add(
      'balances equal the sum of acknowledged writes',
      `${expected.size} balances, ${different.length} differ`,
      different.map(([userId, kopeks]) => `user ${userId}: ${balances.get(userId)} kopeks, expected ${kopeks}`),
    );
  }
  report.add(
    'ledger check',
    `${problems.length} problems`,
    problems.map((problem) => JSON.stringify(problem)),
  );
  return { acknowledged, lost: lost.length, doubled: doubled.length };
}

/** Movements of money after a transaction. */
export async function readMovements(run: Run, after: number): Promise<Movement[]> {
  const rows = await run(
    `SELECT id, user_id, type, amount_kopeks, description, payment_method, external_id FROM transactions WHERE id > ${after} ORDER BY id`,
  );
  return rows.map((row) => ({
    id: Number(row.id),
    userId: Number(row.user_id),
    type: String(row.type),
    amountKopeks: Number(row.amount_kopeks),
    description: row.description as string | null,
    paymentMethod: row.payment_method as string | null,
    externalId: row.external_id as string | null,
  }));
}

async function readBalances(run: Run): Promise<Map<number, number>> {
  const rows = await run('SELECT id, balance_kopeks FROM users ORDER BY id');
  return new Map(rows.map((row) => [Number(row.id), Number(row.balance_kopeks)]));
}
