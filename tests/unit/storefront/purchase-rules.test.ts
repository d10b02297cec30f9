import { describe, expect, it } from 'vitest';
import {
  isLive,
  isToken,
  maskContact,
  needsActivation,
  nextAttempt,
  readContact,
  shownStatus,
} from '../../../src/domain/storefront/purchases/rules.ts';
import type { SubscriptionStatus } from '../../../src/domain/subscriptions/types.ts';

const now = new Date('2026-05-10T00:00:00Z');
const minutes = (count: number) => new Date(now.getTime() + count * 60_000);

describe('readContact', () => {
  it.each([
    ['email', ' Somebody@Example.COM ', 'somebody@example.com'],
    ['email', 'a.b+c@sub.example.co', 'a.b+c@sub.example.co'],
    ['messenger', 'abcde', '@abcde'],
    ['messenger', '@A_9876', '@A_9876'],
    ['messenger', `@${'a'.repeat(32)}`, `@${'a'.repeat(32)}`],
  ] as const)('%s "%s" is %s', (type, text, value) => expect(readContact(type, text)).toEqual({ type, value }));

  it.each([
    ['email', 'nobody'],
    ['email', 'a@b'],
    ['email', 'a@b..com'],
    ['email', 'a b@example.com'],
    ['email', '<a>@example.com'],
    ['email', `${'a'.repeat(65)}@example.com`],
    ['email', 'a@example.com\nBcc: b@example.com'],
    ['messenger', '@abcd'],
    ['messenger', '@1abcd'],
    ['messenger', '@@abcde'],
    ['messenger', '@abc-de'],
    ['messenger', `@${'a'.repeat(33)}`],
    ['messenger', 'a@example.com'],
  ] as const)('%s "%s" is none', (type, text) => expect(readContact(type, text)).toBeNull());
});

it.each([
  ['somebody@example.com', 'so***@example.com'],
  ['a@example.com', 'a***@example.com'],
  ['@abcdef', '@ab***'],
  ['id:1234567', 'id:***'],
])('%s is masked as %s', (value, masked) => expect(maskContact(value)).toBe(masked));

it.each([
  ['a'.repeat(64), true],
  [`${'a'.repeat(62)}-_`, true],
  ['a'.repeat(63), false],
  ['a'.repeat(65), false],
  [`${'a'.repeat(63)}%`, false],
])('spec 03 H2: "%s" has the form of a token: %s', (text, expected) => expect(isToken(text)).toBe(expected));

describe('consent', () => {
  const rows: [SubscriptionStatus, number, boolean][] = [
    ['active', 1, true],
    ['trial', 1, true],
    ['limited', 1, true],
    ['active', 0, false],
    ['active', -1, false],
    ['expired', 1, false],
    ['disabled', 1, false],
    ['pending', 1, false],
  ];
  it.each(rows)('a subscription %s that ends in %i minutes would be lost: %s', (status, left, expected) => {
    expect(isLive({ status, endDate: minutes(left) }, now)).toBe(expected);
    expect(needsActivation({ isGift: false }, { status, endDate: minutes(left) }, now)).toBe(expected);
    expect(needsActivation({ isGift: true }, { status, endDate: minutes(left) }, now)).toBe(true);
  });
  it('is not needed without a subscription', () => {
    for (const isGift of [true, false]) expect(needsActivation({ isGift }, null, now)).toBe(false);
  });
});

it.each([
  [0, 5],
  [1, 10],
  [2, 20],
  [3, 40],
  [4, 60],
  [19, 60],
])('after %i tries the next one waits %i minutes', (tries, wait) => expect(nextAttempt(tries, now)).toEqual(minutes(wait)));

it('an activation under way is shown as paid', () => {
  expect(shownStatus({ status: 'pending_activation', grantedAt: now })).toBe('paid');
  expect(shownStatus({ status: 'pending_activation', grantedAt: null })).toBe('pending_activation');
  expect(shownStatus({ status: 'delivered', grantedAt: now })).toBe('delivered');
});
