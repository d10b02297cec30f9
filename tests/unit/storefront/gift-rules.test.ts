import { describe, expect, test } from 'vitest';
import { systemRandom } from '../../../src/core/random.ts';
import {
  buyerContact,
  claimVerdict,
  isContactOf,
  readGiftCode,
  readRecipient,
  refundObstacle,
} from '../../../src/domain/storefront/gifts/rules.ts';
import { CODE_LENGTH, isCode, newPurchaseToken } from '../../../src/domain/storefront/purchases/rules.ts';

describe('a code', () => {
  test('is read without blanks and without GIFT- or GIFT_ in any case', () => {
    for (const text of [
      'abcDEF-_1234',
      ' GIFT-abcDEF-_1234 ',
      'gift-abcDEF-_1234',
      'Gift- abcDEF-_1234\n',
      'GIFT_abcDEF-_1234',
    ]) {
      expect(readGiftCode(text)).toBe('abcDEF-_1234');
    }
    expect(readGiftCode('GIFT-GIFT-abcdefg')).toBe('GIFT-abcdefg');
  });

  test('of a new gift has more than 128 random bits and is the beginning of a token of 48 bytes', () => {
    const token = newPurchaseToken(systemRandom);
    expect(token).toMatch(/^[\w-]{64}$/);
    expect(CODE_LENGTH * 6).toBeGreaterThanOrEqual(128);
    expect(isCode(token.slice(0, CODE_LENGTH))).toBe(true);
  });

  test('spec 03 H2: wildcards, shorter texts and texts longer than a token are no codes', () => {
    for (const text of [
      '________%%%%',
      '%%%%%%%%%%%%',
      'abcdefghijk',
      'abcdefghijk\\',
      `${'a'.repeat(21)}'`,
      'a'.repeat(65),
      '',
    ]) {
      expect(isCode(text)).toBe(false);
    }
    for (const length of [12, 13, 22, 64]) expect(isCode('_'.repeat(length))).toBe(true);
  });
});

describe('a recipient', () => {
  test('is read in the forms of the specification', () => {
    expect(readRecipient('email', ' Friend@Example.COM ')).toEqual({ type: 'email', value: 'friend@example.com' });
    expect(readRecipient('messenger', 'Some_name')).toEqual({ type: 'messenger', value: '@Some_name' });
    expect(readRecipient('messenger', '@abcde')).toEqual({ type: 'messenger', value: '@abcde' });
    for (const text of ['a@b', 'a b@example.com', 'a@example.c', 'ä@example.com', 'a@example..com', '']) {
      expect(readRecipient('email', text)).toBeNull();
    }
    for (const text of ['@1abcd', 'abcd', `a${'b'.repeat(32)}`, 'some-name', '@@abcde']) {
      expect(readRecipient('messenger', text)).toBeNull();
    }
  });

  test('is the buyer by own name or own address, in any case', () => {
    const buyer = { email: 'me@example.com', username: 'MyName' };
    expect(isContactOf({ type: 'messenger', value: '@myname' }, buyer)).toBe(true);
    expect(isContactOf({ type: 'email', value: 'me@example.com' }, buyer)).toBe(true);
    expect(isContactOf({ type: 'email', value: 'you@example.com' }, buyer)).toBe(false);
    expect(isContactOf({ type: 'messenger', value: '@null' }, { email: null, username: null })).toBe(false);
  });
});

test('the buyer is named by address, else by name, else by id', () => {
  const person = { id: 7, email: 'a@example.com', username: 'name', messengerId: 55 };
  expect(buyerContact(person)).toEqual({ type: 'email', value: 'a@example.com' });
  expect(buyerContact({ ...person, email: null })).toEqual({ type: 'messenger', value: '@name' });
  expect(buyerContact({ ...person, email: null, username: null })).toEqual({ type: 'messenger', value: 'id:55' });
  expect(buyerContact({ ...person, email: null, username: null, messengerId: null })).toEqual({
    type: 'messenger',
    value: 'id:7',
  });
});

const [BUYER, FRIEND, STRANGER] = [1, 2, 3];
const code = {
  isGift: true,
  recipient: null,
  userId: null,
  buyerUserId: BUYER,
  status: 'paid' as const,
  grantedAt: null,
};
const directed = { ...code, recipient: { type: 'email' as const, value: 'a@example.com' }, userId: FRIEND };

describe('who may activate', () => {
  const verdict = (gift: Parameters<typeof claimVerdict>[0], userId: number, isGivable = true) =>
    claimVerdict(gift, userId, isGivable);

  test('a code: the first, but not its buyer', () => {
    expect(verdict(code, FRIEND)).toBe('claim');
    expect(verdict(code, BUYER)).toBe('own');
    expect(verdict({ ...code, userId: FRIEND, status: 'pending_activation' }, STRANGER)).toBe('not_found');
    expect(verdict({ ...code, userId: FRIEND, status: 'pending_activation' }, FRIEND)).toBe('claim');
    expect(verdict({ ...code, userId: FRIEND, status: 'pending_activation', grantedAt: new Date() }, FRIEND)).toBe('claimed');
    expect(verdict({ ...code, userId: FRIEND, status: 'delivered', grantedAt: new Date() }, FRIEND)).toBe('claimed');
  });

  test('spec 03 H2: a gift with a recipient, by that recipient alone', () => {
    expect(verdict(directed, FRIEND)).toBe('claim');
    expect(verdict(directed, STRANGER)).toBe('not_found');
    expect(verdict({ ...directed, userId: null }, STRANGER)).toBe('not_found');
    expect(verdict({ ...directed, userId: null, status: 'pending' }, BUYER)).toBe('own');
  });

  test('nothing that is unpaid or over, and no purchase for oneself', () => {
    for (const status of ['pending', 'failed', 'expired'] as const) {
      expect(verdict({ ...code, status }, FRIEND)).toBe('not_claimable');
    }
    expect(verdict({ ...directed, isGift: false }, FRIEND)).toBe('not_found');
  });

  test('nothing whose payer has the money back, except what was given before', () => {
    expect(verdict(code, FRIEND, false)).toBe('not_claimable');
    expect(verdict(directed, FRIEND, false)).toBe('not_claimable');
    expect(verdict({ ...directed, status: 'delivered', grantedAt: new Date() }, FRIEND, false)).toBe('claimed');
    expect(verdict(directed, STRANGER, false)).toBe('not_found');
  });
});

test('what may be refunded', () => {
  const obstacle = (gift: Parameters<typeof refundObstacle>[0], isReturned = false) => refundObstacle(gift, isReturned);
  const now = new Date();
  const paid = { ...code, paidAt: now, activationRequestedAt: null, refundTransactionId: null };
  expect(obstacle(paid)).toBeNull();
  expect(obstacle({ ...paid, ...directed })).toBeNull();
  expect(obstacle({ ...paid, ...directed, status: 'pending_activation' })).toBeNull();
  expect(obstacle({ ...paid, status: 'failed', userId: FRIEND, activationRequestedAt: now })).toBeNull();
  expect(obstacle({ ...paid, ...directed, status: 'pending_activation', activationRequestedAt: now })).toBe('claimed');
  expect(obstacle({ ...paid, userId: FRIEND })).toBe('claimed');
  expect(obstacle({ ...paid, grantedAt: now })).toBe('claimed');
  expect(obstacle({ ...paid, status: 'expired', paidAt: null })).toBe('unpaid');
  expect(obstacle({ ...paid, status: 'failed', refundTransactionId: 5 })).toBe('refunded');
  expect(obstacle({ ...paid, buyerUserId: null })).toBe('no_buyer');
  expect(obstacle({ ...paid, isGift: false })).toBe('not_a_gift');
  expect(obstacle(paid, true)).toBe('returned');
});
