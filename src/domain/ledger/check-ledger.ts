import type { App } from '../../core/app.ts';
import { checkNew, type NewRows } from './check/check-new.ts';
import { continueFullPass, runFullPass } from './check/full-pass.ts';
import { readLedgerHealth } from './check/health.ts';
import { countLedgerRows, deleteCorrectedProblems, type LedgerCounts, type LedgerProblem, listProblems } from './check/repo.ts';
import { stepOfCheck } from './check/state.ts';

export type { LedgerProblem } from './check/repo.ts';

const LISTED = 1_000;
const LOGGED = 20;

/** Proves the whole ledger by one statement (spec 00, Ledger). An empty list means that it is clean. Reads only. For small ledgers. */
export function checkLedger(app: App): Promise<LedgerProblem[]> {
  return app.db.sql<LedgerProblem>('SELECT problem, row_id, detail FROM ledger_check() LIMIT $1::int', [LISTED]);
}

/** Counts the rows of the ledger, however many there are. */
export function countLedger(app: App): Promise<LedgerCounts> {
  return countLedgerRows(app.db);
}

export interface LedgerCheckOptions {
  signal?: AbortSignal;
  /** Checks everything from the start, instead of a share; gets the part that is done, 0 to 1. */
  onFullStep?: (share: number) => void;
}

export interface LedgerCheckResult extends NewRows {
  /** What is wrong now, at most 1000. */
  problems: LedgerProblem[];
}

/**
 * Checks what is new since the last check, and a share of everything, so that all of it is checked once a week (spec 00, Ledger; spec 08
 * S7). Violations are stored until a check finds their rows in order, and logged as an error; nothing repairs them. Several instances can
 * check at the same time.
 * @throws what the database throws, after it was logged: the moment of the last complete check then stays as it was, which is an alarm
 */
export async function runLedgerCheck(app: App, { signal, onFullStep }: LedgerCheckOptions = {}): Promise<LedgerCheckResult> {
  try {
    const { isLate, checkedAt } = await readLedgerHealth(app);
    if (isLate) app.log.error({ lastCheckedAt: checkedAt }, 'NO LEDGER CHECK WAS COMPLETED IN TIME');
    const found = await checkNew(app, signal);
    if (onFullStep) await runFullPass(app, onFullStep, signal);
    else await continueFullPass(app, signal);
    while ((await deleteCorrectedProblems(app.db, LISTED)) === LISTED) signal?.throwIfAborted();
    const completedAt = app.clock.now().toISOString();
    await stepOfCheck(app, async () => ({ changes: { completedAt }, result: undefined }));
    const problems = await listProblems(app.db, LISTED);
    if (problems.length > 0)
      app.log.error({ problems: problems.slice(0, LOGGED), count: problems.length }, 'LEDGER CHECK FAILED');
    return { ...found, problems };
  } catch (error) {
    app.log.error({ err: error }, 'THE LEDGER CHECK DID NOT COMPLETE');
    throw error;
  }
}
