import { expect, it } from 'vitest';
import { addDays } from '../../../src/core/clock.ts';
import { warningsBeforeEnd } from '../../../src/domain/subscriptions/reminders/rules.ts';

const now = new Date('2026-03-01T12:00:00Z');
const stretches = (days: string) =>
  warningsBeforeEnd(days, now).map(({ discriminator, endsAfter, endsUntil }) => [discriminator, endsAfter, endsUntil]);

it('gives each number of days the stretch down to the next smaller one', () => {
  const wanted = [
    ['1', now, addDays(now, 1)],
    ['3', addDays(now, 1), addDays(now, 3)],
  ];
  expect(stretches('3,1')).toEqual(wanted);
  expect(stretches(' 1, 3 ,3')).toEqual(wanted);
});

it.each(['', 'soon', '0', '-3', '1.5', '99999999999', 'Infinity'])('leaves out %j', (slip) => {
  expect(stretches(slip)).toEqual([]);
  expect(stretches(`1,${slip}`)).toEqual([['1', now, addDays(now, 1)]]);
});
