import type { App } from '../../../core/app.ts';
import { addMs, HOUR_MS, isWithinCalendar } from '../../../core/clock.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { ValidationError } from '../../../core/errors.ts';
import { checkBounds } from '../../../core/field-bounds.ts';
import { validationIssue } from '../../../core/validation-messages.ts';
import { readMoment } from '../read-moment.ts';
import { announceRound } from './announce-round.ts';
import { listAttempts } from './attempt-repo.ts';
import { checkPayload } from './check-payload.ts';
import { periodEmpty, roundIsActive, roundNotFound, templateNotFound } from './errors.ts';
import { drawRound } from './games/known-games.ts';
import {
  findRound,
  finishRounds,
  insertRound,
  listRounds,
  lockLiveRounds,
  lockTemplate,
  type RoundFilter,
  updateTemplate,
} from './repo.ts';
import { MAX_COOLDOWN_HOURS } from './rules.ts';
import type { AttemptView, ContestTemplate, NamedRound } from './types.ts';

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
  const startsAt = readMoment('starts_at', request.startsAt, timeZone) ?? now;
  const hours = request.cooldownHours ?? template.cooldownHours;
  const endsAt = readMoment('ends_at', request.endsAt, timeZone) ?? endAfter(startsAt, hours);
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

/** Attempts of a round, oldest first; none for an unknown round (spec 04 section 10.4). */
export function listRoundAttempts(
  app: App,
  filter: { roundId: number; winnersOnly: boolean },
  page: Page,
): Promise<{ items: AttemptView[]; total: number }> {
  return listAttempts(app.db, filter, page);
}
