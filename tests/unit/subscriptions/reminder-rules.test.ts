import { expect, it } from 'vitest';
import { addDays } from '../../../src/core/clock.ts';
import { reminderTuning } from '../../../src/domain/subscriptions/reminders/reminder-tuning.ts';
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

it.each([
  [null, true, 10, 24, 5],
  ['nonsense', true, 10, 24, 5],
  [{ expired_second_wave: { enabled: false }, expired_third_wave: { trigger_days: 90 } }, false, 10, 24, 60],
  [{ expired_second_wave: { discount_percent: 200, valid_hours: 0 } }, true, 100, 1, 5],
  [{ expired_second_wave: { discount_percent: 0 } }, false, 0, 24, 5],
])('what operators tuned: %j', (stored, enabled, discountPercent, validHours, triggerDays) => {
  const { secondWave, thirdWave } = reminderTuning(stored);
  expect(secondWave).toEqual({ enabled, discountPercent, validHours });
  expect(thirdWave.triggerDays).toBe(triggerDays);
});

it.each([
  [{ expired_1d: { enabled: false } }, false],
  [{ expired_1d: {} }, true],
  [{ expired_1d: 'nonsense' }, true],
  [null, true],
])('the reminder a day after the end, by %j', (stored, enabled) => {
  expect(reminderTuning(stored).dayAfterEnd).toEqual({ enabled });
});
