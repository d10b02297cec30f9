import { refusal } from '../../../core/errors.ts';
import { COLOR_FIELDS, type EnabledThemes, type ThemeColors } from './types.ts';

export const invalidColor = refusal('invalid_color', 400, 'Invalid hex color for accent: red');
export const noThemeEnabled = refusal('no_theme_enabled', 400, 'At least one theme must be enabled');

export const DEFAULT_COLORS: ThemeColors = {
  accent: '#3b82f6',
  darkBackground: '#0a0f1a',
  darkSurface: '#0f172a',
  darkText: '#f1f5f9',
  darkTextSecondary: '#94a3b8',
  lightBackground: '#F7E7CE',
  lightSurface: '#FEF9F0',
  lightText: '#1F1A12',
  lightTextSecondary: '#7D6B48',
  success: '#22c55e',
  warning: '#f59e0b',
  error: '#ef4444',
};

export const DEFAULT_THEMES: EnabledThemes = { dark: true, light: true };

/** No alpha: the cabinet makes shades of these. Case is retained. */
const isColor = (value: unknown): value is string => typeof value === 'string' && /^#(?:[0-9a-f]{3}|[0-9a-f]{6})$/i.test(value);

/** Colours of a page come from here, so each stored one is checked, whoever wrote it. */
export function readColors(stored: Readonly<Record<string, unknown>> | null): ThemeColors {
  const entries = COLOR_FIELDS.map((field) => {
    const value = stored?.[field];
    return [field, isColor(value) ? value : DEFAULT_COLORS[field]];
  });
  return Object.fromEntries(entries) as ThemeColors;
}

/** @throws AppError 400 for the first invalid colour, in the order of the fields */
export function withColors(
  before: ThemeColors,
  changes: Readonly<Partial<Record<keyof ThemeColors, string | null | undefined>>>,
): ThemeColors {
  const after: Record<keyof ThemeColors, string> = { ...before };
  for (const field of COLOR_FIELDS) {
    const value = changes[field] ?? null;
    if (value === null) continue;
    if (!isColor(value)) throw invalidColor({ detail: `Invalid hex color for ${field}: ${value}` });
    after[field] = value;
  }
  return after;
}

/** Without any theme the cabinet could not be shown, so that counts as nothing stored. */
export function readThemes(stored: Readonly<Record<string, unknown>> | null): EnabledThemes {
  const themes = { dark: stored?.dark !== false, light: stored?.light !== false };
  return themes.dark || themes.light ? themes : DEFAULT_THEMES;
}

/** @throws AppError 400 when none would be left */
export function withThemes(
  before: EnabledThemes,
  changes: { dark?: boolean | null | undefined; light?: boolean | null | undefined },
): EnabledThemes {
  const after = { dark: changes.dark ?? before.dark, light: changes.light ?? before.light };
  if (!after.dark && !after.light) throw noThemeEnabled();
  return after;
}
