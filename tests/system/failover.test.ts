/** The short form of `npm run drill -- scale`: the primary of a replicated PostgreSQL is killed under load (docs/scaling.md). */
import { afterAll, describe, expect, test } from 'vitest';
import { undoNow } from '../../packages/measures/src/drills/cleanup.ts';
import { runFailover, standOf } from '../../packages/measures/src/drills/failover-drill.ts';
import { type FailoverFault, LOSING_FAULT } from '../../packages/measures/src/drills/options.ts';
import { DrillReport } from '../../packages/measures/src/drills/report.ts';
import { openStand, PROJECT_STAND, projectStandProblem } from '../../packages/measures/src/drills/stand.ts';
import { sampleOf } from '../support/matrix-sample.ts';

const problem = projectStandProblem();
const leftOut = problem === null ? '' : ` (left out: ${problem})`;

describe.skipIf(problem !== null)(
  `spec 08 section 4: a replicated PostgreSQL whose primary is killed under load${leftOut}`,
  () => {
    afterAll(() => undoNow());

    const killed: readonly FailoverFault[] = ['kill-primary', 'kill-hammer'];
    const ways = [
      ['reached by its address it has every acknowledged write once, and every event arrived once', killed, false],
      [
        'reached by PgBouncer in transaction mode it has every acknowledged write once, and every event arrived once',
        killed,
        true,
      ],
      [
        'replicated asynchronously it loses acknowledged writes, and every event that is left arrived once',
        [LOSING_FAULT],
        false,
      ],
    ] as const;
    // Each is minutes long.
    test.each(sampleOf(ways, ([way]) => way, ways.length))('%s', async (_way, faults, isPooled) => {
      const stand = await openStand(PROJECT_STAND, null, standOf(faults));
      const report = new DrillReport();
      const shown: string[] = [];
      const show = (text: string) => void shown.push(text);
      const options = { seed: Number(process.env.DRILL_SEED ?? 20_261_128), writes: 300, pauseSeconds: 8, payments: 200 };
      await runFailover(stand, { ...options, faults, isPooled }, report, show, show);
      expect(report.areChecksMet, [...shown, report.render()].join('\n')).toBe(true);
      await stand.close();
    });
  },
);
