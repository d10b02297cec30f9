import { type Refusal, refusal } from '../../../core/errors.ts';
import type { FeatureValues } from '../../settings/feature-values.ts';
import { GIFT_SWITCH } from '../../storefront/gifts/is-gift-enabled.ts';
import {
  ANIMATION_TYPES,
  type AnalyticsCounters,
  type AnimationConfig,
  type AnimationSettings,
  type BrandingState,
  COLOR_FIELDS,
  type EnabledThemes,
  type ThemeColors,
} from './types.ts';

/** The keys under which the values are stored, and those of other releases and imports (spec 05 section 14). */
export const BRANDING_KEYS = {
  name: 'CABINET_BRANDING_NAME',
  colors: 'CABINET_THEME_COLORS',
  themes: 'CABINET_ENABLED_THEMES',
  isAnimationEnabled: 'CABINET_ANIMATION_ENABLED',
  animation: 'CABINET_ANIMATION_CONFIG',
  isFullscreenEnabled: 'CABINET_FULLSCREEN_ENABLED',
  isLiteModeEnabled: 'CABINET_LITE_MODE_ENABLED',
  isGiftEnabled: GIFT_SWITCH,
  yandexMetrikaId: 'CABINET_YANDEX_METRIKA_ID',
  googleAdsId: 'CABINET_GOOGLE_ADS_ID',
  googleAdsLabel: 'CABINET_GOOGLE_ADS_LABEL',
} as const;

/** Reads what is stored. Every part that is missing or invalid has its default, because pages use the values as they are. */
export function readState(values: FeatureValues, hasCustomLogo: boolean): BrandingState {
  const text = (field: keyof typeof BRANDING_KEYS) => values.get(BRANDING_KEYS[field]) ?? null;
  const isAnimationEnabled = readFlag(text('isAnimationEnabled'), true);
  return {
    name: text('name'),
    hasCustomLogo,
    colors: readColors(parsed(text('colors'))),
    themes: readThemes(parsed(text('themes'))),
    isAnimationEnabled,
    animation: readAnimation(parsed(text('animation')), isAnimationEnabled),
    isFullscreenEnabled: readFlag(text('isFullscreenEnabled'), false),
    isLiteModeEnabled: readFlag(text('isLiteModeEnabled'), false),
    isGiftEnabled: readFlag(text('isGiftEnabled'), false),
    analytics: readCounters({
      yandexMetrikaId: text('yandexMetrikaId') ?? '',
      googleAdsId: text('googleAdsId') ?? '',
      googleAdsLabel: text('googleAdsLabel') ?? '',
    }),
  };
}

/** `true` in any case is on, any other text is off. */
function readFlag(text: string | null, otherwise: boolean): boolean {
  return text === null ? otherwise : text.toLowerCase() === 'true';
}

/** The fields of a stored object; none for anything else. */
function parsed(text: string | null): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text ?? 'null');
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

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

const DEFAULT_THEMES: EnabledThemes = { dark: true, light: true };

/** No alpha: the cabinet makes shades of these. Case is retained. */
const isColor = (value: unknown): value is string => typeof value === 'string' && /^#(?:[0-9a-f]{3}|[0-9a-f]{6})$/i.test(value);

/** Colours of a page come from here, so each stored one is checked, whoever wrote it. */
function readColors(stored: Readonly<Record<string, unknown>> | null): ThemeColors {
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
function readThemes(stored: Readonly<Record<string, unknown>> | null): EnabledThemes {
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

const DEFAULTS: Omit<AnimationConfig, 'enabled'> = {
  type: 'aurora',
  settings: {},
  opacity: 1,
  blur: 0,
  reducedOnMobile: true,
};

export const MAX_OPACITY = 1;
export const MAX_BLUR = 100;
const MAX_SETTINGS = 20;
const MAX_KEY = 50;
const MAX_TEXT = 200;

/** @param isEnabled the older switch, which applies where no configuration is stored */
function readAnimation(stored: Readonly<Record<string, unknown>> | null, isEnabled: boolean): AnimationConfig {
  if (stored === null) return { ...DEFAULTS, enabled: isEnabled };
  const { enabled, type, settings, opacity, blur, reducedOnMobile } = stored;
  return {
    enabled: typeof enabled === 'boolean' ? enabled : isEnabled,
    type: ANIMATION_TYPES.find((known) => known === type) ?? DEFAULTS.type,
    settings: settingsProblem(settings) === null ? (settings as AnimationSettings) : DEFAULTS.settings,
    opacity: within(opacity, MAX_OPACITY) ?? DEFAULTS.opacity,
    blur: within(blur, MAX_BLUR) ?? DEFAULTS.blur,
    reducedOnMobile: typeof reducedOnMobile === 'boolean' ? reducedOnMobile : DEFAULTS.reducedOnMobile,
  };
}

function within(value: unknown, max: number): number | null {
  return typeof value === 'number' && value >= 0 && value <= max ? value : null;
}

/** Absent and null leave a field as it is; `settings` is replaced as a whole. */
export type AnimationChanges = { readonly [Field in keyof AnimationConfig]?: AnimationConfig[Field] | null | undefined };

export function withAnimation(before: AnimationConfig, changes: AnimationChanges): AnimationConfig {
  return {
    enabled: changes.enabled ?? before.enabled,
    type: changes.type ?? before.type,
    settings: changes.settings ?? before.settings,
    opacity: changes.opacity ?? before.opacity,
    blur: changes.blur ?? before.blur,
    reducedOnMobile: changes.reducedOnMobile ?? before.reducedOnMobile,
  };
}

/** Why the parameters of an animation are refused; null = they are accepted. Lengths count characters. */
export function settingsProblem(settings: unknown): string | null {
  if (typeof settings !== 'object' || settings === null || Array.isArray(settings)) return 'Settings must be an object';
  const entries = Object.entries(settings);
  if (entries.length > MAX_SETTINGS) return `Settings must have at most ${MAX_SETTINGS} keys`;
  for (const [key, value] of entries) {
    if ([...key].length > MAX_KEY) return `Setting keys must be strings under ${MAX_KEY} characters`;
    if (typeof value === 'object' && value !== null) return 'Nested objects/arrays not allowed in settings';
    if (typeof value === 'string' && [...value].length > MAX_TEXT) {
      return `String setting values must be under ${MAX_TEXT} characters`;
    }
  }
  return null;
}

export const invalidYandexMetrikaId = refusal('invalid_yandex_metrika_id', 400, 'Yandex Metrika counter ID must be numeric');
export const invalidGoogleAdsId = refusal('invalid_google_ads_id', 400, 'Google Ads conversion ID must start with AW-');
export const invalidGoogleAdsLabel = refusal(
  'invalid_google_ads_label',
  400,
  'Google Ads conversion label contains invalid characters',
);

/**
 * Pages write these texts into their scripts, so nothing may get in that could end a string there. The refusals are
 * in the order in which they are checked.
 */
const RULES: readonly { field: keyof AnalyticsCounters; pattern: RegExp; refused: Refusal }[] = [
  {
    field: 'yandexMetrikaId',
    pattern: /^[0-9]{1,20}$/,
    refused: invalidYandexMetrikaId,
  },
  {
    field: 'googleAdsId',
    pattern: /^AW-[A-Za-z0-9-]{1,40}$/,
    refused: invalidGoogleAdsId,
  },
  {
    field: 'googleAdsLabel',
    pattern: /^[A-Za-z0-9_-]{1,100}$/,
    refused: invalidGoogleAdsLabel,
  },
];

/** What is stored and would be refused now, for example after an import, is read as none. */
function readCounters(stored: AnalyticsCounters): AnalyticsCounters {
  const entries = RULES.map(({ field, pattern }) => [field, pattern.test(stored[field]) ? stored[field] : '']);
  return Object.fromEntries(entries) as unknown as AnalyticsCounters;
}

/**
 * Absent and null leave a counter as it is, an empty text clears it.
 * @throws AppError 400 for the first invalid one
 */
export function withCounters(
  before: AnalyticsCounters,
  changes: { readonly [Field in keyof AnalyticsCounters]?: string | null | undefined },
): AnalyticsCounters {
  const after: Record<keyof AnalyticsCounters, string> = { ...before };
  for (const { field, pattern, refused } of RULES) {
    const value = changes[field]?.trim() ?? null;
    if (value === null) continue;
    if (value !== '' && !pattern.test(value)) throw refused();
    after[field] = value;
  }
  return after;
}
