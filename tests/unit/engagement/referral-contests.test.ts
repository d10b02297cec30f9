import { describe, expect, it } from 'vitest';
import {
  closingTime,
  dueSummary,
  normaliseSummaryTimes,
  parseSummaryTime,
  ranking,
} from '../../../src/domain/engagement/referral-contests/contests.ts';

const at = (text: string) => new Date(`${text}Z`);

describe('the end of a contest (04 11.1)', () => {
  it('at midnight UTC it is the end of that day, else the timestamp itself', () => {
    expect(closingTime(at('2026-05-10T00:00:00'))).toEqual(at('2026-05-10T23:59:59.999'));
    expect(closingTime(at('2026-05-10T00:00:00.001'))).toEqual(at('2026-05-10T00:00:00.001'));
    expect(closingTime(at('2026-05-10T18:00:00'))).toEqual(at('2026-05-10T18:00:00'));
  });
});

describe('times of summaries (04 11.4)', () => {
  it.each([
    ['12:30', '12:30:00'],
    ['12:30:15', '12:30:15'],
    ['12:30:15.5Z', '12:30:15'],
    ['24:00', null],
    ['9:00', null],
    ['noon', null],
  ])('%s', (text, expected) => expect(parseSummaryTime(text)).toBe(expected));

  it.each([
    [' 12:00, 9:05 ', '12:00,09:05'],
    ['', null],
    ['12:00,25:00', undefined],
    ['12-00', undefined],
  ])('list %s', (text, expected) => expect(normaliseSummaryTimes(text)).toBe(expected));
});

describe('due summaries (04 11.3)', () => {
  const contest = (more: Partial<Parameters<typeof dueSummary>[0]> = {}) => ({
    startAt: at('2026-05-01T00:00:00'),
    closesAt: at('2026-05-03T15:00:00'),
    timezone: 'UTC',
    dailySummaryTime: '12:00:00',
    dailySummaryTimes: '12:00,18:00',
    lastDailySummaryAt: null,
    ...more,
  });
  const due = (now: string, more: Partial<Parameters<typeof dueSummary>[0]> = {}) => {
    const found = dueSummary(contest(more), at(now));
    return found && `${found.kind} ${found.dueAt.toISOString().slice(0, 16)}`;
  };

  it('a time that has passed today and was not sent', () => {
    expect(due('2026-05-01T11:59:00')).toBeNull();
    expect(due('2026-05-01T12:00:00')).toBe('daily 2026-05-01T12:00');
    expect(due('2026-05-01T12:05:00', { lastDailySummaryAt: at('2026-05-01T12:00:30') })).toBeNull();
    expect(due('2026-05-01T18:00:00', { lastDailySummaryAt: at('2026-05-01T12:00:30') })).toBe('daily 2026-05-01T18:00');
  });

  it('after a pause of the service the latest only', () => {
    expect(due('2026-05-02T19:00:00', { lastDailySummaryAt: at('2026-05-01T12:00:30') })).toBe('daily 2026-05-02T18:00');
  });

  it('not before the start', () => {
    expect(due('2026-04-30T13:00:00')).toBeNull();
  });

  it('the final one after the end and the last time of its day', () => {
    expect(due('2026-05-03T15:00:01', { lastDailySummaryAt: at('2026-05-03T12:00:10') })).toBeNull();
    expect(due('2026-05-03T18:00:00')).toBe('final 2026-05-03T18:00');
    expect(due('2026-05-09T00:00:00')).toBe('final 2026-05-03T18:00');
    expect(due('2026-05-03T20:00:00', { closesAt: at('2026-05-03T19:00:00') })).toBe('final 2026-05-03T19:00');
  });

  it('without a list the one time', () => {
    expect(due('2026-05-01T12:00:00', { dailySummaryTimes: null, dailySummaryTime: '12:00:30' })).toBeNull();
    expect(due('2026-05-01T12:00:30', { dailySummaryTimes: null, dailySummaryTime: '12:00:30' })).toBe('daily 2026-05-01T12:00');
  });

  it('times and days are those of the zone, also on days of 23 and 25 hours', () => {
    const berlin = { timezone: 'Europe/Berlin', startAt: at('2026-03-01T00:00:00'), closesAt: at('2026-11-01T00:00:00') };
    expect(due('2026-03-29T10:00:00', berlin)).toBe('daily 2026-03-29T10:00');
    expect(due('2026-10-25T10:59:00', berlin)).toBeNull();
    expect(due('2026-10-25T11:00:00', berlin)).toBe('daily 2026-10-25T11:00');
  });
});

describe('ranking of a summary', () => {
  it('invented participants are among the others, by referrals and then by the amount', () => {
    const participant = (name: string, referralsCount: number, totalAmountKopeks: number) => ({
      name,
      referralsCount,
      totalAmountKopeks,
    });
    const all = [participant('a', 3, 100), participant('b', 1, 500), participant('v', 3, 200), participant('w', 0, 0)];
    expect(ranking(all, 3).map(({ name }) => name)).toEqual(['v', 'a', 'b']);
  });
});
