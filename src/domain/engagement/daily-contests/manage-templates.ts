import type { App } from '../../../core/app.ts';
import { givenFields } from '../../../core/changes.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { ValidationError, type ValidationIssue } from '../../../core/errors.ts';
import { checkBounds } from '../../../core/field-bounds.ts';
import { validationIssue } from '../../../core/validation-messages.ts';
import { parseTimesOfDay } from '../times-of-day.ts';
import { checkPayload } from './check-payload.ts';
import { templateNotFound } from './errors.ts';
import { findTemplate, listTemplates, lockTemplate, type TemplateValues, updateTemplate } from './repo.ts';
import { MAX_COOLDOWN_HOURS, readPrize } from './rules.ts';
import type { ContestTemplate, TemplateChanges } from './types.ts';

/** Templates by id (spec 04 section 10.4). */
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
