import type { App } from '../../../core/app.ts';
import { addMs, MINUTE_MS } from '../../../core/clock.ts';
import { checkBalances, checkTransactions, correctCheckedBalances, readGivenIds, readHighestUserId } from './repo.ts';
import { type FullPass, type LedgerCheckState, readCheckState, stepOfCheck } from './state.ts';

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
export async function continueFullPass(app: App, signal?: AbortSignal): Promise<void> {
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
export async function runFullPass(app: App, onStep: (share: number) => void, signal?: AbortSignal): Promise<void> {
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
