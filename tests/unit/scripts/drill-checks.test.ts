import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { eventIdentity, frameIdentity, socketIdentity, userOf } from '../../../packages/measures/src/drills/event-identity.ts';
import { compareOccurrences } from '../../../packages/measures/src/drills/exactly-once.ts';
import { longestGapMs } from '../../../packages/measures/src/drills/gaps.ts';
import { findDisorder } from '../../../packages/measures/src/drills/order-check.ts';
import { type PrimaryChange, primaryGap } from '../../../packages/measures/src/drills/primary-watch.ts';
import { allReadyAfterMs, type ReadinessSample, readyWithin } from '../../../packages/measures/src/drills/readiness-watch.ts';
import { createRandom } from '../../../packages/measures/src/drills/seeded-random.ts';
import { cabinetText, feedText } from '../../../src/realtime/feed-client.ts';

describe('compareOccurrences', () => {
  it('finds what is missing, doubled and unknown', () => {
    expect(compareOccurrences(['a', 'b', 'c', 'd'], ['b', 'a', 'b', 'x', 'd', 'b'])).toEqual({
      missing: ['c'],
      doubled: ['b', 'b'],
      unknown: ['x'],
    });
  });

  it('expects an identity as often as it is named', () => {
    expect(compareOccurrences(['a', 'a', 'b'], ['a'])).toEqual({ missing: ['a', 'b'], doubled: [], unknown: [] });
    expect(compareOccurrences(['a', 'a'], ['a', 'a', 'a']).doubled).toEqual(['a']);
  });

  it('accepts every permutation, and counts every single removal or repeat', () => {
    const identities = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1 });
    fc.assert(
      fc.property(identities, fc.nat(), (list, seed) => {
        const shuffled = [...list].sort(() => (createRandom(seed).next() < 0.5 ? -1 : 1));
        expect(compareOccurrences(list, shuffled)).toEqual({ missing: [], doubled: [], unknown: [] });
        const index = seed % list.length;
        expect(compareOccurrences(list, list.toSpliced(index, 1)).missing).toEqual([list[index]]);
        expect(compareOccurrences(list, [...list, list[index]!]).doubled).toEqual([list[index]]);
      }),
    );
  });
});

describe('findDisorder', () => {
  const places = new Map(
    [
      ['a1', 'a', 1],
      ['a2', 'a', 2],
      ['a3', 'a', 3],
      ['b1', 'b', 1],
      ['b2', 'b', 2],
    ].map(([identity, group, position]) => [String(identity), { group: String(group), position: Number(position) }]),
  );

  it('accepts any mixture of groups that are in order', () => {
    expect(findDisorder(['b1', 'a1', 'a2', 'b2', 'a3'], places)).toEqual([]);
  });

  it('finds what comes after a later one of its group, and leaves gaps to the other check', () => {
    expect(findDisorder(['a1', 'a3', 'b1', 'a2'], places)).toEqual([{ group: 'a', identity: 'a2', earlier: 'a3' }]);
    expect(findDisorder(['a1', 'a3'], places)).toEqual([]);
  });

  it('leaves out what has no place and what is repeated', () => {
    expect(findDisorder(['a1', 'x', 'a2', 'a1', 'a3'], places)).toEqual([]);
  });
});

describe('longestGapMs', () => {
  it.each([
    ['between successes', [10, 20, 70, 80], 0, 90, 50],
    ['at the beginning', [60, 70], 0, 80, 60],
    ['at the end', [10, 20], 0, 100, 80],
    ['without any success', [], 20, 100, 80],
    ['of the period only', [5, 100, 110, 300], 100, 120, 10],
  ])('%s', (_where, successes, from, to, gap) => {
    expect(longestGapMs(successes, from, to)).toBe(gap);
  });
});

describe('createRandom', () => {
  it('repeats itself with the same seed only', () => {
    const numbers = (seed: number) => {
      const random = createRandom(seed);
      return Array.from({ length: 20 }, () => random.between(1, 1_000));
    };
    expect(numbers(7)).toEqual(numbers(7));
    expect(numbers(7)).not.toEqual(numbers(8));
    expect(numbers(7).every((number) => number >= 1 && number <= 1_000)).toBe(true);
  });
});

describe('event identity', () => {
  const event = {
    id: 5,
    type: 'balance.change',
    payload: { user_id: 3, id: 9, type: 'inner', amounts: [{ b: 1, a: 2 }], description: 'text' },
    audience: 'feed' as const,
    userId: 3,
    createdAt: new Date(0),
    positionText: 'AQ.5',
  };

  it.each([
    ['ws', feedText],
    ['cabinet', cabinetText],
  ] as const)('of a frame of %s is that of its row, with and without an id', (feed, textOf) => {
    const payload = { ...event.payload, amounts: [{ a: 2, b: 1 }] };
    const row = socketIdentity(feed, { type: event.type, payload, eventId: 'evt_5_0' });
    const frame = JSON.parse(textOf(event)) as Record<string, unknown>;
    expect(frameIdentity(feed, frame)).toBe(row);
    expect(frameIdentity(feed, { ...frame, id: '5-7' })).toBe(row);
    expect(frameIdentity(feed, { ...frame, event_id: 'evt_5_1' })).not.toBe(row);
  });

  it('differs by type and payload', () => {
    const identities = [
      eventIdentity('ws', 'a', { n: 1 }),
      eventIdentity('ws', 'b', { n: 1 }),
      eventIdentity('ws', 'a', { n: 2 }),
      eventIdentity('ws', 'a', { n: '1' }),
    ];
    expect(new Set(identities).size).toBe(4);
  });

  it('is null for greetings and answers to pings', () => {
    expect(frameIdentity('ws', { type: 'connection', status: 'connected', id: 'x' })).toBe(null);
    expect(frameIdentity('cabinet', { type: 'connected', user_id: 1, id: 'x' })).toBe(null);
    expect(frameIdentity('cabinet', { type: 'pong' })).toBe(null);
  });

  it('belongs to the user of the row, or to the one that the payload names', () => {
    expect(userOf(event)).toBe(3);
    expect(userOf({ ...event, userId: null })).toBe(3);
    expect(userOf({ ...event, userId: null, payload: {} })).toBe(null);
  });
});

describe('primaryGap', () => {
  const change = (at: number, node: string, isPrimary: boolean): PrimaryChange => ({ at, node, isPrimary });

  it('lasts from the end of the old primary to the beginning of the new one', () => {
    const changes = [change(1, 'a', true), change(20, 'a', false), change(25, 'b', true), change(90, 'b', false)];
    expect(primaryGap(changes, 10, 50)).toEqual({ lostAt: 20, foundAt: 25 });
  });

  it('ends with the old primary where no other became it', () => {
    expect(primaryGap([change(1, 'a', true), change(20, 'a', false), change(25, 'a', true)], 10, 50)).toEqual({
      lostAt: 20,
      foundAt: 25,
    });
  });

  it('does not end with the old primary that answers again before another becomes it', () => {
    const changes = [change(1, 'a', true), change(20, 'a', false), change(22, 'a', true), change(30, 'b', true)];
    expect(primaryGap(changes, 10, 50)?.foundAt).toBe(30);
  });

  it('is null where the primary was there all the time', () => {
    expect(primaryGap([change(1, 'a', true)], 10, 50)).toBeNull();
  });
});

describe('readiness', () => {
  const sample = (instance: string, at: number, isReady: boolean): ReadinessSample => ({ instance, at, isReady, tookMs: 5 });
  const samples = [
    sample('a', 10, true),
    sample('b', 10, true),
    sample('a', 20, false),
    sample('b', 40, true),
    sample('a', 60, true),
  ];

  it('is there again when every instance has said so', () => {
    expect(allReadyAfterMs(samples, 20)).toBe(45);
    expect(allReadyAfterMs(samples, 50)).toBe(Number.POSITIVE_INFINITY);
  });

  it('counts what was asked and answered within a period', () => {
    expect(readyWithin(samples, 10, 44)).toBe(2);
    expect(readyWithin(samples, 10, 45)).toBe(3);
  });
});
