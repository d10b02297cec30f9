/** The short form of `npm run drill -- scale`: the primary of a replicated PostgreSQL is killed under load (docs/scaling.md). */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { undoNow } from '../../packages/measures/src/drills/cleanup.ts';
import { runFailover } from '../../packages/measures/src/drills/failover-drill.ts';
import type { FailoverFault } from '../../packages/measures/src/drills/options.ts';
import { DrillReport } from '../../packages/measures/src/drills/report.ts';
import { openStand, PROJECT_STAND, projectStandProblem, type Stand } from '../../packages/measures/src/drills/stand.ts';
import { sampleOf } from '../support/matrix-sample.ts';

const problem = projectStandProblem();
const leftOut = problem === null ? '' : ` (left out: ${problem})`;

describe.skipIf(problem !== null)(
  `spec 08 section 4: a replicated PostgreSQL whose primary is killed under load${leftOut}`,
  () => {
    let stand: Stand;
    beforeAll(async () => {
      stand = await openStand(PROJECT_STAND, null);
    });
    afterAll(() => undoNow());

    const faults: readonly FailoverFault[] = ['kill-primary', 'kill-hammer'];
    const ways = [
      ['by its address', false],
      ['by PgBouncer in transaction mode', true],
    ] as const;
    // Each is minutes long.
    test.each(sampleOf(ways, ([way]) => way, ways.length))(
      'reached %s it has every acknowledged write once, and every event arrived once',
      async (_way, isPooled) => {
        const report = new DrillReport();
        const shown: string[] = [];
        const show = (text: string) => void shown.push(text);
        const options = { seed: Number(process.env.DRILL_SEED ?? 20_261_128), writes: 300, pauseSeconds: 0, payments: 200 };
        await runFailover(stand, { ...options, faults, isPooled }, report, show, show);
        expect(report.areChecksMet, [...shown, report.render()].join('\n')).toBe(true);
      },
    );
  },
);
