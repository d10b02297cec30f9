import type { App } from '../../../core/app.ts';
import type { Db } from '../../../core/db/db.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { lockState, mergeState, readState } from '../../../core/service-state.ts';
import { limitStatements } from './repo.ts';

/** Up to which ids of `transactions` and of `ledger_entries`, both included. */
export interface LedgerPoint {
  transactionId: number;
  entryId: number;
}

/** A check of everything that is in progress: transactions by id, then balances by user id. */
export interface FullPass {
  startedAt: string;
  part: 'transactions' | 'balances';
  /** Ids up to this one are checked. */
  after: number;
}

/** Progress of the ledger check, for all instances. Moments are ISO 8601, UTC. */
export interface LedgerCheckState {
  /** When the first check was due at the earliest. */
  since?: string;
  /** Every row up to here is committed or rolled back, and was checked since. */
  checked?: LedgerPoint | null;
  /** When `checked` was set for the first time: rows up to that point are checked by the full pass alone. */
  baselineAt?: string;
  /** The ids given by a moment, and a database transaction that began after it; becomes `checked` when all earlier ones have ended. */
  mark?: (LedgerPoint & { xid: string }) | null;
  pass?: FullPass | null;
  lastPass?: { startedAt: string; endedAt: string } | null;
  /** When the last check that came to its end did so. */
  completedAt?: string;
}

const KEY = 'ledger:check';

/** What is stored now; empty when there is nothing. */
export async function readCheckState(db: Db): Promise<LedgerCheckState> {
  return (await readState<LedgerCheckState>(db, KEY)) ?? {};
}

/**
 * Runs one step of a check in a transaction that holds the lock of the state, so that the steps of two instances follow one another and
 * none is done twice. What the step returns is merged into the state.
 */
export function stepOfCheck<T>(
  app: App,
  step: (t: App, state: LedgerCheckState) => Promise<{ changes: LedgerCheckState; result: T }>,
): Promise<T> {
  return inTransaction(app, async (t) => {
    await limitStatements(t.db);
    const { changes, result } = await step(t, await lockState<LedgerCheckState>(t.db, KEY));
    if (Object.keys(changes).length > 0) await mergeState(t.db, KEY, { ...changes });
    return result;
  });
}
