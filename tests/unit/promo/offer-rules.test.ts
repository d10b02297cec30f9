import { describe, expect, test } from 'vitest';
import {
  checkedTemplate,
  checkedTerms,
  claimRefusal,
  discountEnd,
  fillMessage,
  hoursOf,
  MAX_HOURS,
  templateIdOf,
  temporaryAccessOf,
} from '../../../src/domain/promo/offers/rules.ts';
import type { OfferTerms } from '../../../src/domain/promo/offers/types.ts';
import { loyaltyStatus } from '../../../src/domain/promo-groups/promo-groups.ts';

const now = new Date('2026-03-01T12:00:00Z');
const later = new Date(now.getTime() + 1);

const terms: OfferTerms = {
  notificationType: ' spring ',
  effectType: ' percent_discount ',
  discountPercent: 15,
  bonusAmountKopeks: 0,
  validHours: 24,
  extraData: {},
};

describe('terms (spec 04 sections 9.3 and 9.6)', () => {
  test('types are trimmed, the bounds are inclusive', () => {
    expect(checkedTerms(terms)).toMatchObject({ notificationType: 'spring', effectType: 'percent_discount' });
    expect(() =>
      checkedTerms({ ...terms, notificationType: 'x'.repeat(50), discountPercent: 100, validHours: MAX_HOURS }),
    ).not.toThrow();
  });

  test.each([
    ['a blank type', { notificationType: '  ' }, 400, 'notification_type must not be empty'],
    ['a blank effect', { effectType: '  ' }, 400, 'effect_type must not be empty'],
    [
      'spec 04 section 9.6: a type of 51 characters',
      { notificationType: 'x'.repeat(51) },
      422,
      'String should have at most 50 characters',
    ],
    ['an effect of 51 characters', { effectType: 'x'.repeat(51) }, 422, 'String should have at most 50 characters'],
    ['spec 04 section 9.6: a discount of 101 %', { discountPercent: 101 }, 422, 'Input should be less than or equal to 100'],
    ['hours that no calendar holds', { validHours: MAX_HOURS + 1 }, 422, `Input should be less than or equal to ${MAX_HOURS}`],
    ['the source of a promo code', { notificationType: 'PromoCode:X' }, 422, 'Value error, must not begin with promocode:'],
    ['a novel of data', { extraData: { text: 'x'.repeat(16_384) } }, 422, 'Value error, extra_data is too large'],
  ])('%s is refused', (_what, change, status, message) => {
    expect(() => checkedTerms({ ...terms, ...change })).toThrow(expect.objectContaining({ status, message }));
  });

  test('templates: servers trimmed, blanks and duplicates removed, blank texts refused', () => {
    const template = {
      name: 'N',
      messageText: 'M',
      buttonText: 'B',
      validHours: 1,
      discountPercent: 0,
      bonusAmountKopeks: 0,
      activeDiscountHours: null,
      testDurationHours: null,
      testSquadUuids: [' a ', '', 'a', 'b'],
      isActive: true,
    };
    expect(checkedTemplate(template).testSquadUuids).toEqual(['a', 'b']);
    for (const change of [{ name: ' ' }, { messageText: '' }, { buttonText: '' }, { discountPercent: 101 }]) {
      expect(() => checkedTemplate({ ...template, ...change })).toThrow(expect.objectContaining({ status: 422 }));
    }
  });
});

describe('claims (spec 04 section 9.5)', () => {
  const open = { claimedAt: null, isActive: true, expiresAt: later, discountPercent: 10, effectType: 'percent_discount' };
  test.each([
    [{}, null],
    [{ claimedAt: now, isActive: false }, 'already_claimed'],
    [{ claimedAt: now, isActive: false, expiresAt: now }, 'already_claimed'],
    [{ expiresAt: now }, 'expired'],
    [{ isActive: false }, 'expired'],
    [{ discountPercent: 0 }, 'invalid'],
    [{ discountPercent: 0, effectType: 'balance_bonus' }, 'invalid'],
    [{ discountPercent: 0, effectType: 'test_access' }, null],
    [{ discountPercent: 0, expiresAt: now }, 'expired'],
  ])('%j: %s', (change, expected) => {
    expect(claimRefusal({ ...open, ...change }, now)).toBe(expected);
  });

  test.each([
    [5, 5],
    ['5', 5],
    [0, null],
    [-1, null],
    [1.5, null],
    ['five', null],
    ['-5', null],
    [null, null],
    [undefined, null],
    [1e12, MAX_HOURS],
  ])('%j hours are %s', (value, expected) => {
    expect(hoursOf(value)).toBe(expected);
  });

  test.each([
    [{ active_discount_hours: 2 }, 48, 2],
    [{}, 48, 48],
    [{ active_discount_hours: null }, 48, 48],
    [{ active_discount_hours: 0 }, 48, null],
    [{}, null, null],
  ])('%j with %s hours in the template ends after %s', (extraData, templateHours, expected) => {
    const end = discountEnd(extraData, templateHours, now);
    expect(end && (end.getTime() - now.getTime()) / 3_600_000).toBe(expected);
  });

  test.each([
    [{}, [], 24],
    [{ test_squad_uuids: ['a', ' a', 'b', 3, ''] }, ['a', 'b'], 24],
    [{ test_squad_uuids: [], squads: ['c'], duration_hours: '6' }, ['c'], 6],
    [{ test_squad_uuids: 'abc', test_duration_hours: 2, duration_hours: 6 }, [], 2],
    [{ squads: { a: 1 }, test_duration_hours: -2 }, [], 24],
  ])('%j lends %j for %i hours', (extraData, squads, hours) => {
    expect(temporaryAccessOf(extraData)).toEqual({ squads, hours });
  });

  test.each([
    [{ template_id: 3 }, 3],
    [{ template_id: '3' }, 3],
    [{ template_id: 3e9 }, null],
    [{ template_id: 'x' }, null],
    [{}, null],
  ])('%j names template %s', (extraData, expected) => {
    expect(templateIdOf(extraData)).toBe(expected);
  });
});

test('spec 04 section 9.6: only the five known names are filled, and values are escaped', () => {
  const facts = {
    discountPercent: 20,
    validHours: 24,
    extraData: { active_discount_hours: 6, test_duration_hours: 3 },
    serverNames: ['<NL> & Co', '{discount_percent}'],
  };
  expect(
    fillMessage(
      '<b>{discount_percent}</b> {valid_hours} {active_discount_hours} {test_duration_hours} {server_name} {other} {valid_hours.__class__} {extraData}',
      facts,
    ),
  ).toBe('<b>20</b> 24 6 3 &lt;NL&gt; &amp; Co, {discount_percent} {other} {valid_hours.__class__} {extraData}');
  expect(fillMessage('{active_discount_hours}', { ...facts, extraData: {} })).toBe('24');
});

describe('loyalty (spec 04 section 9.5)', () => {
  const tier = (id: number, thresholdKopeks: number) => ({ thresholdKopeks, group: { id, name: `T${id}` } as never });
  const tiers = [tier(1, 10_000), tier(2, 30_000), tier(3, 30_000)];
  test.each([
    [0, null, 1, 0],
    [9_999, null, 1, 99.99],
    [10_000, 1, 2, 33.33],
    [29_999, 1, 2, 99.99],
    [30_000, 3, null, 100],
  ])('%i kopeks: tier %s, next %s, %s %%', (spent, current, next, progress) => {
    const status = loyaltyStatus(tiers, spent);
    expect([status.current?.group.id ?? null, status.next?.group.id ?? null, status.progressPercent]).toEqual([
      ...[current, next, progress],
    ]);
    expect(status.tiers.map((each) => each.isAchieved)).toEqual(tiers.map((each) => spent >= each.thresholdKopeks));
    expect(status.tiers.filter((each) => each.isCurrent)).toHaveLength(current === null ? 0 : 1);
  });

  test('without tiers there is nothing to reach', () => {
    expect(loyaltyStatus([], 5_000)).toMatchObject({ current: null, next: null, progressPercent: 0, tiers: [] });
  });
});
