import { expect, test } from 'vitest';
import {
  type InterfaceWordsCost,
  interfaceWordsFaults,
  interfaceWordsTable,
  interfaceWordsVerdicts,
} from '../../../packages/measures/src/bench/interface-words-cost.ts';

const aCost: InterfaceWordsCost = {
  title: 'GET /cabinet/balance, JWT',
  rootMicros: 100,
  mountMicros: 105,
  growth: { median: 0.05, min: 0.02, max: 0.08 },
  requests: 10_000,
  failures: 0,
};
const dearer = (median: number): InterfaceWordsCost => ({ ...aCost, growth: { ...aCost.growth, median } });

test('the aims are a median of all paths and a limit of each', () => {
  const isMet = (costs: InterfaceWordsCost[]) => interfaceWordsVerdicts(costs).map((verdict) => verdict.isMet);
  expect(isMet([aCost, dearer(0.04), dearer(0.19)])).toEqual([true, true]);
  expect(isMet([aCost, dearer(0.04), dearer(0.21)])).toEqual([true, false]);
  expect(isMet([dearer(0.11), dearer(0.12)])).toEqual([false, true]);
  expect(interfaceWordsVerdicts([])).toEqual([]);
  expect(interfaceWordsTable([aCost])).toContain('5.0 % (2.0 % to 8.0 %)');
});

test('a refused request is a fault', () => {
  expect(interfaceWordsFaults([aCost])).toEqual([]);
  expect(interfaceWordsFaults([{ ...aCost, failures: 2 }])).toHaveLength(1);
});
