import type { App } from '../../../core/app.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import {
  addCheckedEntries,
  checkEntries,
  checkPayments,
  checkTransactions,
  countTransactionRange,
  limitStatements,
  readGivenIds,
  readProgressOf,
  readTransactionXid,
} from './repo.ts';
import { type LedgerPoint, readCheckState, stepOfCheck } from './state.ts';

/** Ids of one range. A movement has one transaction and two entries. */
const RANGE: LedgerPoint = { transactionId: 20_000, entryId: 40_000 };
/** No id is higher: the last range has no other end, so that it also finds rows that were written with ids of their own. */
const END: LedgerPoint = { transactionId: 2_147_483_647, entryId: Number.MAX_SAFE_INTEGER };

export interface NewRows {
  /** Ids up to here are given. */
  through: LedgerPoint;
  /** Transactions that were checked, among them those of the last check that were not settled then. */
  transactions: number;
}

/**
 * Checks what is new since the last check.
 *
 * A row gets its id before it commits, so a row with a lower id can appear after one with a higher id was checked. Therefore each check
 * notes the ids given so far and the id of a database transaction that began later. Once all transactions before that one have ended
 * (`pg_snapshot_xmin`), no row up to those ids can appear any more: the next check verifies that range a last time and the watermark
 * moves to its end. What is above the watermark is checked every time as far as it is visible.
 */
export async function checkNew(app: App, signal?: AbortSignal): Promise<NewRows> {
  // Before the mark: whoever got one of these ids has a lower transaction id than the mark.
  const given = await readGivenIds(app.db);
  while (await checkSettledRange(app)) signal?.throwIfAborted();
  await setMark(app, given);
  const transactions = await checkVisible(app, given, signal);
  await checkPayments(app.db, app.clock.now());
  return { through: given, transactions };
}

/** Checks a range of settled rows and moves the watermark to its end. @returns whether there is another */
function checkSettledRange(app: App): Promise<boolean> {
  return stepOfCheck(app, async (t, { mark, checked }) => {
    if (!mark) return { changes: {}, result: false };
    const progress = await readProgressOf(t.db, mark.xid);
    if (progress === 'unknown') return { changes: { mark: null }, result: false };
    if (progress === 'running') return { changes: {}, result: false };
    const { xid: _xid, ...target } = mark;
    // The first time: the full pass begins again, because what was not visible when it passed is visible now.
    if (!checked) {
      const baselineAt = app.clock.now().toISOString();
      return { changes: { checked: target, mark: null, pass: null, baselineAt }, result: false };
    }
    const next = following(checked, target);
    await checkRange(t, checked, next, checked.transactionId);
    await addCheckedEntries(t.db, { after: checked.entryId, through: next.entryId });
    const isDone = isSame(next, target);
    return { changes: isDone ? { checked: next, mark: null } : { checked: next }, result: !isDone };
  });
}

function setMark(app: App, given: LedgerPoint): Promise<void> {
  return stepOfCheck(app, async (t, state) => {
    const changes = state.mark ? {} : { mark: { ...given, xid: await readTransactionXid(t.db) } };
    return { changes, result: undefined };
  });
}

/** Checks all visible rows above the watermark. @returns how many transactions these are */
async function checkVisible(app: App, given: LedgerPoint, signal?: AbortSignal): Promise<number> {
  const { checked, mark } = await readCheckState(app.db);
  const watermark = checked ?? mark ?? given;
  let from: LedgerPoint = { transactionId: watermark.transactionId, entryId: watermark.entryId };
  let transactions = 0;
  for (let isLast = false; !isLast; ) {
    signal?.throwIfAborted();
    const next = following(from, given);
    isLast = isSame(next, given);
    const end = isLast ? END : next;
    transactions += await inTransaction(app, async (t) => {
      await limitStatements(t.db);
      await checkRange(t, from, end, watermark.transactionId);
      return countTransactionRange(t.db, { after: from.transactionId, through: end.transactionId });
    });
    from = next;
  }
  return transactions;
}

async function checkRange(t: App, from: LedgerPoint, to: LedgerPoint, throughTransaction: number): Promise<void> {
  const now = t.clock.now();
  await checkTransactions(t.db, { after: from.transactionId, through: to.transactionId }, now);
  await checkEntries(t.db, { after: from.entryId, through: to.entryId }, throughTransaction, now);
}

/** The end of the range after `from`, not beyond `target`. */
function following(from: LedgerPoint, target: LedgerPoint): LedgerPoint {
  return {
    transactionId: Math.min(target.transactionId, from.transactionId + RANGE.transactionId),
    entryId: Math.min(target.entryId, from.entryId + RANGE.entryId),
  };
}

const isSame = (a: LedgerPoint, b: LedgerPoint): boolean => a.transactionId === b.transactionId && a.entryId === b.entryId;
