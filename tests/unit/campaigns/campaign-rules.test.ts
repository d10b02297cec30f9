import { describe, expect, test } from 'vitest';
import {
  bonusGap,
  paidUsers,
  partnerName,
  percentOfAll,
  registrantName,
  touchesBonus,
} from '../../../src/domain/campaigns/rules.ts';
import type { CampaignValues } from '../../../src/domain/campaigns/types.ts';
import { changeOf } from '../../../src/domain/referrals/stats/rules.ts';

const campaign = (values: Partial<CampaignValues>): CampaignValues => ({
  name: 'Spring',
  startParameter: 'spring',
  bonusType: 'none',
  balanceBonusKopeks: 0,
  subscriptionDurationDays: null,
  subscriptionTrafficGb: null,
  subscriptionDeviceLimit: null,
  subscriptionSquads: [],
  tariffId: null,
  tariffDurationDays: null,
  isActive: true,
  partnerUserId: null,
  ...values,
});

describe('a bonus that could never be given', () => {
  test.each([
    [{ bonusType: 'none' }, null],
    [{ bonusType: 'balance', balanceBonusKopeks: 1 }, null],
    [{ bonusType: 'balance' }, 'balance_bonus_kopeks'],
    [{ bonusType: 'subscription', subscriptionDurationDays: 1 }, null],
    [{ bonusType: 'subscription' }, 'subscription_duration_days'],
    [{ bonusType: 'subscription', subscriptionDurationDays: 0 }, 'subscription_duration_days'],
    [{ bonusType: 'tariff', tariffId: 1, tariffDurationDays: 1 }, null],
    [{ bonusType: 'tariff', tariffDurationDays: 1 }, 'tariff_id'],
    [{ bonusType: 'tariff', tariffId: 1 }, 'tariff_duration_days'],
  ] as const)('%j: %s', (values, field) => {
    expect(bonusGap(campaign(values))?.wireName ?? null).toBe(field);
  });

  test.each([
    [{}, false],
    [{ name: 'x', isActive: false, subscriptionTrafficGb: 5 }, false],
    [{ tariffId: null }, true],
    [{ bonusType: 'none' }, true],
    [{ balanceBonusKopeks: 0 }, true],
    [{ subscriptionDurationDays: undefined }, false],
  ] as const)('is looked for when the changes touch the bonus: %j %s', (changes, isTouched) => {
    expect(touchesBonus(changes)).toBe(isTouched);
  });
});

describe('statistics', () => {
  test.each([
    [0, 0, 0],
    [1, 3, 33.3],
    [2, 3, 66.7],
    [5, 2, 250],
    [5, 0, 0],
  ])('%i of %i is %f percent', (part, all, percent) => {
    expect(percentOfAll(part, all)).toBe(percent);
  });

  test('paid users are those known to have paid, or those flagged, whichever are more', () => {
    expect(paidUsers({ payers: 3, hadPaid: 5 })).toBe(5);
    expect(paidUsers({ payers: 3, hadPaid: 2 })).toBe(3);
  });

  test.each([
    [5, 0, { absolute: 5, percent: 100, trend: 'up' }],
    [0, 0, { absolute: 0, percent: 0, trend: 'stable' }],
    [4, 3, { absolute: 1, percent: 33.33, trend: 'up' }],
    [3, 4, { absolute: -1, percent: -25, trend: 'down' }],
    [0, 7, { absolute: -7, percent: -100, trend: 'down' }],
    [7, 7, { absolute: 0, percent: 0, trend: 'stable' }],
  ])('%i after %i', (current, previous, change) => {
    expect(changeOf(current, previous, 100)).toEqual(change);
  });
});

describe('names', () => {
  test.each([
    [{ id: 7, firstName: 'Anna', username: 'anna' }, 'Anna'],
    [{ id: 7, firstName: null, username: 'anna' }, 'anna'],
    [{ id: 7, firstName: '', username: null }, '#7'],
  ])('of a partner: %j', (partner, name) => {
    expect(partnerName(partner)).toBe(name);
  });

  test.each([
    [{ id: 7, firstName: 'Anna', lastName: 'B', username: 'anna' }, 'Anna B'],
    [{ id: 7, firstName: null, lastName: 'B', username: 'anna' }, 'B'],
    [{ id: 7, firstName: null, lastName: null, username: 'anna' }, 'anna'],
    [{ id: 7, firstName: null, lastName: null, username: null }, 'User #7'],
  ])('of a registrant: %j', (registrant, name) => {
    expect(registrantName(registrant)).toBe(name);
  });
});
