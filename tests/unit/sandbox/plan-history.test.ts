import { type HistoryPlan, type PlannedAction, planHistory } from '@subscription-service/sandbox/history/plan-history';
import { describe, expect, it } from 'vitest';

const DAY_MS = 86_400_000;
const END = new Date('2026-11-20T12:00:00Z');
const plan = (seed = 1, people = 400, days = 180): HistoryPlan => planHistory({ people, days, end: END, seed });

const times = ({ actions }: HistoryPlan): number[] => actions.map(({ at }) => at.getTime());
const ofKind = <Kind extends PlannedAction['kind']>({ actions }: HistoryPlan, kind: Kind) =>
  actions.filter((action): action is Extract<PlannedAction, { kind: Kind }> => action.kind === kind);

describe('a planned past', () => {
  it('is in order, within its days and before the present', () => {
    const planned = times(plan());
    expect(planned).toEqual(planned.toSorted((a, b) => a - b));
    expect(planned.at(0)!).toBeGreaterThanOrEqual(END.getTime() - 180 * DAY_MS);
    expect(planned.at(-1)!).toBeLessThan(END.getTime());
  });

  it('is the same for the same seed, and another for another', () => {
    expect(plan(7)).toEqual(plan(7));
    expect(times(plan(7))).not.toEqual(times(plan(8)));
  });

  it('begins for each person with the registration', () => {
    const first = new Map<number, string>();
    for (const { person, kind } of plan().actions) if (!first.has(person)) first.set(person, kind);
    expect(new Set(first.values())).toEqual(new Set(['register']));
    expect(first.size).toBe(400);
  });

  it('names only referrers who came before', () => {
    const registrations = ofKind(plan(), 'register');
    const invited = registrations.filter(({ referrer }) => referrer !== null);
    expect(invited.length).toBeGreaterThan(40);
    expect(invited.filter(({ person, referrer }) => referrer! >= person)).toEqual([]);
  });

  it('pays enough for everything that is bought', () => {
    const planned = plan();
    const balances = new Map<number, number>();
    const bought = new Map<number, { tariff: number; days: number }>();
    const change = (person: number, kopeks: number) => balances.set(person, (balances.get(person) ?? 0) + kopeks);
    for (const action of planned.actions) {
      if (action.kind === 'topup' && action.isPaid) change(action.person, action.kopeks);
      if (action.kind === 'purchase') bought.set(action.person, action);
      if (action.kind === 'purchase' || action.kind === 'renewal') {
        const { tariff, days } = bought.get(action.person)!;
        change(action.person, -planned.tariffs[tariff]!.periodPrices[days]!);
        expect(balances.get(action.person)).toBeGreaterThanOrEqual(0);
      }
    }
    expect(bought.size).toBeGreaterThan(100);
  });

  it('has more people at its end than at its beginning', () => {
    const registered = ofKind(plan(), 'register').map(({ at }) => END.getTime() - at.getTime());
    const inLastThird = registered.filter((before) => before < 60 * DAY_MS).length;
    const inFirstThird = registered.filter((before) => before >= 120 * DAY_MS).length;
    expect(inLastThird).toBeGreaterThan(inFirstThird * 1.5);
  });
});
