import { expect, it } from 'vitest';
import { addDays } from '../../../src/core/clock.ts';
import { reminderTuning } from '../../../src/domain/subscriptions/reminders/remind-owners.ts';
import { warningsBeforeEnd } from '../../../src/domain/subscriptions/reminders/rules.ts';

const now = new Date('2026-03-01T12:00:00Z');
const daysOf = (days: string) => warningsBeforeEnd(days, now)?.warningDays ?? null;

it('warns at each number of days once, the smallest in front', () => {
  expect(daysOf('3,1')).toEqual([1, 3]);
  expect(daysOf(' 1, 3 ,3')).toEqual([1, 3]);
});

it('looks as far ahead as an owner may choose, and further when the operator does', () => {
  expect(warningsBeforeEnd('3,1', now)).toMatchObject({ endsAfter: now, endsUntil: addDays(now, 30) });
  expect(warningsBeforeEnd('45', now)).toMatchObject({ endsUntil: addDays(now, 45) });
});

it.each(['', 'soon', '0', '-3', '1.5', '99999999999', 'Infinity'])('leaves out %j', (slip) => {
  expect(daysOf(slip)).toBeNull();
  expect(daysOf(`1,${slip}`)).toEqual([1]);
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
