import { describe, expect, test } from 'vitest';
import { fromStoredJson, toStoredJson } from '../../../src/core/stored-json.ts';
import { PLAIN_BOUNDS, planSearch, searchTerms, settleTotal, sliceOf } from '../../../src/domain/users/list/rules.ts';
import type { UserView } from '../../../src/domain/users/types.ts';

describe('sliceOf', () => {
  test.each([
    [
      { limit: 50, offset: 7, page: null, perPage: null },
      { limit: 50, offset: 7 },
    ],
    [
      { limit: 50, offset: 7, page: 1, perPage: null },
      { limit: 50, offset: 0 },
    ],
    [
      { limit: 50, offset: 7, page: 3, perPage: null },
      { limit: 50, offset: 100 },
    ],
    [
      { limit: 50, offset: 7, page: 3, perPage: 20 },
      { limit: 20, offset: 40 },
    ],
    [
      { limit: 50, offset: 7, page: null, perPage: 20 },
      { limit: 20, offset: 0 },
    ],
    [
      { limit: 50, offset: 0, page: Number.MAX_SAFE_INTEGER, perPage: 200 },
      { limit: 200, offset: Number.MAX_SAFE_INTEGER },
    ],
  ])('%j is %j', (request, slice) => expect(sliceOf(request)).toEqual(slice));
});

describe('searchTerms', () => {
  test.each([
    [null, null],
    ['', null],
    [' \u0000\u0001 ', null],
    [' Ivan ', { text: 'Ivan', pattern: '%Ivan%', id: null, messengerId: null }],
    ['50%_\\x', { text: '50%_\\x', pattern: '%50\\%\\_\\\\x%', id: null, messengerId: null }],
    ['2147483647', { text: '2147483647', pattern: '%2147483647%', id: 2_147_483_647, messengerId: 2_147_483_647 }],
    ['2147483648', { text: '2147483648', pattern: '%2147483648%', id: null, messengerId: 2_147_483_648 }],
    ['9007199254740993', { text: '9007199254740993', pattern: '%9007199254740993%', id: null, messengerId: null }],
    ['99999999999999999999', { text: '99999999999999999999', pattern: '%99999999999999999999%', id: null, messengerId: null }],
    ['12a', { text: '12a', pattern: '%12a%', id: null, messengerId: null }],
  ])('%j is %j', (search, terms) => expect(searchTerms(search)).toEqual(terms));
});

describe('planSearch', () => {
  test.each([
    [20_000, 20_000, 1, 'scan'],
    [20_001, 20_001, 0, 'index'],
    [1_000_000, 1_000_000, 0.009, 'index'],
    [1_000_000, 20_000, 0.009, 'index'],
    [1_000_000, 1_000_000, 0.01, 'walk'],
    [1_000_000, 20_000, 0.5, 'scan'],
    [1_000_000, 20_000, 0.099, 'index'],
    [1_000_000, 20_000, 0.1, 'scan'],
    [1_000_000, 200_000, 0.05, 'walk'],
    [1_000_000, 199_000, 0.05, 'index'],
  ])('%i users, %i listed, share %f: %s', (everyone, listed, share, plan) =>
    expect(planSearch(everyone, listed, share, PLAIN_BOUNDS)).toBe(plan),
  );
});

describe('settleTotal', () => {
  const slice = { limit: 50, offset: 100 };
  test.each([
    ['a full page keeps the estimate', 1_000, 50, 1_000],
    ['a full page is at least itself', 90, 50, 150],
    ['a page that is not full is the end', 1_000, 3, 103],
    ['an empty page lies past the end', 1_000, 0, 100],
    ['an empty page does not raise a low estimate', 60, 0, 60],
  ])('%s', (_name, estimate, found, total) => expect(settleTotal(estimate, slice, found)).toBe(total));
});

test('a view comes back from a stored answer unchanged', () => {
  const timestamp = new Date('2026-01-02T03:04:05.678Z');
  const view: UserView = {
    id: 1,
    messengerId: 2,
    username: 'u',
    firstName: null,
    lastName: null,
    status: 'active',
    language: 'ru',
    balanceKopeks: 3,
    referralCode: 'ref1',
    referredById: null,
    hasHadPaidSubscription: false,
    hasMadeFirstTopup: false,
    createdAt: timestamp,
    updatedAt: timestamp,
    lastActivity: null,
    promoGroup: null,
    subscription: {
      id: 4,
      status: 'active',
      actualStatus: 'active',
      isTrial: false,
      startDate: timestamp,
      endDate: timestamp,
      trafficLimitGb: 0,
      trafficUsedGb: 0.5,
      deviceLimit: 1,
      autopayEnabled: false,
      autopayDaysBefore: 3,
      subscriptionUrl: null,
      subscriptionCryptoLink: null,
      connectedSquads: ['a'],
    },
  };
  const replayed = (answer: UserView) => fromStoredJson<UserView>(JSON.parse(toStoredJson(answer)));
  expect(replayed(view)).toEqual(view);
  expect(replayed({ ...view, lastActivity: timestamp, subscription: null })).toEqual({
    ...view,
    lastActivity: timestamp,
    subscription: null,
  });
});
