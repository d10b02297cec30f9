import { addMs, DAY_MS } from '../../../core/clock.ts';
import { momentAt, wallDay } from '../../../core/time-zone.ts';
import { parseTimesOfDay, timeOfDay } from '../times-of-day.ts';
import type { RankedParticipant, ReferralContest } from './types.ts';

/** The last moment of a period: an end at 00:00:00 UTC means the end of that day (spec 04 section 11.1). */
export function closingMoment(endAt: Date): Date {
  return endAt.getTime() % DAY_MS === 0 ? addMs(endAt, DAY_MS - 1) : endAt;
}

/** `HH:MM:SS` of a time of day in a request, which may have a fraction or a zone; both are ignored. Null for anything else. */
export function parseSummaryTime(text: string): string | null {
  const [, hours, minutes, seconds = '00'] =
    /^([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?$/.exec(text.trim()) ?? [];
  return hours === undefined ? null : `${hours}:${minutes}:${seconds}`;
}

/** The list as it is stored; null for none. @returns undefined for a text that is no list of times */
export function normaliseSummaryTimes(text: string): string | null | undefined {
  const times = parseTimesOfDay(text);
  if (times === null) return undefined;
  return times.length === 0 ? null : times.map(timeOfDay).join(',');
}

type Dated = Pick<ReferralContest, 'startAt' | 'closesAt' | 'timezone' | 'dailySummaryTime' | 'dailySummaryTimes'>;

/** Times of summaries in milliseconds from midnight, the earliest first. */
function summaryTimes({ dailySummaryTime, dailySummaryTimes }: Dated): number[] {
  const listed = parseTimesOfDay(dailySummaryTimes ?? '') ?? [];
  const times = listed.length > 0 ? listed : [timeOf(dailySummaryTime)];
  return times.sort((a, b) => a - b);
}

function timeOf(text: string): number {
  const [hours = 0, minutes = 0, seconds = 0] = text.split(':').map(Number);
  return ((hours * 60 + minutes) * 60 + seconds) * 1_000;
}

export interface DueSummary {
  kind: 'daily' | 'final';
  dueAt: Date;
}

/**
 * The summary that is to be sent now (spec 04 section 11.3): the final one, once the contest is over and the last time of summaries of its
 * last day has passed; else the daily one of the latest time that has passed today, on days of the period in the zone of the contest.
 * After a pause of the service only the latest is due: those before it would say the same.
 */
export function dueSummary(contest: Dated & Pick<ReferralContest, 'lastDailySummaryAt'>, now: Date): DueSummary | null {
  if (now.getTime() < contest.startAt.getTime()) return null;
  const { timezone } = contest;
  const times = summaryTimes(contest);
  const today = wallDay(now, timezone);
  const lastDay = wallDay(contest.closesAt, timezone);
  const finalAt = Math.max(contest.closesAt.getTime(), momentAt(lastDay + times.at(-1)!, timezone).getTime());
  if (now.getTime() > contest.closesAt.getTime() && now.getTime() >= finalAt) return { kind: 'final', dueAt: new Date(finalAt) };
  if (today > lastDay) return null;
  const passed = times.map((time) => momentAt(today + time, timezone)).filter((moment) => moment.getTime() <= now.getTime());
  const dueAt = passed.at(-1);
  if (!dueAt || (contest.lastDailySummaryAt && contest.lastDailySummaryAt.getTime() >= dueAt.getTime())) return null;
  return { kind: 'daily', dueAt };
}

/** Referrers and invented participants in the order of the leaderboard (spec 04 section 11.4). */
export function ranking(participants: readonly RankedParticipant[], length: number): RankedParticipant[] {
  return [...participants]
    .sort((a, b) => b.referralsCount - a.referralsCount || b.totalAmountKopeks - a.totalAmountKopeks)
    .slice(0, length);
}
