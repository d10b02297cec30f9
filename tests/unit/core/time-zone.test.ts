import { describe, expect, it } from 'vitest';
import { isTimeZone, localDay, localTime, timestampAt, timestampOf } from '../../../src/core/time-zone.ts';

const local = (text: string) => new Date(`${text}Z`).getTime();
const at = (text: string, zone: string) => timestampAt(local(text), zone).toISOString();

describe('wall clocks', () => {
  it.each([
    ['2026-07-01T10:00:00', 'Europe/Berlin', '2026-07-01T08:00:00.000Z'],
    ['2026-01-01T10:00:00', 'Europe/Berlin', '2026-01-01T09:00:00.000Z'],
    ['2026-01-01T00:00:00', 'Asia/Kathmandu', '2025-12-31T18:15:00.000Z'],
    ['2026-01-01T00:00:00', 'Pacific/Kiritimati', '2025-12-31T10:00:00.000Z'],
    ['2026-01-01T00:00:00.250', 'America/New_York', '2026-01-01T05:00:00.250Z'],
    ['2026-01-01T10:00:00', 'UTC', '2026-01-01T10:00:00.000Z'],
  ])('%s in %s', (text, zone, timestamp) => {
    expect(at(text, zone)).toBe(timestamp);
    expect(localTime(new Date(timestamp), zone)).toBe(local(text));
  });

  it('a day of 23 hours: the skipped time is as much later as the clocks were set forward', () => {
    // Berlin, 29 March 2026: 02:00 becomes 03:00.
    expect(at('2026-03-29T01:59:00', 'Europe/Berlin')).toBe('2026-03-29T00:59:00.000Z');
    expect(at('2026-03-29T02:30:00', 'Europe/Berlin')).toBe('2026-03-29T01:30:00.000Z');
    expect(at('2026-03-29T03:00:00', 'Europe/Berlin')).toBe('2026-03-29T01:00:00.000Z');
    const [from, to] = ['2026-03-29T00:00:00', '2026-03-30T00:00:00'].map((text) =>
      timestampAt(local(text), 'Europe/Berlin').getTime(),
    );
    expect((to! - from!) / 3_600_000).toBe(23);
  });

  it('a day of 25 hours: of a time that occurs twice the first', () => {
    // Berlin, 25 October 2026: 03:00 becomes 02:00.
    expect(at('2026-10-25T02:30:00', 'Europe/Berlin')).toBe('2026-10-25T00:30:00.000Z');
    expect(at('2026-10-25T03:00:00', 'Europe/Berlin')).toBe('2026-10-25T02:00:00.000Z');
    const [from, to] = ['2026-10-25T00:00:00', '2026-10-26T00:00:00'].map((text) =>
      timestampAt(local(text), 'Europe/Berlin').getTime(),
    );
    expect((to! - from!) / 3_600_000).toBe(25);
  });

  it('every half hour of the months of changes is where the clocks show it, in zones of both hemispheres', () => {
    for (const zone of ['America/New_York', 'Australia/Lord_Howe', 'Europe/Berlin']) {
      for (const [from, to] of [
        [Date.UTC(2026, 2, 5), Date.UTC(2026, 3, 8)],
        [Date.UTC(2026, 9, 1), Date.UTC(2026, 10, 4)],
      ] as const) {
        for (let timestamp = from; timestamp < to; timestamp += 30 * 60_000) {
          const shown = localTime(new Date(timestamp), zone);
          const found = timestampAt(shown, zone).getTime();
          expect(localTime(new Date(found), zone)).toBe(shown);
          // The second of two occurrences is found as the first.
          expect(found).toBeLessThanOrEqual(timestamp);
        }
      }
    }
  });

  it('the day is that of the zone', () => {
    expect(localDay(new Date('2026-05-01T22:30:00Z'), 'Europe/Moscow')).toBe(local('2026-05-02T00:00:00'));
    expect(localDay(new Date('2026-05-01T22:30:00Z'), 'America/New_York')).toBe(local('2026-05-01T00:00:00'));
  });

  it('a text with a zone is what it says, one without is of the zone given', () => {
    expect(timestampOf('2026-07-01T10:00:00+05:00', 'Europe/Berlin').toISOString()).toBe('2026-07-01T05:00:00.000Z');
    expect(timestampOf('2026-07-01T10:00:00Z', 'Europe/Berlin').toISOString()).toBe('2026-07-01T10:00:00.000Z');
    expect(timestampOf('2026-07-01T10:00:00', 'Europe/Berlin').toISOString()).toBe('2026-07-01T08:00:00.000Z');
    expect(timestampOf('2026-07-01T10:00', 'Asia/Tokyo').toISOString()).toBe('2026-07-01T01:00:00.000Z');
  });

  it('years of one digit are not of the twentieth century', () => {
    expect(localTime(new Date('0005-01-01T00:00:00Z'), 'UTC')).toBe(new Date('0005-01-01T00:00:00Z').getTime());
  });

  it.each([
    ['Europe/Berlin', true],
    ['UTC', true],
    ['+03:00', false],
    ['Nowhere/Land', false],
    ['', false],
  ])('%s is a zone: %s', (text, expected) => expect(isTimeZone(text)).toBe(expected));
});
