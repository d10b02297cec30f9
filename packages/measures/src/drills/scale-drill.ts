/** What several machines must survive (spec 08 section 4), on one replicated PostgreSQL, with one table of measurements (docs/scaling.md). */
import { runFailover, runFailoverDrill } from './failover-drill.ts';
import { type DrillOptions, FAILOVER_FAULTS, type FailoverFault, LOSING_FAULT } from './options.ts';
import type { DrillReport } from './report.ts';
import { runRestartDrill } from './restart-drill.ts';
import { openStand, PROJECT_STAND, projectStandProblem } from './stand.ts';

const PAYMENTS = 1_000;
/** Through the pooler: those that its connections notice in different ways. */
const POOLED_FAULTS: readonly FailoverFault[] = ['kill-primary', 'switchover', 'pause-primary'];

/** @returns false when packages are missing and the drill was left out */
export async function runScaleDrill(
  { drill: _drill, stand: script, folder, requests, ...options }: Extract<DrillOptions, { drill: 'scale' }>,
  report: DrillReport,
  progress: (text: string) => void,
): Promise<boolean> {
  const problem = script === PROJECT_STAND ? projectStandProblem() : null;
  if (problem !== null) {
    console.log(`Left out: ${problem} (as root: ${PROJECT_STAND} install).`);
    return false;
  }
  // On a stand of its own: ids of events are used again after a failover that loses them (spec 08 S5).
  report.beginPart('asynchronous');
  const losing = {
    ...options,
    stand: script,
    folder: null,
    payments: PAYMENTS,
    faults: [LOSING_FAULT],
    isPooled: false,
  } as const;
  await runFailoverDrill({ drill: 'failover', ...losing }, report, progress);
  progress('the stand');
  const stand = await openStand(script, folder);
  try {
    report.beginPart('direct');
    const direct = { ...options, payments: PAYMENTS, faults: FAILOVER_FAULTS, isPooled: false };
    await runFailover(stand, direct, report, progress, console.log);
    report.beginPart('through PgBouncer');
    await runFailover(stand, { ...direct, faults: POOLED_FAULTS, isPooled: true }, report, progress, console.log);
    report.beginPart('behind HAProxy');
    return await runRestartDrill({ ...options, requests }, report, progress, stand.primaryUrl);
  } finally {
    await stand.close();
  }
}
