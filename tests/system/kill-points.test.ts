/** The short form of `npm run drill -- kill-points`: operations that are killed at some of their points and repeated (docs/drills.md). */
import { describe, expect, test } from 'vitest';
import { undoNow } from '../../packages/measures/src/drills/cleanup.ts';
import { runKillPointsDrill } from '../../packages/measures/src/drills/kill-points/kill-points-drill.ts';
import { KILL_OPERATIONS } from '../../packages/measures/src/drills/kill-points/operation-names.ts';
import { DrillReport } from '../../packages/measures/src/drills/report.ts';
import { sampleOf } from '../support/matrix-sample.ts';
import { serverUrl } from '../support/test-database.ts';

describe.skipIf(!serverUrl)('kill -9 at a statement or a request (left out without a server: TEST_DATABASE_URL)', () => {
  test('an operation that is killed at any point and repeated ends as one that was not killed', async () => {
    const seed = Number(process.env.DRILL_SEED ?? process.env.MATRIX_SEED ?? Math.floor(Math.random() * 2 ** 31));
    console.log(`Points are chosen with DRILL_SEED=${seed}`);
    const report = new DrillReport();
    const shown: string[] = [];
    const show = (text: string) => void shown.push(text);
    const options = { operations: sampleOf(KILL_OPERATIONS, (name) => name, 2), points: 1, lanes: 1, seed };
    try {
      expect(await runKillPointsDrill({ drill: 'kill-points', ...options }, report, show, show)).toBe(true);
    } finally {
      await undoNow();
    }
    expect(report.isMet, [...shown, report.render()].join('\n')).toBe(true);
  });
});
