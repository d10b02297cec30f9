import type { App } from '../../../core/app.ts';
import { HOUR_MS, SECOND_MS } from '../../../core/clock.ts';
import { listProblemKinds, readGivenIds } from './repo.ts';
import { readCheckState } from './state.ts';

/** Two rounds of the job: the metric becomes 0 when no check has come to its end for as long. */
export const LATE_AFTER_MS = 2 * HOUR_MS;

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
  const secondsSince = (moment: string) => Math.max(0, (now - new Date(moment).getTime()) / SECOND_MS);
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
