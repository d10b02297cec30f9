/** How the automatic offers are tuned (spec 04 section 14, spec 05 section 9.3). */

interface WaveTuning {
  enabled: boolean;
  /** 0 to 100; a wave of 0 is off. */
  discountPercent: number;
  /** 1 to 168. */
  validHours: number;
}

export interface ReminderTuning {
  secondWave: WaveTuning;
  /** `triggerDays`: 2 to 60 days after the end. */
  thirdWave: WaveTuning & { triggerDays: number };
}

/** Reads what operators stored; what is missing or makes no sense has its default, what is out of bounds the bound. */
export function reminderTuning(stored: unknown): ReminderTuning {
  const second = partOf(stored, 'expired_second_wave');
  const third = partOf(stored, 'expired_third_wave');
  return {
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
