import { describe, expect, it } from 'vitest';
import {
  contains,
  type EventSnapshot,
  endOf,
  isSameSnapshot,
  parsePosition,
  positionTexts,
} from '../../../src/core/events/event-position.ts';

/** Numbers of timeline `timeline`, as prisma/sql/events.sql makes them. */
const numberOf = (timeline: number, id: number): number => timeline * 2 ** 42 + id;

function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
}

function aSnapshot(below: (limit: number) => number, from: number): EventSnapshot {
  const next = from + below(5_000);
  return { next, running: [...new Set(Array.from({ length: below(40) }, () => next - 1 - below(3_000)))] };
}

describe('a snapshot', () => {
  it('contains what was committed when it was taken', () => {
    const snapshot = { next: 105, running: [101, 103] };
    expect([100, 101, 102, 103, 104, 105, 106].map((id) => contains(snapshot, id))).toEqual([
      true,
      false,
      true,
      false,
      true,
      false,
      false,
    ]);
  });

  it('08 S5: does not contain ids that a new timeline uses again, while one of the new timeline contains all of the old one', () => {
    const lost = { next: numberOf(1, 2_000), running: [numberOf(1, 1_990)] };
    expect(contains(lost, numberOf(1, 1_995))).toBe(true);
    expect(contains(lost, numberOf(2, 1_995))).toBe(false);
    const after = { next: numberOf(2, 1_996), running: [numberOf(2, 1_994)] };
    expect(contains(after, numberOf(1, 1_990))).toBe(true);
    expect(contains(after, numberOf(2, 1_995))).toBe(true);
    expect(contains(after, numberOf(2, 1_994))).toBe(false);
  });
});

const ORIGIN = { database: 2 ** 32 - 1, issuedAt: 1_780_000_000 };

describe('the text of a position', () => {
  it('is read back as written, also far into the life of a server', () => {
    const below = random(7);
    for (let round = 0; round < 500; round += 1) {
      const base = aSnapshot(below, numberOf(1 + below(2_000), below(2_000_000_000)));
      const target = below(4) === 0 ? base : aSnapshot(below, base.next);
      const throughId = below(2_000_000_000) * 1_000;
      const issuedAt = 1_780_000_000 + below(1_000_000);
      const database = below(2 ** 31) * 2 + below(2);
      const text = positionTexts({ base, target }, { database, issuedAt })(throughId);
      expect(text).toMatch(/^[\w-]+\.[0-9a-z]+$/);
      const parsed = parsePosition(text)!;
      expect([parsed.database, parsed.issuedAt]).toEqual([database, issuedAt]);
      expect(parsed.position.throughId).toBe(throughId);
      expect(isSameSnapshot(parsed.position.base, base)).toBe(true);
      expect(isSameSnapshot(parsed.position.target, target)).toBe(true);
    }
  });

  it('is short while few transactions are open', () => {
    const base = { next: numberOf(3, 5_000_000), running: [] };
    expect(positionTexts(endOf(base), ORIGIN)(12_345_678).length).toBeLessThan(40);
    const busy = { next: base.next + 40, running: Array.from({ length: 32 }, (_, n) => base.next + 40 - n - 1) };
    expect(positionTexts({ base: busy, target: busy }, ORIGIN)(12_345_678).length).toBeLessThan(88);
  });

  it('is refused when it is none', () => {
    const whole = positionTexts(endOf({ next: numberOf(1, 999), running: [numberOf(1, 990)] }), ORIGIN)(5);
    const [head] = whole.split('.') as [string];
    const bytes = (...list: number[]) => `${Buffer.from(list).toString('base64url')}.1`;
    const broken = [
      '',
      '.',
      '17',
      'abc',
      `${head}.`,
      `.${head}`,
      `${head}.!`,
      `${head}.zzzzzzzzzzzz`,
      `${head.slice(0, -2)}.5`,
      `${head}AA.5`,
      bytes(1, 1, 1, 5, 0),
      bytes(2),
      bytes(2, 1, 1),
      bytes(2, 1, 1, 5, 200, 1),
      bytes(2, 1, 1, 5, 1, 9),
      bytes(2, 1, 1, ...Array.from({ length: 9 }, () => 255), 1, 0),
      `${'A'.repeat(20_000)}.1`,
      'Ω.1',
    ];
    for (const text of broken) expect(parsePosition(text), text.slice(0, 60)).toBeNull();
    for (const text of [whole, bytes(2, 1, 1, 5, 0)]) expect(parsePosition(text)).not.toBeNull();
  });
});
