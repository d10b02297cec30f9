import { describe, expect, it } from 'vitest';
import { addDays, addMs, SECOND_MS } from '../../../src/core/clock.ts';
import {
  chunkFor,
  groupBySquads,
  MAX_ATTEMPTS,
  movedSquads,
  pauseAfter,
} from '../../../src/domain/provisioning/migration/migrate-squad.ts';
import type { PanelUser } from '../../../src/domain/provisioning/ports.ts';
import {
  isNewerThanPanel,
  isTooManyAbsent,
  namesFromDescription,
  newFromPanel,
  updatedFromPanel,
} from '../../../src/domain/provisioning/sync/rules.ts';
import { lastRun, nextRun, parseTimes, timeText } from '../../../src/domain/provisioning/sync/start-sync.ts';
import type { SyncedSubscription } from '../../../src/domain/provisioning/sync/types.ts';

const NOW = new Date('2026-03-10T12:00:00.000Z');
const GB = 1024 ** 3;

const panel = (fields: Partial<PanelUser> = {}): PanelUser => ({
  uuid: 'u',
  shortUuid: 'short',
  username: 'name',
  status: 'ACTIVE',
  expireAt: addDays(NOW, 10),
  trafficLimitBytes: 100 * GB,
  trafficResetStrategy: 'MONTH',
  usedTrafficBytes: 0,
  lifetimeUsedTrafficBytes: 0,
  onlineAt: null,
  firstConnectedAt: null,
  lastConnectedNodeUuid: null,
  subscriptionUrl: 'https://sub/short',
  cryptoLink: null,
  messengerId: 1,
  email: null,
  deviceLimit: 2,
  squads: [{ uuid: 'a', name: 'A' }],
  externalSquadUuid: null,
  tag: null,
  description: null,
  vlessUuid: null,
  trojanPassword: null,
  ssPassword: null,
  ...fields,
});

const local = (fields: Partial<SyncedSubscription> = {}): SyncedSubscription => ({
  id: 1,
  status: 'active',
  endDate: addDays(NOW, 10),
  trafficLimitGb: 100,
  trafficUsedGb: 0,
  deviceLimit: 2,
  connectedSquads: ['a'],
  vpnpanelShortUuid: 'short',
  subscriptionUrl: 'https://sub/short',
  subscriptionCryptoLink: 'happ://x',
  lastWebhookUpdateAt: null,
  isPushDue: false,
  provisionRequestedAt: null,
  provisionedAt: null,
  ...fields,
});

describe('what the panel changes', () => {
  it('nothing, where both agree', () => {
    expect(updatedFromPanel(local(), panel(), NOW, null)).toBeNull();
    expect(
      updatedFromPanel(
        local({ connectedSquads: ['b', 'a'] }),
        panel({
          squads: [
            { uuid: 'a', name: '' },
            { uuid: 'b', name: '' },
          ],
        }),
        NOW,
        null,
      ),
    ).toBeNull();
  });

  it.each([
    ['60 s later is the same end', { expireAt: addMs(addDays(NOW, 10), 60 * SECOND_MS) }, null],
    ['61 s later is another', { expireAt: addMs(addDays(NOW, 10), 61 * SECOND_MS) }, addMs(addDays(NOW, 10), 61 * SECOND_MS)],
    ['earlier, too', { expireAt: addDays(NOW, 3) }, addDays(NOW, 3)],
  ])('end: %s', (_what, fields, wanted) => {
    expect(updatedFromPanel(local(), panel(fields), NOW, null)?.endDate ?? null).toEqual(wanted);
  });

  it('an end is used only while the panel says ACTIVE', () => {
    const changed = updatedFromPanel(local(), panel({ status: 'LIMITED', expireAt: addDays(NOW, 99) }), NOW, null);
    expect(changed).toMatchObject({ status: 'limited', endDate: addDays(NOW, 10) });
  });

  it.each([
    ['active', 'ACTIVE', 10, 'active'],
    ['trial', 'ACTIVE', 10, 'trial'],
    ['expired', 'ACTIVE', 10, 'active'],
    ['disabled', 'ACTIVE', 10, 'active'],
    ['limited', 'ACTIVE', 10, 'active'],
    ['active', 'LIMITED', 10, 'limited'],
    ['active', 'DISABLED', 10, 'disabled'],
    ['limited', 'DISABLED', 10, 'disabled'],
    ['expired', 'DISABLED', -1, 'expired'],
    ['active', 'EXPIRED', -1, 'active'],
    ['active', 'ACTIVE', -1, 'active'],
    ['limited', 'EXPIRED', -1, 'expired'],
    ['disabled', 'EXPIRED', -1, 'disabled'],
    ['pending', 'ACTIVE', 10, 'pending'],
  ] as const)('status: %s here, %s there, ending in %i days, is %s', (here, there, days, wanted) => {
    const endDate = addDays(NOW, days);
    const changed = updatedFromPanel(local({ status: here, endDate }), panel({ status: there, expireAt: endDate }), NOW, null);
    expect(changed?.status ?? here).toBe(wanted);
  });

  it('used traffic by more than a hundredth of a GB', () => {
    expect(updatedFromPanel(local(), panel({ usedTrafficBytes: 0.009 * GB }), NOW, null)).toBeNull();
    expect(updatedFromPanel(local(), panel({ usedTrafficBytes: 0.02 * GB }), NOW, null)?.trafficUsedGb).toBeCloseTo(0.02);
  });

  it('limits, floored, where no device limit is one', () => {
    expect(updatedFromPanel(local(), panel({ trafficLimitBytes: 5.9 * GB }), NOW, null)?.trafficLimitGb).toBe(5);
    for (const deviceLimit of [0, null])
      expect(updatedFromPanel(local(), panel({ deviceLimit }), NOW, null)?.deviceLimit).toBe(1);
    // The fixed number of the settings is not the subscription's own.
    expect(updatedFromPanel(local(), panel({ deviceLimit: 9 }), NOW, 9)).toBeNull();
    expect(updatedFromPanel(local(), panel({ trafficLimitBytes: 2 ** 70 }), NOW, null)?.trafficLimitGb).toBe(2_147_483_647);
  });

  it('an encrypted link of another address is dropped', () => {
    expect(updatedFromPanel(local(), panel({ subscriptionUrl: 'https://sub/new' }), NOW, null)).toMatchObject({
      subscriptionUrl: 'https://sub/new',
      subscriptionCryptoLink: null,
    });
  });

  it.each([
    ['ACTIVE', 10, 'active'],
    ['LIMITED', 10, 'limited'],
    ['DISABLED', 10, 'disabled'],
    ['EXPIRED', 10, 'disabled'],
    ['ACTIVE', -1, 'expired'],
    ['LIMITED', -1, 'expired'],
  ] as const)('a new subscription: %s, %i days left, is %s', (status, days, wanted) => {
    expect(newFromPanel(panel({ status, expireAt: addDays(NOW, days) }), NOW).status).toBe(wanted);
  });

  it('an invalid date becomes 30 days from now', () => {
    expect(newFromPanel(panel({ expireAt: new Date(Number.NaN) }), NOW).endDate).toEqual(addDays(NOW, 30));
  });
});

describe("a local subscription that is newer than the panel's answer", () => {
  const readAt = addMs(NOW, -10 * SECOND_MS);
  const before = addMs(readAt, -1);
  const after = addMs(readAt, 1);
  it.each([
    ['nothing', {}, false],
    ['a push before the page was read', { provisionRequestedAt: before, provisionedAt: before }, false],
    ['a push after it', { provisionRequestedAt: before, provisionedAt: after }, true],
    ['a request after it', { provisionRequestedAt: after }, true],
    ['a push that is due', { isPushDue: true }, true],
    ['a webhook after it', { lastWebhookUpdateAt: after }, true],
    ['a webhook less than a minute ago', { lastWebhookUpdateAt: addMs(NOW, -59 * SECOND_MS) }, true],
    ['a webhook a minute ago', { lastWebhookUpdateAt: addMs(NOW, -60 * SECOND_MS) }, false],
  ])('%s', (_what, fields, wanted) => {
    expect(isNewerThanPanel(local(fields), readAt, NOW)).toBe(wanted);
  });
});

it.each([
  [0, 0, false],
  [1, 1, false],
  [2, 3, true],
  [2, 20, false],
  [3, 20, true],
  [2_000, 20_000, false],
  [2_001, 20_000, true],
])('%i absent of %i known: too many is %s', (absent, known, wanted) => {
  expect(isTooManyAbsent(absent, known)).toBe(wanted);
});

it.each([
  ['Bot user: Ivan Petrov @ivan', { firstName: 'Ivan', lastName: 'Petrov', username: 'ivan' }],
  ['Bot user: Anna Maria de Souza', { firstName: 'Anna', lastName: 'Maria de Souza', username: null }],
  ['Bot user: @only', { firstName: 'User 7', lastName: null, username: 'only' }],
  ['something else', { firstName: 'User 7', lastName: null, username: null }],
  [null, { firstName: 'User 7', lastName: null, username: null }],
])('names out of %j', (description, wanted) => {
  expect(namesFromDescription(description, 7)).toEqual(wanted);
});

describe('times', () => {
  it('are read leniently', () => {
    expect(parseTimes('15:30, 3:00;nonsense 24:00 03:00')).toEqual([180, 930]);
    expect(parseTimes('')).toEqual([]);
    expect([180, 930].map(timeText)).toEqual(['03:00', '15:30']);
  });

  it('say what was last and what is next', () => {
    const times = [180, 930];
    const at = (text: string) => new Date(`2026-03-10T${text}:00.000Z`);
    expect(nextRun(times, at('03:00'))).toEqual(at('15:30'));
    expect(lastRun(times, at('03:00'))).toEqual(at('03:00'));
    expect(nextRun(times, at('16:00'))).toEqual(addDays(at('03:00'), 1));
    expect(lastRun(times, at('02:00'))).toEqual(addDays(at('15:30'), -1));
    expect([nextRun([], NOW), lastRun([], NOW)]).toEqual([null, null]);
  });
});

describe('migration rules', () => {
  it.each([
    [['s'], ['t']],
    [
      ['s', 'x'],
      ['x', 't'],
    ],
    [['t', 's'], ['t']],
    [['x'], ['x', 't']],
  ])('%j becomes %j', (squads, wanted) => {
    expect(movedSquads(squads, 's', 't')).toEqual(wanted);
  });

  it('groups by squads whatever their order', () => {
    const groups = groupBySquads([['a', 'b'], ['b', 'a'], ['a']], (squads) => squads);
    expect(groups.map((group) => group.items.length)).toEqual([2, 1]);
  });

  it('calls get smaller, pauses longer, and all pauses fit into a request but outlast a breaker', () => {
    expect([0, 2, 3, 4, 5, 6, 7].map(chunkFor)).toEqual([500, 500, 100, 25, 5, 1, 1]);
    const pauses = Array.from({ length: MAX_ATTEMPTS - 1 }, (_unused, n) => pauseAfter(n + 1));
    const total = pauses.reduce((sum, ms) => sum + ms, 0);
    expect(total).toBeGreaterThan(10_000);
    expect(total).toBeLessThan(19_000);
  });
});
