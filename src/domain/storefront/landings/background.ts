import type { LandingBackground } from './types.ts';

/** Backgrounds that the page can draw (spec 03 section 7.3). */
export const BACKGROUND_TYPES = [
  ...['aurora', 'sparkles', 'vortex', 'shooting-stars', 'background-beams', 'background-beams-collision', 'gradient-animation'],
  ...['wavy', 'background-lines', 'boxes', 'meteors', 'grid', 'dots', 'spotlight', 'ripple', 'none'],
] as const;

const MAX_SETTINGS = 20;
const MAX_KEY = 50;
const MAX_TEXT = 200;

type Values = Readonly<Record<string, unknown>>;

/**
 * Reads a background from a request; unknown keys are dropped.
 * @returns the background, or a description of the problem
 */
export function readBackground(value: Values): LandingBackground | { problem: string } {
  const { enabled = false, type = 'none', settings, opacity, blur, reducedOnMobile } = value;
  if (typeof enabled !== 'boolean') return { problem: 'enabled must be a boolean' };
  if (!BACKGROUND_TYPES.some((known) => known === type)) return { problem: 'type is not a known background' };
  if (!isWithin(opacity, 0, 1)) return { problem: 'opacity must be between 0 and 1' };
  if (!isWithin(blur, 0, 100)) return { problem: 'blur must be between 0 and 100' };
  if (!isAbsent(reducedOnMobile) && typeof reducedOnMobile !== 'boolean') return { problem: 'reducedOnMobile must be a boolean' };
  const problem = isAbsent(settings) ? null : settingsProblem(settings);
  if (problem !== null) return { problem };
  return {
    enabled,
    type: String(type),
    ...(isAbsent(settings) ? {} : { settings: { ...(settings as NonNullable<LandingBackground['settings']>) } }),
    ...(isAbsent(opacity) ? {} : { opacity: Number(opacity) }),
    ...(isAbsent(blur) ? {} : { blur: Number(blur) }),
    ...(isAbsent(reducedOnMobile) ? {} : { reducedOnMobile: reducedOnMobile === true }),
  };
}

/** The background for the public page; null for a stored one that would not be accepted today. */
export function shownBackground(stored: Values | null): LandingBackground | null {
  if (stored === null) return null;
  const read = readBackground(stored);
  return 'problem' in read ? null : read;
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

function isWithin(value: unknown, min: number, max: number): boolean {
  return isAbsent(value) || (typeof value === 'number' && value >= min && value <= max);
}

function settingsProblem(settings: unknown): string | null {
  if (typeof settings !== 'object' || settings === null || Array.isArray(settings)) return 'settings must be an object';
  const entries = Object.entries(settings);
  if (entries.length > MAX_SETTINGS) return `settings must have at most ${MAX_SETTINGS} keys`;
  for (const [key, value] of entries) {
    if (key.length > MAX_KEY) return `settings keys must have at most ${MAX_KEY} characters`;
    if (typeof value === 'object' && value !== null) return 'settings must be flat';
    if (typeof value === 'string' && value.length > MAX_TEXT) return `settings texts must have at most ${MAX_TEXT} characters`;
  }
  return null;
}
