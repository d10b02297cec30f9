import type { App } from '../../../core/app.ts';
import { givenFields } from '../../../core/changes.ts';
import { addMs, HOUR_MS, isWithinCalendar } from '../../../core/clock.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { refusal, ValidationError, type ValidationIssue } from '../../../core/errors.ts';
import { checkBounds } from '../../../core/field-bounds.ts';
import { formatPrice } from '../../../core/money.ts';
import { issuesFromZod } from '../../../core/validation-issues.ts';
import { validationIssue } from '../../../core/validation-messages.ts';
import { subscriberCondition } from '../../audience/segments.ts';
import { startSend } from '../../mass-sends/control-sends.ts';
import { attemptSend } from '../../mass-sends/outcome.ts';
import type { SendKind, SendOutcome } from '../../mass-sends/types.ts';
import type { MessengerButton } from '../../messaging/ports.ts';
import { sendMessage, webAppBase } from '../../messaging/send-message.ts';
import { htmlText, knownLanguage, text } from '../../messaging/texts.ts';
import { areContestsEnabled, firstChannel, parseTimesOfDay, readTimestamp } from '../contest-settings.ts';
import { findPlayedRound, listAttempts } from './attempt-repo.ts';
import { drawRound, gameBySlug } from './games.ts';
import {
  closeRounds,
  findRound,
  findTemplate,
  finishRounds,
  insertRound,
  listIdleTemplates,
  listRounds,
  listTemplates,
  lockLiveRounds,
  lockTemplate,
  type RoundFilter,
  type TemplateValues,
  updateTemplate,
} from './repo.ts';
import { MAX_COOLDOWN_HOURS, openSlots, readPrize, type Slot } from './rules.ts';
import type { AttemptView, ContestTemplate, NamedRound, PlayedRound, TemplateChanges } from './types.ts';

interface Page {
  limit: number;
  offset: number;
}

/** What a round is started with; times as ISO 8601, without a zone in `TIMEZONE`. */
export interface RoundRequest {
  startsAt?: string | null | undefined;
  endsAt?: string | null | undefined;
  cooldownHours?: number | null | undefined;
  payload?: Record<string, unknown> | null | undefined;
  force: boolean;
}

/**
 * Starts a round of a template, which is enabled by it, and announces it after the commit (spec 04 section 10.4).
 * @throws AppError 404 | 409 while a round is played and `force` is not set | 400 for a period without length; ValidationError 422 for
 * a payload that cannot be played
 */
export async function startRound(app: App, templateId: number, request: RoundRequest): Promise<NamedRound> {
  checkBounds([{ name: 'cooldown_hours', value: request.cooldownHours, max: MAX_COOLDOWN_HOURS }]);
  return inTransaction(app, async (t) => {
    const now = t.clock.now();
    const template = await lockTemplate(t.db, templateId);
    if (!template) throw templateNotFound();
    const period = periodOf(t, template, request, now);
    const payload = payloadOf(t, template, request.payload ?? {});
    const live = await lockLiveRounds(t.db, templateId, now);
    if (live.length > 0 && !request.force) throw roundIsActive();
    await finishRounds(t.db, live, now);
    if (!template.isEnabled) await updateTemplate(t.db, templateId, { isEnabled: true }, now);
    const { maxWinners, attemptsPerUser } = template;
    const values = { templateId, ...period, payload, isScheduled: false, maxWinners, attemptsPerUser };
    const roundId = await insertRound(t.db, values, now);
    if (roundId === null) throw new Error('a round outside of the schedule was refused');
    await announceRound(t, roundId);
    const round = await readRound(t, roundId);
    t.audit?.record({ resourceId: roundId, before: null, after: { ...round, finished: live } });
    return round;
  });
}

function periodOf(t: App, template: ContestTemplate, request: RoundRequest, now: Date): { startsAt: Date; endsAt: Date } {
  const timeZone = t.settings.get('TIMEZONE');
  const startsAt = readTimestamp('starts_at', request.startsAt, timeZone) ?? now;
  const hours = request.cooldownHours ?? template.cooldownHours;
  const endsAt = readTimestamp('ends_at', request.endsAt, timeZone) ?? endAfter(startsAt, hours);
  if (endsAt.getTime() <= startsAt.getTime()) throw periodEmpty();
  return { startsAt, endsAt };
}

/** @throws ValidationError 422 for an end that no calendar has */
function endAfter(startsAt: Date, hours: number): Date {
  const endsAt = addMs(startsAt, hours * HOUR_MS);
  if (isWithinCalendar(endsAt)) return endsAt;
  const ctx = { error: 'the round must end before the year 10000 in UTC' };
  throw new ValidationError([validationIssue('datetime_parsing', ['body', 'starts_at'], startsAt.toISOString(), ctx)]);
}

/** A given payload is that of the round; without one it is drawn. */
function payloadOf(t: App, template: ContestTemplate, given: Record<string, unknown>): Record<string, unknown> {
  if (Object.keys(given).length > 0) return checkPayload(template.slug, 'round', given);
  checkPayload(template.slug, 'template', template.payload);
  return drawRound(template.slug, template.payload, t.random);
}

/** @throws AppError 404 */
export async function readRound(app: App, id: number): Promise<NamedRound> {
  const round = await findRound(app.db, id);
  if (!round) throw roundNotFound();
  return round;
}

/** Ends a round; one that is finished stays so. @throws AppError 404 */
export async function finishRound(app: App, id: number): Promise<NamedRound> {
  return inTransaction(app, async (t) => {
    const before = await readRound(t, id);
    await finishRounds(t.db, [id], t.clock.now());
    const after = await readRound(t, id);
    t.audit?.record({ resourceId: id, before, after });
    return after;
  });
}

/** `active` lists rounds that are played now, by their start; the others are listed by their stored status, the latest first. */
export function listContestRounds(app: App, filter: RoundFilter, page: Page): Promise<{ items: NamedRound[]; total: number }> {
  return listRounds(app.db, filter, page, app.clock.now());
}

/** Attempts of a round, oldest first; none for an unknown round. */
export function listRoundAttempts(
  app: App,
  filter: { roundId: number; winnersOnly: boolean },
  page: Page,
): Promise<{ items: AttemptView[]; total: number }> {
  return listAttempts(app.db, filter, page);
}

/**
 * The scheduled job: closes rounds that are over or have all their winners, and starts what the schedules want while contests are enabled
 * (spec 04 section 10.3). Any number of runs at once start each round once.
 */
export async function rotateRounds(app: App): Promise<void> {
  const now = app.clock.now();
  await closeRounds(app.db, now);
  if (!areContestsEnabled(app)) return;
  const timeZone = app.settings.get('TIMEZONE');
  for (const template of await listIdleTemplates(app.db, now)) {
    if (openSlots(template, now, timeZone).length === 0) continue;
    try {
      await inTransaction(app, (t) => startScheduled(t, template.id, now, timeZone));
    } catch (error) {
      // The others are started whatever is wrong with this one.
      // Any failure: of one round; the next rotation repeats it.
      app.log.error({ err: error, templateId: template.id }, 'a round of a contest could not be started');
    }
  }
}

/** What was read before the lock may have changed: all is decided again under it. */
async function startScheduled(t: App, templateId: number, now: Date, timeZone: string): Promise<void> {
  const template = await lockTemplate(t.db, templateId);
  if (!template?.isEnabled || (await lockLiveRounds(t.db, templateId, now)).length > 0) return;
  for (const slot of openSlots(template, now, timeZone)) {
    const roundId = await startInSlot(t, template, slot, now);
    if (roundId === null) continue;
    await announceRound(t, roundId);
    return;
  }
}

/** @returns null when the slot had its round: it is not opened again */
function startInSlot(t: App, template: ContestTemplate, slot: Slot, now: Date): Promise<number | null> {
  const round = {
    templateId: template.id,
    ...slot,
    payload: drawRound(template.slug, template.payload, t.random),
    isScheduled: true,
    maxWinners: template.maxWinners,
    attemptsPerUser: template.attemptsPerUser,
  };
  return insertRound(t.db, round, now);
}

const KIND = 'contest_round';

/**
 * Announces a round after the commit: to the first required channel, and to everybody with a running subscription at the pace of all mass
 * sends. In the transaction that starts the round.
 */
async function announceRound(t: App, roundId: number): Promise<void> {
  if (!t.ports.messenger.isConfigured()) return;
  const round = await findPlayedRound(t.db, roundId);
  if (!round) throw new Error(`round ${roundId} was started and is missing`);
  await startSend(t, { kind: KIND, sourceId: roundId, channel: 'messenger', audience: 'subscribed' });
  const channel = await firstChannel(t.db);
  // A channel is no chat with the bot: its members come by the link of the bot.
  if (channel !== null)
    await sendMessage(t, { messengerId: channel, html: announcementOf(round, null), buttons: channelButtons(t) });
}

/** Announcements of rounds as the engine of mass sends knows them. */
export const contestRoundKind: SendKind = {
  recipients: (_send, now) => subscriberCondition(now),
  repeatable: 'false',
  open: async (app, send) => {
    const round = await findPlayedRound(app.db, send.sourceId);
    const isOver = round === null || round.status !== 'active' || round.endsAt.getTime() < app.clock.now().getTime();
    if (isOver || !app.ports.messenger.isConfigured()) return null;
    const byLanguage = new Map<string, { html: string; buttons: MessengerButton[][] }>();
    const messageFor = (language: string | null) => {
      const known = knownLanguage(language);
      const message = byLanguage.get(known) ?? { html: announcementOf(round, known), buttons: menuButtons(app, known) };
      byLanguage.set(known, message);
      return message;
    };
    return async ({ messengerId, language }): Promise<SendOutcome> => {
      if (messengerId === null) return { state: 'failed' };
      const { html, buttons } = messageFor(language);
      return attemptSend((isPaced) => app.ports.messenger.sendMessage(messengerId, html, { buttons, isPaced }));
    };
  },
  announce: async () => undefined,
};

/** The texts of administrators are escaped. */
function announcementOf(round: PlayedRound, language: string | null): string {
  const { name, maxWinners, attemptsPerUser } = round;
  const params = { name, prize: prizeText(round, language), winners: maxWinners, attempts: attemptsPerUser };
  return htmlText(language, 'contests.round_announcement', params);
}

function prizeText(round: PlayedRound, language: string | null): string {
  const prize = readPrize(round);
  if (prize?.kind === 'days') return text(language, 'contests.prize_days', { days: prize.days });
  return prize?.kind === 'balance' ? formatPrice(prize.kopeks, false) : round.prizeValue;
}

function menuButtons(app: App, language: string): MessengerButton[][] {
  const label = text(language, 'contests.button_play');
  const webApp = webAppBase(app);
  return [[webApp === null ? { text: label, callbackData: 'contests_menu' } : { text: label, webAppUrl: `${webApp}/contests` }]];
}

function channelButtons({ ports }: App): MessengerButton[][] {
  const bot = ports.messengerIdentity.botUsername();
  if (bot === null) return [];
  return [[{ text: text(null, 'contests.button_play'), url: `${ports.messengerIdentity.linkBase()}/${bot}` }]];
}

// Refusals of daily games; the sentences are literal (spec 04 sections 10.4 and 10.5).

export const templateNotFound = refusal('template_not_found', 404, 'Template not found');
export const roundNotFound = refusal('round_not_found', 404, 'Round not found');
export const roundIsActive = refusal(
  'round_active',
  409,
  'Active round already exists for this template. Set force=true to start a new one.',
);
export const periodEmpty = refusal('round_period', 400, 'ends_at must be after starts_at');

export const notEligible = refusal(
  'contest_not_eligible',
  403,
  'Contests are only available for users with active or trial subscriptions',
);
export const roundOver = refusal('contest_round_over', 404, 'Contest round not found or already finished');
export const contestDisabled = refusal('contest_disabled', 400, 'This contest is disabled');
export const alreadyPlayed = refusal('contest_played', 400, 'You have already played this round');
export const unknownGame = refusal('contest_unknown', 400, 'Unknown contest type');

/**
 * Checks the payload of a template or of a round by the game of the slug; that of an unknown game may be anything.
 * @returns the payload as given
 * @throws ValidationError 422 that names the fields that do not fit
 */
function checkPayload(slug: string, of: 'template' | 'round', payload: Record<string, unknown>): Record<string, unknown> {
  const game = gameBySlug(slug);
  const read = game?.[of].safeParse(payload);
  if (read && !read.success) {
    throw new ValidationError(issuesFromZod(read.error, payload, (path) => ['body', 'payload', ...path.map(String)]));
  }
  return payload;
}

/** Templates by id. */
export function listContestTemplates(app: App, enabledOnly: boolean): Promise<ContestTemplate[]> {
  return listTemplates(app.db, enabledOnly);
}

/** @throws AppError 404 */
export async function readContestTemplate(app: App, id: number): Promise<ContestTemplate> {
  const template = await findTemplate(app.db, id);
  if (!template) throw templateNotFound();
  return template;
}

/** What an administrator may write; the type of the prize as the client sent it. */
export type TemplateRequest = Omit<TemplateChanges, 'prizeType'> & { prizeType?: string | null | undefined };

/**
 * Changes the given fields; null changes nothing. Rounds that have begun keep what they were started with.
 * @throws AppError 404; ValidationError 422 for a prize, a schedule or a payload that no round could be started with
 */
export async function changeContestTemplate(app: App, id: number, request: TemplateRequest): Promise<ContestTemplate> {
  return inTransaction(app, async (t) => {
    const before = await lockTemplate(t.db, id);
    if (!before) throw templateNotFound();
    const changes = readChanges(before, request);
    const after = Object.keys(changes).length === 0 ? before : await updateTemplate(t.db, id, changes, t.clock.now());
    t.audit?.record({ resourceId: id, before, after });
    return after;
  });
}

function readChanges(before: ContestTemplate, request: TemplateRequest): Partial<TemplateValues> {
  const given = givenFields(request);
  checkBounds([
    { name: 'name', value: given.name, minLength: 1, maxLength: 255 },
    { name: 'prize_value', value: given.prizeValue, minLength: 1, maxLength: 255 },
    { name: 'schedule_times', value: given.scheduleTimes, maxLength: 255 },
    { name: 'max_winners', value: given.maxWinners },
    { name: 'attempts_per_user', value: given.attemptsPerUser },
    { name: 'times_per_day', value: given.timesPerDay },
    { name: 'cooldown_hours', value: given.cooldownHours, max: MAX_COOLDOWN_HOURS },
  ]);
  const issues = [...prizeIssues(before, given), ...scheduleIssues(given.scheduleTimes)];
  if (issues.length > 0) throw new ValidationError(issues);
  if (given.payload !== undefined) checkPayload(before.slug, 'template', given.payload);
  return given as Partial<TemplateValues>;
}

/** The prize is checked as it will be, once one of its fields is given. */
function prizeIssues(
  before: ContestTemplate,
  { prizeType, prizeValue }: { prizeType?: string; prizeValue?: string },
): ValidationIssue[] {
  if (prizeType === undefined && prizeValue === undefined) return [];
  const type = prizeType ?? before.prizeType;
  if (!isPrizeType(type)) {
    return [validationIssue('enum', ['body', 'prize_type'], type, { expected: "'days', 'balance' or 'custom'" })];
  }
  const value = prizeValue ?? before.prizeValue;
  if (readPrize({ prizeType: type, prizeValue: value })) return [];
  const error = `Value error, prize_value of ${type} must be a whole number above 0 and not too large`;
  return [validationIssue('value_error', ['body', 'prize_value'], value, { error })];
}

const isPrizeType = (type: string): type is ContestTemplate['prizeType'] => ['days', 'balance', 'custom'].includes(type);

function scheduleIssues(scheduleTimes: string | undefined): ValidationIssue[] {
  if (scheduleTimes === undefined || parseTimesOfDay(scheduleTimes)) return [];
  const error = 'Value error, schedule_times must be times HH:MM separated by commas';
  return [validationIssue('value_error', ['body', 'schedule_times'], scheduleTimes, { error })];
}
