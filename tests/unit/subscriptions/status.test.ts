import { describe, expect, it } from 'vitest';
import { actualStatus, daysLeft, isActive, reactivatedStatus, timeLeft } from '../../../src/domain/subscriptions/rules/status.ts';
import type { SubscriptionStatus } from '../../../src/domain/subscriptions/types.ts';
import { inDays, NOW } from './samples.ts';

const HOUR = 1 / 24;
const MINUTE = HOUR / 60;

describe('actual status', () => {
  it.each<[SubscriptionStatus, number, SubscriptionStatus]>([
    ['active', 1, 'active'],
    ['active', 0, 'expired'],
    ['active', -1, 'expired'],
    ['trial', 1, 'trial'],
    ['trial', -1, 'expired'],
    ['expired', 1, 'expired'],
    ['disabled', 1, 'disabled'],
    ['disabled', -1, 'disabled'],
    ['limited', -1, 'limited'],
    ['pending', -1, 'pending'],
  ])('%s with %d days left is %s', (status, days, actual) => {
    expect(actualStatus({ status, endDate: inDays(days) }, NOW)).toBe(actual);
  });

  it('is active only when stored as active and not over', () => {
    expect(isActive({ status: 'active', endDate: inDays(1) }, NOW)).toBe(true);
    expect(isActive({ status: 'active', endDate: NOW }, NOW)).toBe(false);
    expect(isActive({ status: 'trial', endDate: inDays(1) }, NOW)).toBe(false);
  });
});

describe('time left', () => {
  it.each([
    [3 + 5 * HOUR + MINUTE, 3, 5, 1, '3d 5h'],
    [1, 1, 0, 0, '1d 0h'],
    [2 * HOUR + 7 * MINUTE, 0, 2, 7, '2h 7m'],
    [7 * MINUTE, 0, 0, 7, '7m'],
    [MINUTE / 2, 0, 0, 0, '0m'],
    [-2, 0, 0, 0, '0m'],
  ])('%d days', (left, days, hours, minutes, display) => {
    expect(timeLeft({ endDate: inDays(left) }, NOW)).toEqual({ days, hours, minutes, display });
  });

  it('counts whole days', () => {
    expect(daysLeft({ endDate: inDays(2.9) }, NOW)).toBe(2);
  });
});

describe('reactivation', () => {
  it.each<SubscriptionStatus>(['disabled', 'expired', 'limited'])('turns %s active while time is left', (status) => {
    expect(reactivatedStatus({ status, endDate: inDays(1) }, NOW)).toBe('active');
    expect(reactivatedStatus({ status, endDate: NOW }, NOW)).toBe(status);
  });

  it.each<SubscriptionStatus>(['active', 'trial', 'pending'])('leaves %s alone', (status) => {
    expect(reactivatedStatus({ status, endDate: inDays(1) }, NOW)).toBe(status);
  });
});
