import type { App } from '../../../core/app.ts';
import { type Changes, givenFields } from '../../../core/changes.ts';
import { addMs, DAY_MS } from '../../../core/clock.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { refusal, ValidationError } from '../../../core/errors.ts';
import { checkBounds } from '../../../core/field-bounds.ts';
import { isTimeZone, localDay, timestampAt } from '../../../core/time-zone.ts';
import { validationIssue } from '../../../core/validation-messages.ts';
import { text } from '../../messaging/texts.ts';
import { parseTimesOfDay, readTimestamp, timeOfDay } from '../contest-settings.ts';
import {
  type ContestChanges,
  countEvents,
  deleteContest,
  findContest,
  insertContest,
  listContests,
  listEvents,
  listLeaders,
  lockContest,
  lockCreator,
  updateContest,
} from './repo.ts';
import { sendContestScore } from './scores.ts';
import type { ContestDetail, ContestEvent, LeaderboardEntry, RankedParticipant, ReferralContest } from './types.ts';

const DEFAULT_SUMMARY_TIME = '12:00:00';

/** Times as ISO 8601, without a zone in `timezone`. */
interface ContestFields {
  title: string;
  description: string | null;
  prizeText: string | null;
  contestType: string;
  startAt: string;
  endAt: string;
  dailySummaryTime: string | null;
  /** Comma list of HH:MM; its first time replaces the one above. */
  dailySummaryTimes: string | null;
  timezone: string;
  isActive: boolean;
  createdBy: number | null;
}

export type NewContest = Pick<ContestFields, 'title' | 'contestType' | 'startAt' | 'endAt' | 'timezone' | 'isActive'> &
  Changes<Omit<ContestFields, 'title' | 'contestType' | 'startAt' | 'endAt' | 'timezone' | 'isActive'>>;

export type ContestRequest = Changes<ContestFields & Pick<ReferralContest, 'finalSummarySent'>>;

/** The latest start first; an empty type is none (spec 04 section 11.4). */
export function listReferralContests(
  app: App,
  contestType: string | null,
  page: { limit: number; offset: number },
): Promise<{ items: ReferralContest[]; total: number }> {
  return listContests(app.db, contestType || null, page);
}

/** @throws AppError 404 */
async function readReferralContest(app: App, id: number): Promise<ReferralContest> {
  const contest = await findContest(app.db, id);
  if (!contest) throw contestNotFound();
  return contest;
}

/** @throws AppError 400 for a period without length; ValidationError 422 for a time, a zone or an author that does not exist */
export async function createReferralContest(app: App, request: NewContest): Promise<ReferralContest> {
  const fields = readFields(request, request.timezone);
  return inTransaction(app, async (t) => {
    const startAt = fields.startAt!;
    const endAt = fields.endAt!;
    if (endAt.getTime() <= startAt.getTime()) throw periodEmpty();
    await checkCreator(t, request.createdBy);
    const { title, contestType, timezone, isActive } = request;
    const values = {
      ...{ title, contestType, timezone, isActive, startAt, endAt },
      closesAt: closingTime(endAt),
      description: request.description ?? null,
      prizeText: request.prizeText ?? null,
      dailySummaryTime: fields.dailySummaryTime ?? DEFAULT_SUMMARY_TIME,
      dailySummaryTimes: fields.dailySummaryTimes ?? null,
      createdBy: request.createdBy ?? null,
    };
    const after = await insertContest(t.db, values, t.clock.now());
    await sendContestScore(t, after);
    t.audit?.record({ resourceId: after.id, before: null, after });
    return after;
  });
}

/**
 * Changes the given fields; null changes nothing.
 * @throws AppError 404 | 400 for a period that would have no length; ValidationError 422 as for creation
 */
export async function changeReferralContest(app: App, id: number, request: ContestRequest): Promise<ReferralContest> {
  return inTransaction(app, async (t) => {
    await checkCreator(t, request.createdBy);
    const before = await lockContest(t.db, id);
    if (!before) throw contestNotFound();
    const changes = readFields(request, request.timezone ?? before.timezone);
    const period = { startAt: before.startAt, endAt: before.endAt, ...changes };
    if (period.endAt.getTime() <= period.startAt.getTime()) throw periodEmpty();
    if (changes.endAt) changes.closesAt = closingTime(changes.endAt);
    const after = Object.keys(changes).length === 0 ? before : await updateContest(t.db, id, changes, t.clock.now());
    if (scoresOthers(before, after)) await sendContestScore(t, after);
    t.audit?.record({ resourceId: id, before, after });
    return after;
  });
}

/** Whether a change lets other payments or registrations count than before. */
function scoresOthers(before: ReferralContest, after: ReferralContest): boolean {
  const facts = ({ startAt, closesAt, contestType, isActive }: ReferralContest) =>
    JSON.stringify([startAt, closesAt, contestType, isActive]);
  return facts(before) !== facts(after);
}

/** @throws AppError 404 */
export async function toggleReferralContest(app: App, id: number, isActive: boolean): Promise<ReferralContest> {
  return changeReferralContest(app, id, { isActive });
}

/** Deletes a contest that is over, with its events. @throws AppError 404 | 400 for one that is active or not over */
export async function deleteReferralContest(app: App, id: number): Promise<void> {
  await inTransaction(app, async (t) => {
    const before = await lockContest(t.db, id);
    if (!before) throw contestNotFound();
    if (before.isActive || before.closesAt.getTime() > t.clock.now().getTime()) throw notFinished();
    await deleteContest(t.db, id);
    t.audit?.record({ resourceId: id, before, after: null });
  });
}

/** The fields that are given, as they are stored. */
function readFields(request: ContestRequest, timezone: string): ContestChanges {
  const given = givenFields(request);
  checkBounds([
    { name: 'title', value: given.title, minLength: 1, maxLength: 255 },
    { name: 'contest_type', value: given.contestType, maxLength: 50 },
  ]);
  if (!isTimeZone(timezone) || timezone.length > 64) {
    throw invalid('timezone', timezone, 'timezone must be the name of a time zone, e.g. Europe/Berlin');
  }
  const { startAt, endAt, dailySummaryTime, dailySummaryTimes, ...others } = given;
  const changes: ContestChanges = { ...others };
  const start = readTimestamp('start_at', startAt, timezone);
  const end = readTimestamp('end_at', endAt, timezone);
  if (start) changes.startAt = start;
  if (end) changes.endAt = end;
  if (dailySummaryTime !== undefined) changes.dailySummaryTime = readTime(dailySummaryTime);
  if (dailySummaryTimes !== undefined) Object.assign(changes, readTimes(dailySummaryTimes));
  return changes;
}

function readTime(text: string): string {
  const time = parseSummaryTime(text);
  if (time === null) throw invalid('daily_summary_time', text, 'daily_summary_time must be a time HH:MM or HH:MM:SS');
  return time;
}

function readTimes(text: string): ContestChanges {
  const times = normaliseSummaryTimes(text);
  if (times === undefined)
    throw invalid('daily_summary_times', text, 'daily_summary_times must be times HH:MM separated by commas');
  if (times !== null && times.length > 255) throw invalid('daily_summary_times', text, 'daily_summary_times has too many times');
  const [first] = times?.split(',') ?? [];
  return { dailySummaryTimes: times, ...(first === undefined ? {} : { dailySummaryTime: `${first}:00` }) };
}

async function checkCreator(t: App, createdBy: number | null | undefined): Promise<void> {
  if (createdBy === null || createdBy === undefined || (await lockCreator(t.db, createdBy))) return;
  throw invalid('created_by', createdBy, 'created_by must be the id of a user');
}

function invalid(field: string, input: unknown, what: string): ValidationError {
  return new ValidationError([validationIssue('value_error', ['body', field], input, { error: `Value error, ${what}` })]);
}

// Refusals of contests of referrers; the sentences are literal.

export const contestNotFound = refusal('contest_not_found', 404, 'Contest not found');
export const periodEmpty = refusal('contest_period', 400, 'end_at must be after start_at');
export const notFinished = refusal('contest_not_finished', 400, 'Удалять можно только завершённые конкурсы', () => ({
  detail: text(null, 'contests.delete_unfinished'),
}));

/** A contest with the first of its leaderboard, without invented participants. @throws AppError 404 */
export async function readContestDetail(app: App, id: number, leaderboardLimit: number): Promise<ContestDetail> {
  const contest = await readReferralContest(app, id);
  const totalEvents = await countEvents(app.db, contest.id);
  return { ...contest, totalEvents, leaderboard: await listLeaders(app.db, contest.id, leaderboardLimit) };
}

/** Events of a contest, latest first. @throws AppError 404 */
export async function listContestEvents(
  app: App,
  id: number,
  page: { limit: number; offset: number },
): Promise<{ items: ContestEvent[]; total: number }> {
  const contest = await readReferralContest(app, id);
  return listEvents(app.db, contest.id, page);
}

/** All participants in the order of the leaderboard, and their sums. @throws AppError 404 */
export async function readContestStatistics(app: App, id: number) {
  const contest = await readReferralContest(app, id);
  const participants = await listLeaders(app.db, contest.id, null);
  const sum = (of: (entry: LeaderboardEntry) => number) => participants.reduce((total, entry) => total + of(entry), 0);
  return {
    totalParticipants: participants.length,
    totalInvited: sum(({ referralsCount }) => referralsCount),
    totalPaidAmount: sum(({ totalAmountKopeks }) => totalAmountKopeks),
    totalUnpaid: sum(({ referralsCount, paidCount }) => referralsCount - paidCount),
    participants,
  };
}

/** The end of a period: an end at 00:00:00 UTC means the end of that day (spec 04 section 11.1). */
export function closingTime(endAt: Date): Date {
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
  const today = localDay(now, timezone);
  const lastDay = localDay(contest.closesAt, timezone);
  const finalAt = Math.max(contest.closesAt.getTime(), timestampAt(lastDay + times.at(-1)!, timezone).getTime());
  if (now.getTime() > contest.closesAt.getTime() && now.getTime() >= finalAt) return { kind: 'final', dueAt: new Date(finalAt) };
  if (today > lastDay) return null;
  const passed = times
    .map((time) => timestampAt(today + time, timezone))
    .filter((timestamp) => timestamp.getTime() <= now.getTime());
  const dueAt = passed.at(-1);
  if (!dueAt || (contest.lastDailySummaryAt && contest.lastDailySummaryAt.getTime() >= dueAt.getTime())) return null;
  return { kind: 'daily', dueAt };
}

/** Referrers and invented participants in the order of the leaderboard. */
export function ranking(participants: readonly RankedParticipant[], length: number): RankedParticipant[] {
  return [...participants]
    .sort((a, b) => b.referralsCount - a.referralsCount || b.totalAmountKopeks - a.totalAmountKopeks)
    .slice(0, length);
}
