import type { App } from '../../../core/app.ts';
import { countCharacters } from '../../../core/characters.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { refusal } from '../../../core/errors.ts';
import { type FeatureValues, storeFeatureValues } from '../../settings/feature-values.ts';
import { withCounters } from './analytics-rules.ts';
import { type AnimationChanges, withAnimation } from './animation-rules.ts';
import { loadBranding, STATE_KEY } from './read-branding.ts';
import { lockBranding } from './repo.ts';
import { BRANDING_KEYS } from './stored-values.ts';
import { DEFAULT_COLORS, withColors, withThemes } from './theme-rules.ts';
import type { BrandingState } from './types.ts';

export const nameTooLong = refusal('name_too_long', 400, 'Name too long (max <n> characters)');

const MAX_NAME = 50;

type Changes = Partial<BrandingState>;
type StoredField = keyof typeof BRANDING_KEYS;

/**
 * Reads, changes and stores values in one transaction, after those of every other instance. When it commits, all instances drop what they
 * have cached.
 * @param change gives the new values from the current ones, or refuses; it does not query
 * @returns the new state
 */
async function changeBranding(app: App, change: (before: BrandingState) => Changes): Promise<BrandingState> {
  return inTransaction(app, async (t) => {
    await lockBranding(t.db);
    const before = await loadBranding(t.db);
    const changes = change(before);
    await storeFeatureValues(t, storedForm(changes));
    await t.cache.forget(t, [STATE_KEY]);
    const fields = Object.keys(changes) as (keyof BrandingState)[];
    t.audit?.record({
      resourceId: 'branding',
      before: Object.fromEntries(fields.map((field) => [field, before[field]])),
      after: changes,
    });
    return { ...before, ...changes };
  });
}

/** Numbers and flags as text, objects as JSON. */
function storedForm({ analytics, ...changes }: Changes): FeatureValues {
  const values = Object.entries({ ...changes, ...analytics }).map(([field, value]) => {
    const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
    return [BRANDING_KEYS[field as StoredField], text] as const;
  });
  return new Map(values);
}

/** An empty name is valid: the logo alone is shown. @throws AppError 400 longer than 50 characters after trimming */
export function changeName(app: App, name: string): Promise<BrandingState> {
  const trimmed = name.trim();
  if (countCharacters(trimmed) > MAX_NAME) throw nameTooLong({ detail: `Name too long (max ${MAX_NAME} characters)` });
  return changeBranding(app, () => ({ name: trimmed }));
}

/** @throws AppError 400 for the first invalid colour; nothing is changed then */
export function changeColors(app: App, colors: Parameters<typeof withColors>[1]): Promise<BrandingState> {
  return changeBranding(app, (before) => ({ colors: withColors(before.colors, colors) }));
}

export function resetColors(app: App): Promise<BrandingState> {
  return changeBranding(app, () => ({ colors: DEFAULT_COLORS }));
}

/** @throws AppError 400 when no theme would be left */
export function changeThemes(app: App, themes: Parameters<typeof withThemes>[1]): Promise<BrandingState> {
  return changeBranding(app, (before) => ({ themes: withThemes(before.themes, themes) }));
}

/** The configuration gets the same switch, so that both ways to read it agree. */
export function switchAnimation(app: App, enabled: boolean): Promise<BrandingState> {
  return changeBranding(app, ({ animation }) => ({ isAnimationEnabled: enabled, animation: { ...animation, enabled } }));
}

export function changeAnimation(app: App, changes: AnimationChanges): Promise<BrandingState> {
  return changeBranding(app, (before) => {
    const animation = withAnimation(before.animation, changes);
    return { animation, isAnimationEnabled: animation.enabled };
  });
}

/** Switches features of the cabinet. */
export function switchFeature(
  app: App,
  feature: 'isFullscreenEnabled' | 'isLiteModeEnabled' | 'isGiftEnabled',
  enabled: boolean,
): Promise<BrandingState> {
  return changeBranding(app, () => ({ [feature]: enabled }));
}

/** @throws AppError 400 for the first invalid counter; nothing is changed then */
export function changeCounters(app: App, counters: Parameters<typeof withCounters>[1]): Promise<BrandingState> {
  return changeBranding(app, (before) => ({ analytics: withCounters(before.analytics, counters) }));
}
