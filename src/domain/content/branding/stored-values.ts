import type { FeatureValues } from '../../settings/feature-values.ts';
import { GIFT_SWITCH } from '../../storefront/gifts/is-gift-enabled.ts';
import { readCounters } from './analytics-rules.ts';
import { readAnimation } from './animation-rules.ts';
import { readColors, readThemes } from './theme-rules.ts';
import type { BrandingState } from './types.ts';

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
