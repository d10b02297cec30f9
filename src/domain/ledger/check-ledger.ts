import type { App } from '../../core/app.ts';
import { addMs, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../core/clock.ts';
import type { Db } from '../../core/db/db.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { readProgressOf, readTransactionXid } from '../../core/db/transaction-progress.ts';
import { lockState, mergeState, readState } from '../../core/service-state.ts';
import {
  addCheckedEntries,
  checkBalances,
  checkEntries,
  checkPayments,
  checkTransactions,
  correctCheckedBalances,
  countLedgerRows,
  countTransactionRange,
  deleteCorrectedProblems,
  type LedgerCounts,
  type LedgerProblem,
  limitStatements,
  listProblemKinds,
  listProblems,
  readGivenIds,
  readHighestUserId,
} from './check/repo.ts';

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

/**
 * Checks what is new since the last check, and a share of everything, so that all of it is checked once a week (spec 00, Ledger; spec 08
 * S7). Violations are stored until a check finds their rows in order, and logged as an error; nothing repairs them. Several instances can
 * check at the same time.
 * @throws what the database throws, after it was logged: the time of the last complete check then stays unchanged, which is an alarm
 */
export async function runLedgerCheck(app: App, { signal, onFullStep }: LedgerCheckOptions = {}) {
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

/** Ids of one range. A movement has one transaction and two entries. */
const RANGE: LedgerPoint = { transactionId: 20_000, entryId: 40_000 };
/** No id is higher: the last range has no other end, so that it also finds rows that were written with ids of their own. */
const END: LedgerPoint = { transactionId: 2_147_483_647, entryId: Number.MAX_SAFE_INTEGER };

interface NewRows {
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

/** Ids of one step. */
const TRANSACTIONS = 20_000;
const USERS = 5_000;
/** Steps of every hourly run: a ledger with fewer steps is checked completely each time. */
const LEAST_STEPS = 10;
/** With a larger ledger a pass takes as many runs: six days of hourly runs, so that a week has room for some that do not take place. */
const RUNS_OF_A_PASS = 144;
/** As long as nothing was checked completely, a run does more than its share for this time. */
const FIRST_PASS_MS = 5 * MINUTE_MS;
/** Below every id, and the highest id. */
const BEFORE_ALL = -2_147_483_649;
const HIGHEST_ID = 2_147_483_647;

/** Continues the check of everything by this run's share, and begins a new pass after one that has ended. */
async function continueFullPass(app: App, signal?: AbortSignal): Promise<void> {
  const { lastPass, baselineAt } = await readCheckState(app.db);
  const isFirst = !lastPass || (baselineAt !== undefined && lastPass.startedAt < baselineAt);
  const until = addMs(app.clock.now(), FIRST_PASS_MS);
  const steps = Math.max(LEAST_STEPS, Math.ceil((await countSteps(app)) / RUNS_OF_A_PASS));
  for (let step = 0; step < steps || (isFirst && app.clock.now() < until); step++) {
    signal?.throwIfAborted();
    if (await checkStep(app)) return;
  }
}

/** Checks everything now, from the start. `onStep` gets the share that is done, 0 to 1. */
async function runFullPass(app: App, onStep: (share: number) => void, signal?: AbortSignal): Promise<void> {
  const pass = beginning(app);
  await stepOfCheck(app, async () => ({ changes: { pass }, result: undefined }));
  const total = await countSteps(app);
  // Another process may do some of the steps, or the last one.
  for (let step = 1; (await readCheckState(app.db)).pass?.startedAt === pass.startedAt; step++) {
    signal?.throwIfAborted();
    await checkStep(app);
    onStep(Math.min(1, step / total));
  }
}

const beginning = (app: App): FullPass => ({ startedAt: app.clock.now().toISOString(), part: 'transactions', after: BEFORE_ALL });

/** How many steps a pass has. */
async function countSteps(app: App): Promise<number> {
  const [{ transactionId }, userId] = [await readGivenIds(app.db), await readHighestUserId(app.db)];
  return Math.max(1, Math.ceil(transactionId / TRANSACTIONS)) + Math.max(1, Math.ceil(userId / USERS));
}

/** Checks the next range of the pass. @returns whether the pass has ended */
function checkStep(app: App): Promise<boolean> {
  return stepOfCheck(app, async (t, state) => {
    const pass = state.pass ?? beginning(app);
    return pass.part === 'transactions' ? stepOfTransactions(t, pass) : stepOfBalances(t, pass, state);
  });
}

interface Step {
  changes: LedgerCheckState;
  /** Whether the pass has ended. */
  result: boolean;
}

async function stepOfTransactions(t: App, pass: FullPass): Promise<Step> {
  const { transactionId } = await readGivenIds(t.db);
  const through = endOfStep(pass.after, TRANSACTIONS, transactionId);
  await checkTransactions(t.db, { after: pass.after, through }, t.clock.now());
  const next: FullPass = through === HIGHEST_ID ? { ...pass, part: 'balances', after: BEFORE_ALL } : { ...pass, after: through };
  return { changes: { pass: next }, result: false };
}

async function stepOfBalances(t: App, pass: FullPass, { checked }: LedgerCheckState): Promise<Step> {
  const through = endOfStep(pass.after, USERS, await readHighestUserId(t.db));
  const range = { after: pass.after, through };
  await checkBalances(t.db, range, t.clock.now());
  if (checked) await correctCheckedBalances(t.db, range, checked.entryId);
  if (through < HIGHEST_ID) return { changes: { pass: { ...pass, after: through } }, result: false };
  const lastPass = { startedAt: pass.startedAt, endedAt: t.clock.now().toISOString() };
  return { changes: { pass: null, lastPass }, result: true };
}

/** The last step has no other end than the highest id, so that rows with ids of their own are checked, too. */
function endOfStep(after: number, size: number, highest: number): number {
  const end = Math.max(after, 0) + size;
  return end >= highest ? HIGHEST_ID : end;
}

/** Two rounds of the job: the metric becomes 0 when no check has come to its end for as long. */
const LATE_AFTER_MS = 2 * HOUR_MS;

/** What is known about the ledger, by any instance. */
export interface LedgerHealth {
  /** False when a difference is stored, or when no check has come to its end in time; null = none has, but it is not late yet. */
  isOk: boolean | null;
  hasProblems: boolean;
  /** The kinds of differences that are stored. */
  problemKinds: string[];
  /** The highest id given to a transaction; 0 = there is none. */
  highestTransactionId: number;
  /** Whether the last check that came to its end is more than two hours old. */
  isLate: boolean;
  /** UTC. Null = none has come to its end. */
  checkedAt: Date | null;
  /** Since the last check that came to its end, or since checks were due. */
  ageSeconds: number;
  /** When the last check of everything ended, UTC; null = none has. */
  fullyCheckedAt: Date | null;
  /** Since the start of the last check of everything that has ended; null = none has. */
  fullAgeSeconds: number | null;
}

/** Reads it from the database, so that the answer is the same on every instance and after a restart. */
export async function readLedgerHealth(app: Pick<App, 'db' | 'clock'>): Promise<LedgerHealth> {
  const { completedAt, since, lastPass } = await readCheckState(app.db);
  const problemKinds = await listProblemKinds(app.db);
  const hasProblems = problemKinds.length > 0;
  const { transactionId: highestTransactionId } = await readGivenIds(app.db);
  const now = app.clock.now().getTime();
  const secondsSince = (timestamp: string) => Math.max(0, (now - new Date(timestamp).getTime()) / SECOND_MS);
  const ageSeconds = secondsSince(completedAt ?? since ?? new Date(0).toISOString());
  const isLate = ageSeconds * SECOND_MS > LATE_AFTER_MS;
  return {
    isOk: completedAt === undefined && !hasProblems && !isLate ? null : !hasProblems && !isLate,
    hasProblems,
    problemKinds,
    highestTransactionId,
    isLate,
    checkedAt: completedAt === undefined ? null : new Date(completedAt),
    ageSeconds,
    fullyCheckedAt: lastPass ? new Date(lastPass.endedAt) : null,
    fullAgeSeconds: lastPass ? secondsSince(lastPass.startedAt) : null,
  };
}

/** Up to which ids of `transactions` and of `ledger_entries`, both included. */
export interface LedgerPoint {
  transactionId: number;
  entryId: number;
}

/** A check of everything that is in progress: transactions by id, then balances by user id. */
interface FullPass {
  startedAt: string;
  part: 'transactions' | 'balances';
  /** Ids up to this one are checked. */
  after: number;
}

/** Progress of the ledger check, for all instances. Timestamps are ISO 8601, UTC. */
interface LedgerCheckState {
  /** When the first check was due at the earliest. */
  since?: string;
  /** Every row up to here is committed or rolled back, and was checked since. */
  checked?: LedgerPoint | null;
  /** When `checked` was set for the first time: rows up to that point are checked by the full pass alone. */
  baselineAt?: string;
  /**
   * The ids given until a point in time, and a database transaction that began after it; becomes `checked` when all earlier ones have
   * ended.
   */
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
function stepOfCheck<T>(
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
