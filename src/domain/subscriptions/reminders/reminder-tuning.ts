import type { App } from '../../../core/app.ts';
import { readState } from '../../../core/service-state.ts';

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
  /** The reminder a day after the end. */
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
