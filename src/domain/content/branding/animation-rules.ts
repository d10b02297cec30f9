import { ANIMATION_TYPES, type AnimationConfig, type AnimationSettings } from './types.ts';

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
export function readAnimation(stored: Readonly<Record<string, unknown>> | null, isEnabled: boolean): AnimationConfig {
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
