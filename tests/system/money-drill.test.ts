/** The short form of `npm run drill -- money`: everything that moves money, on two instances that are killed (docs/drills.md). */
import { describe, expect, test } from 'vitest';
import { undoNow } from '../../packages/measures/src/drills/cleanup.ts';
import { runMoneyDrill } from '../../packages/measures/src/drills/money/money-drill.ts';
import { DrillReport } from '../../packages/measures/src/drills/report.ts';
import { amountOf } from '../support/matrix-sample.ts';
import { serverUrl } from '../support/test-database.ts';

describe.skipIf(!serverUrl)('money under kill -9 (left out without a server: TEST_DATABASE_URL)', () => {
  test('at all providers, with refunds, gifts, payouts, receipts and renewals: nothing is lost, doubled or stuck', async () => {
    const report = new DrillReport();
    const shown: string[] = [];
    const show = (text: string) => void shown.push(text);
    try {
      const seed = Number(process.env.DRILL_SEED ?? 20_261_122);
      expect(await runMoneyDrill({ drill: 'money', days: 1, daySeconds: amountOf(12, 6), seed }, report, show, show)).toBe(true);
    } finally {
      await undoNow();
    }
    expect(report.isMet, [...shown, report.render()].join('\n')).toBe(true);
  });
});
