import { type Refusal, refusal } from '../../../core/errors.ts';
import type { AnalyticsCounters } from './types.ts';

export const invalidYandexMetrikaId = refusal('invalid_yandex_metrika_id', 400, 'Yandex Metrika counter ID must be numeric');
export const invalidGoogleAdsId = refusal('invalid_google_ads_id', 400, 'Google Ads conversion ID must start with AW-');
export const invalidGoogleAdsLabel = refusal(
  'invalid_google_ads_label',
  400,
  'Google Ads conversion label contains invalid characters',
);

/**
 * Pages write these texts into their scripts, so nothing may get in that could end a string there (spec 05 section 14). The refusals are
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
export function readCounters(stored: AnalyticsCounters): AnalyticsCounters {
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
