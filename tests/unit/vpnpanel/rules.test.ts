import { CreateUserCommand } from '@remnawave/backend-contract';
import { describe, expect, it } from 'vitest';
import {
  changedStrategyFor,
  deviceLimitFor,
  isLinkageValid,
  type PanelNamedUser,
  panelDescription,
  panelEmailOf,
  panelStateFor,
  panelTagFor,
  panelUsername,
  resetStrategyFor,
  trafficLimitBytesFor,
} from '../../../src/domain/provisioning/rules.ts';

const ivan: PanelNamedUser = {
  id: 12,
  messengerId: 100500,
  username: 'ivan_p',
  firstName: 'Иван',
  lastName: 'Petrov',
  email: 'ivan.petrovich@example.com',
};
const byEmail: PanelNamedUser = { ...ivan, messengerId: null, username: null };
const bare: PanelNamedUser = { id: 12, messengerId: null, username: null, firstName: null, lastName: null, email: null };

describe('panelUsername', () => {
  it.each([
    ['user_{messenger_id}', ivan, 'user_100500'],
    ['user_{messenger_id}', { ...ivan, messengerId: 9007199254740993n }, 'user_9007199254740993'],
    ['user_{messenger_id}', byEmail, 'user_email_ivan_petro_12'],
    ['user_{messenger_id}', bare, 'user_id_12'],
    ['{identifier}', ivan, '100500'],
    ['{username_clean}-{user_id}', ivan, 'ivan_p-12'],
    ['{username}', ivan, '_ivan_p'],
    ['{full_name}', ivan, '_Petrov'],
    ['{email}', ivan, 'ivan_petrovich_example_com'],
    ['a   b!!c', ivan, 'a_b_c'],
    ['x_{nonsense}_y', ivan, 'x_y'],
    ['{constructor}-{user_id}', ivan, '-12'],
    ['{username}', bare, 'user_id_12'],
    ['', ivan, 'user_100500'],
    ['{full_name}', { ...bare, firstName: 'Иван' }, 'user_id_12'],
    ['p', ivan, 'user_100500'],
    ['prefix_of_more_than_thirty_six_characters_{messenger_id}', ivan, 'prefix_of_more_than_thirty_six_chara'],
  ])('%s', (template, user, expected) => {
    const name = panelUsername(template, user);
    expect(name).toBe(expected);
    expect(name).toMatch(/^[0-9A-Za-z_-]{3,36}$/);
  });
});

describe('panelDescription', () => {
  it.each([
    ['Bot user: {full_name} {username}', ivan, 'Bot user: Иван Petrov @ivan_p'],
    ['Bot user: {full_name} {username}', { ...ivan, username: null }, 'Bot user: Иван Petrov'],
    ['Bot user: {full_name} {username}', bare, 'Bot user:'],
    ['{full_name} (@{username_clean})', bare, ''],
    ['{full_name} (@{username}) {user_id}', ivan, 'Иван Petrov (@ivan_p) 12'],
    ['{full_name} @{username_clean} end', { ...ivan, username: null }, 'Иван Petrov end'],
    ['{email} {messenger_id}', byEmail, 'ivan.petrovich@example.com email_ivan.petro_12'],
  ])('%s', (template, user, expected) => {
    expect(panelDescription(template, user)).toBe(expected);
  });
});

describe('panelEmailOf', () => {
  const rule = CreateUserCommand.RequestBodySchema.shape.email;
  it.each([
    ['ivan@example.com', true],
    ["o'neil+vpn_1@mail.example.co.uk", true],
    ['IVAN-P@EXAMPLE.COM', true],
    ['a.b.c@xn--80a1acny.com', true],
    ['иван@почта.рф', false],
    ['ivan@xn--80a1acny.xn--p1ai', false],
    ['a..b@example.com', false],
    ['.a@example.com', false],
    ['a.@example.com', false],
    ["a'@example.com", false],
    ['ivan@example', false],
    ['ivan@-example.com', false],
    ['ivan@exa_mple.com', false],
    ['"ivan"@example.com', false],
    ['ivan@[127.0.0.1]', false],
    ['ivan@example.com\n', false],
    ['', false],
  ])('%j: as the panel itself says, %s', (email, isTaken) => {
    expect(rule.safeParse(email).success).toBe(isTaken);
    expect(panelEmailOf({ email, emailVerified: true })).toBe(isTaken ? email : null);
  });

  it('is null without a verified address', () => {
    expect(panelEmailOf({ email: 'ivan@example.com', emailVerified: false })).toBeNull();
    expect(panelEmailOf({ email: null, emailVerified: true })).toBeNull();
  });
});

describe('panelStateFor', () => {
  const now = new Date('2026-03-01T12:00:00.000Z');
  const future = new Date('2026-03-02T12:00:00.000Z');
  const past = new Date('2026-02-01T12:00:00.000Z');
  const soon = new Date('2026-03-01T12:00:30.000Z');
  const inOneMinute = new Date('2026-03-01T12:01:00.000Z');
  it.each([
    ['active', future, 'ACTIVE', future],
    ['trial', future, 'ACTIVE', future],
    ['active', soon, 'ACTIVE', soon],
    ['active', past, 'DISABLED', inOneMinute],
    ['active', now, 'DISABLED', inOneMinute],
    ['expired', past, 'DISABLED', inOneMinute],
    // 08 P1: the earliest end that the panel accepts, not the end of the term.
    ['disabled', future, 'DISABLED', inOneMinute],
    ['disabled', soon, 'DISABLED', inOneMinute],
    ['limited', future, 'ACTIVE', future],
    ['limited', past, 'DISABLED', inOneMinute],
    ['pending', future, 'DISABLED', inOneMinute],
  ])('%s until %s', (status, endDate, expected, expireAt) => {
    expect(panelStateFor({ status, endDate }, now)).toEqual({ status: expected, expireAt });
  });
});

describe('limits and texts', () => {
  it.each([
    [3, true, null, 3],
    [3, true, 5, 3],
    [3, false, 5, 5],
    [3, false, 0, 3],
    [3, false, null, 3],
    [0, true, null, null],
    [-1, false, null, null],
  ])(
    'deviceLimitFor %i, selection %s, fixed %s',
    (deviceLimit, devicesSelectionEnabled, devicesSelectionDisabledAmount, expected) => {
      expect(deviceLimitFor({ deviceLimit }, { devicesSelectionEnabled, devicesSelectionDisabledAmount })).toBe(expected);
    },
  );

  it('converts GB to bytes with 0 as unlimited', () => {
    expect([0, 1, 100, -5].map(trafficLimitBytesFor)).toEqual([0, 1073741824, 107374182400, 0]);
  });

  it('prefers the tariff and falls back to NO_RESET', () => {
    expect(resetStrategyFor('week', 'MONTH')).toBe('WEEK');
    expect(resetStrategyFor(null, 'MONTH')).toBe('MONTH');
    expect(resetStrategyFor('', 'day')).toBe('DAY');
    expect(resetStrategyFor('YEARLY', 'MONTH')).toBe('NO_RESET');
    expect(resetStrategyFor('month_rolling', 'MONTH')).toBe('MONTH_ROLLING');
  });

  it.each([
    [null, 'MONTH', 'MONTH_ROLLING', null],
    [' ', 'MONTH', 'MONTH_ROLLING', null],
    [null, 'MONTH', 'WEEK', 'MONTH'],
    ['YEARLY', 'MONTH', 'MONTH_ROLLING', null],
    ['YEARLY', 'MONTH', 'DAY', null],
    ['month', 'DAY', 'MONTH_ROLLING', 'MONTH'],
    ['MONTH_ROLLING', 'MONTH', 'DAY', 'MONTH_ROLLING'],
    ['NO_RESET', 'MONTH', 'MONTH_ROLLING', 'NO_RESET'],
  ] as const)('08 P7: strategy for tariff %s, default %s, panel %s is %s', (mode, byDefault, present, expected) => {
    expect(changedStrategyFor(mode, byDefault, present)).toBe(expected);
  });

  it('sends only tags that the panel takes', () => {
    const settings = { trialUserTag: 'trial', paidSubscriptionUserTag: null };
    expect(panelTagFor({ isTrial: true }, settings)).toBe('TRIAL');
    expect(panelTagFor({ isTrial: false }, settings)).toBeNull();
    expect(panelTagFor({ isTrial: false }, { ...settings, paidSubscriptionUserTag: 'not a tag!' })).toBeNull();
  });

  it('unlinks on absence and on another messenger id only', () => {
    expect(isLinkageValid(null, 5)).toBe(false);
    expect(isLinkageValid({ messengerId: 5 }, 5n)).toBe(true);
    expect(isLinkageValid({ messengerId: 6 }, 5)).toBe(false);
    expect(isLinkageValid({ messengerId: null }, 5)).toBe(true);
    expect(isLinkageValid({ messengerId: 6 }, null)).toBe(true);
  });
});
