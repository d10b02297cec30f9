import { expect, it } from 'vitest';
import { DrillReport } from '../../../packages/measures/src/drills/report.ts';
import { prove } from '../../../packages/measures/src/drills/soak-drill.ts';

const minute = { requests: 1_000, p99Ms: 10, residentMiB: 300, oldestTransactionSeconds: 0.2, oldestWaitingSeconds: 1 };
const warm = { ...minute, p99Ms: 90, residentMiB: 200 };

/** Three minutes and more; the first two warm up. */
function provenBy(later: readonly (typeof minute)[], failures: Parameters<typeof prove>[2] = []): DrillReport {
  const report = new DrillReport();
  prove(report, [warm, warm, ...later], failures);
  return report;
}

it('holds while nothing grows after the first minutes', () => {
  expect(provenBy([minute, { ...minute, p99Ms: 12, residentMiB: 330 }]).isMet).toBe(true);
});

it.each([
  ['memory grows', { residentMiB: 331 }],
  ['answers become slower', { p99Ms: 12.1 }],
  ['a transaction stays open', { oldestTransactionSeconds: 31 }],
  ['a queue grows', { oldestWaitingSeconds: 31 }],
])('does not when %s', (_what, change) => {
  expect(provenBy([minute, { ...minute, ...change }]).isMet).toBe(false);
});

it('does not when an answer was a failure', () => {
  const report = provenBy([minute], [{ failures: 2, statuses: { 500: 2 } }]);
  expect(report.areChecksMet).toBe(false);
  expect(report.render()).toContain('2 failures, 500: 2');
});
