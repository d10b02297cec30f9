/** What the cabinet looks like and which of its features are on (spec 05 section 14). */

export const COLOR_FIELDS = [
  ...(['accent', 'darkBackground', 'darkSurface', 'darkText', 'darkTextSecondary'] as const),
  ...(['lightBackground', 'lightSurface', 'lightText', 'lightTextSecondary'] as const),
  ...(['success', 'warning', 'error'] as const),
] as const;

/** `#` with 3 or 6 hexadecimal digits by field. */
export type ThemeColors = Readonly<Record<(typeof COLOR_FIELDS)[number], string>>;

export interface EnabledThemes {
  readonly dark: boolean;
  readonly light: boolean;
}

export const ANIMATION_TYPES = [
  ...(['aurora', 'sparkles', 'vortex', 'shooting-stars', 'background-beams', 'background-beams-collision'] as const),
  ...([
    'gradient-animation',
    'wavy',
    'background-lines',
    'boxes',
    'meteors',
    'grid',
    'dots',
    'spotlight',
    'ripple',
    'none',
  ] as const),
] as const;

export type AnimationSettings = Readonly<Record<string, string | number | boolean | null>>;

export interface AnimationConfig {
  readonly enabled: boolean;
  readonly type: (typeof ANIMATION_TYPES)[number];
  /** Parameters of the animation, which only the front end knows. */
  readonly settings: AnimationSettings;
  /** 0 to 1. */
  readonly opacity: number;
  /** 0 to 100. */
  readonly blur: number;
  readonly reducedOnMobile: boolean;
}

/** Identifiers that pages put into scripts; an empty text = none. */
export interface AnalyticsCounters {
  readonly yandexMetrikaId: string;
  readonly googleAdsId: string;
  readonly googleAdsLabel: string;
}

/** Everything but the bytes of the logo and what is stored as a setting. */
export interface BrandingState {
  /** Null = none is stored: the one of the environment applies. */
  readonly name: string | null;
  readonly hasCustomLogo: boolean;
  readonly colors: ThemeColors;
  readonly themes: EnabledThemes;
  /** The switch of the animation; the stored configuration may differ only after an import. */
  readonly isAnimationEnabled: boolean;
  readonly animation: AnimationConfig;
  readonly isFullscreenEnabled: boolean;
  readonly isLiteModeEnabled: boolean;
  readonly isGiftEnabled: boolean;
  readonly analytics: AnalyticsCounters;
}

export interface Branding {
  readonly name: string;
  readonly logoUrl: string | null;
  readonly logoLetter: string;
  readonly hasCustomLogo: boolean;
}
