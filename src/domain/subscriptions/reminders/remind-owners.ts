import type { App } from '../../../core/app.ts';
import { DAY_MS } from '../../../core/clock.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { readState } from '../../../core/service-state.ts';
import { recordMonitoring } from '../../monitoring/monitoring-log.ts';
import { SUBSCRIPTION_EXPIRING } from '../events.ts';
import { notifyOwner } from '../notify-owner.ts';
import { dayOf } from '../purchase/complete-sale.ts';
import { type DueReminder, listDue, type Reminded, type ReminderTerms, recordReminders } from './repo.ts';
import { dayAfterEnd, trialWarning, warningsBeforeEnd } from './rules.ts';

/** Messages queued a transaction. */
const BATCH = 100;

type Notify = (t: App, reminded: Reminded) => Promise<void>;

/**
 * Job `subscriptions.remind`: notifies owners that a subscription or a trial is about to end, and a day after the end that it has ended
 * (spec 02 section 13). The record and the message are one transaction; a sale deletes the records. Does nothing while notifications to
 * users are switched off, and skips owners who have switched off these reminders (spec 05 section 9.1).
 * @returns how many owners were notified
 */
export async function remindOwners(app: App): Promise<number> {
  if (!app.settings.get('ENABLE_NOTIFICATIONS')) return 0;
  const now = app.clock.now();
  const warnings = warningsBeforeEnd(app.settings.get('AUTOPAY_WARNING_DAYS'), now);
  const warned = warnings ? await remindAll(app, warnings, notifyEnding) : [];
  for (const [days, count] of countByDays(warned)) await recordMonitoring(app, 'expiring_notifications_sent', { days, count });
  const trials = await remindAll(app, trialWarning(now), notifyTrialEnding);
  await recordMonitoring(app, 'trial_expiring_notifications_sent', { count: trials.length });
  let day1 = 0;
  if ((await readReminderTuning(app)).dayAfterEnd.enabled) {
    const ended = await remindAll(app, dayAfterEnd(now), (t, owner) => notifyOwner(t, owner, 'subscription_ended', {}));
    day1 = ended.length;
    await recordMonitoring(app, 'expired_followups_sent', { day1, wave2: 0, wave3: 0 });
  }
  return warned.length + trials.length + day1;
}

/** How many got the reminder of each number of days before the end, ascending. */
function countByDays(discriminators: readonly string[]): [number, number][] {
  const counts = new Map<number, number>();
  for (const text of discriminators) counts.set(Number(text), (counts.get(Number(text)) ?? 0) + 1);
  return [...counts].sort(([a], [b]) => a - b);
}

/**
 * Each page starts after the last one, whatever the result: a round reads no subscription twice.
 * @returns the discriminator of each reminder
 */
async function remindAll(app: App, terms: ReminderTerms, notify: Notify): Promise<string[]> {
  const reminded: string[] = [];
  for (let after: DueReminder | null = null; ; ) {
    const page: DueReminder[] = await listDue(app.db, terms, after, BATCH);
    const ids = page.map(({ id }) => id);
    if (ids.length > 0) reminded.push(...(await remindPage(app, terms, ids, notify)));
    if (page.length < BATCH) return reminded;
    after = page.at(-1)!;
  }
}

/** All in one transaction; when that fails, each in its own, so that only the one that fails waits for the next round. */
async function remindPage(app: App, terms: ReminderTerms, ids: readonly number[], notify: Notify): Promise<string[]> {
  try {
    return await inTransaction(app, async (t) => {
      const reminded = await recordReminders(t.db, terms, ids, t.clock.now());
      for (const owner of reminded) await notify(t, owner);
      return reminded.map(({ discriminator }) => discriminator);
    });
  } catch (error) {
    // Any failure: those that fail alone wait for the next round.
    const { notificationType } = terms;
    if (ids.length === 1) {
      app.log.warn({ err: error, subscriptionId: ids[0], notificationType }, 'an owner could not be reminded');
      return [];
    }
    const reminded: string[] = [];
    for (const id of ids) reminded.push(...(await remindPage(app, terms, [id], notify)));
    return reminded;
  }
}

async function notifyEnding(t: App, owner: Reminded): Promise<void> {
  const days_left = Math.ceil((owner.endDate.getTime() - t.clock.now().getTime()) / DAY_MS);
  const payload = { days_left, expires_at: owner.endDate.toISOString() };
  await t.events.emit(SUBSCRIPTION_EXPIRING, payload, { audience: 'user', userId: owner.userId });
  await notifyOwner(t, owner, 'subscription_expiring', { days_left, expires_at: dayOf(owner.endDate) });
}

async function notifyTrialEnding(t: App, owner: Reminded): Promise<void> {
  const payload = { days_left: 0, expires_at: owner.endDate.toISOString() };
  await t.events.emit(SUBSCRIPTION_EXPIRING, payload, { audience: 'user', userId: owner.userId });
  await notifyOwner(t, owner, 'trial_ending', {});
}

/**
 * The state with operators' settings for reminders and offers after the end (spec 04 section 14, spec 05 section 9.3), for example
 * `{"expired_second_wave": {"enabled": false}}`; a missing key has its default.
 */
export const TUNING_STATE = 'reminder_tuning';

interface WaveTuning {
  enabled: boolean;
  /** 0 to 100; a wave of 0 is off. */
  discountPercent: number;
  /** 1 to 168. */
  validHours: number;
}

export interface ReminderTuning {
  dayAfterEnd: { enabled: boolean };
  /** The notice that leaving a required channel has disabled a subscription. */
  channelLeft: { enabled: boolean };
  secondWave: WaveTuning;
  /** `triggerDays`: 2 to 60 days after the end. */
  thirdWave: WaveTuning & { triggerDays: number };
}

export async function readReminderTuning(app: App): Promise<ReminderTuning> {
  return reminderTuning(await readState(app.db, TUNING_STATE));
}

/** The stored settings; a missing or unreadable value has its default, a value out of bounds the nearest bound. */
export function reminderTuning(stored: unknown): ReminderTuning {
  const second = partOf(stored, 'expired_second_wave');
  const third = partOf(stored, 'expired_third_wave');
  return {
    dayAfterEnd: { enabled: partOf(stored, 'expired_1d').enabled !== false },
    channelLeft: { enabled: partOf(stored, 'trial_channel_unsubscribed').enabled !== false },
    secondWave: waveOf(second, 10),
    thirdWave: { ...waveOf(third, 20), triggerDays: numberOf(third.trigger_days, 5, 2, 60) },
  };
}

type Part = Readonly<Record<string, unknown>>;

function partOf(stored: unknown, name: string): Part {
  const part = typeof stored === 'object' && stored !== null ? (stored as Part)[name] : null;
  return typeof part === 'object' && part !== null ? (part as Part) : {};
}

function waveOf(part: Part, defaultPercent: number): WaveTuning {
  const discountPercent = numberOf(part.discount_percent, defaultPercent, 0, 100);
  return {
    enabled: part.enabled !== false && discountPercent > 0,
    discountPercent,
    validHours: numberOf(part.valid_hours, 24, 1, 168),
  };
}

function numberOf(value: unknown, fallback: number, min: number, max: number): number {
  return typeof value === 'number' && Number.isFinite(value) ? Math.min(max, Math.max(min, Math.trunc(value))) : fallback;
}
