import { expect, test } from 'vitest';
import {
  type TelemetryCost,
  telemetryFaults,
  telemetryTable,
  telemetryVerdicts,
} from '../../../packages/measures/src/bench/telemetry-cost.ts';

const aCost: TelemetryCost = {
  title: 'GET /cabinet/balance, JWT',
  offMicros: 100,
  onMicros: 108,
  growth: { median: 0.08, min: 0.05, max: 0.12 },
  seamMicros: 0.4,
  spans: 900,
  requests: 10_000,
  failures: 0,
};

test('both costs are shares of the processor time of a request', () => {
  expect(telemetryVerdicts([aCost]).map(({ text, isMet }) => [text, isMet])).toEqual([
    ['0.4 %', true],
    ['8.0 %', true],
  ]);
  const dear = { ...aCost, seamMicros: 3.1, growth: { ...aCost.growth, median: 0.11 } };
  expect(telemetryVerdicts([dear]).map(({ isMet }) => isMet)).toEqual([false, false]);
  expect(telemetryTable([aCost])).toContain('8.0 % (5.0 % to 12.0 %)');
});

test('a run without spans has measured nothing', () => {
  expect(telemetryFaults([aCost])).toEqual([]);
  expect(telemetryFaults([{ ...aCost, spans: 0, failures: 2 }])).toHaveLength(2);
});
