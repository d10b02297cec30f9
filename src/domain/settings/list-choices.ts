import type { SettingsReader } from '../../core/app.ts';
import { definitionOf, isSettingKey, type SettingKey } from './catalogue/catalogue.ts';
import type { SettingChoice, SettingValue } from './types.ts';

const MAX_DEVICE_CHOICES = 50;
const TRAFFIC_PACKAGE_SIZES_GB = [5, 10, 25, 50, 100, 250, 500, 1000] as const;

/** Labels of choices that cannot be derived from their value. */
const CHOICE_LABELS: Readonly<Record<string, string>> = {
  '': 'As in the app',
  api_key: 'API key',
  basic_auth: 'User name and password',
  cabinet: 'Cabinet only',
  default: 'Full menu',
  en: 'English',
  external_link: 'External link',
  external_link_miniapp: 'External link in the mini app',
  fixed_with_topup: 'Fixed, more can be bought',
  happ_cryptolink: 'Happ crypto link',
  miniapp_custom: 'Mini app at an own address',
  miniapp_subscription: 'Mini app with the subscription',
  postgresql: 'PostgreSQL',
  ru: 'Russian',
  sqlite: 'SQLite',
  xray: 'Metrics of the VPN core',
};

/**
 * The choices of a setting; empty where any value of the type is allowed. For the three `SIMPLE_SUBSCRIPTION_*` keys they depend on
 * other settings (spec 06 section 6.2), so they are computed on each call.
 */
export function listChoices(key: SettingKey, settings: SettingsReader): SettingChoice[] {
  switch (key) {
    case 'SIMPLE_SUBSCRIPTION_PERIOD_DAYS':
      return periodChoices(settings);
    case 'SIMPLE_SUBSCRIPTION_DEVICE_LIMIT':
      return deviceChoices(settings);
    case 'SIMPLE_SUBSCRIPTION_TRAFFIC_GB':
      return trafficChoices(settings);
    default:
      return (definitionOf(key).choices ?? []).map((value) => choice(value, labelOf(value)));
  }
}

function choice(value: SettingValue, label: string): SettingChoice {
  return { value, label, description: null };
}

function labelOf(value: string | number): string {
  const text = String(value);
  const words = text.replaceAll('_', ' ').toLowerCase();
  return CHOICE_LABELS[text] ?? words.charAt(0).toUpperCase() + words.slice(1);
}

/** Kopeks as `990 RUB` or `990.50 RUB`. */
export function rublesText(kopeks: number): string {
  const rest = kopeks % 100;
  const rubles = Math.trunc(kopeks / 100);
  return rest === 0 ? `${rubles} RUB` : `${rubles}.${String(Math.abs(rest)).padStart(2, '0')} RUB`;
}

function wholeNumbers(text: string): number[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => /^\d{1,9}$/.test(item))
    .map(Number);
}

function ascending(values: readonly number[]): number[] {
  return [...new Set(values)].sort((a, b) => a - b);
}

function periodPriceKopeks(settings: SettingsReader, days: number): number {
  const key = `PRICE_${days}_DAYS`;
  const price = isSettingKey(key) ? settings.get(key) : null;
  return typeof price === 'number' ? price : settings.get('BASE_SUBSCRIPTION_PRICE');
}

function periodChoices(settings: SettingsReader): SettingChoice[] {
  const offered = wholeNumbers(settings.get('AVAILABLE_SUBSCRIPTION_PERIODS')).filter((days) => days > 0);
  return ascending([...offered, settings.get('SIMPLE_SUBSCRIPTION_PERIOD_DAYS')]).map((days) =>
    choice(days, `${days} days (${rublesText(periodPriceKopeks(settings, days))})`),
  );
}

function deviceChoices(settings: SettingsReader): SettingChoice[] {
  const wanted = Math.max(
    1,
    settings.get('DEFAULT_DEVICE_LIMIT'),
    settings.get('MAX_DEVICES_LIMIT'),
    settings.get('SIMPLE_SUBSCRIPTION_DEVICE_LIMIT'),
  );
  return Array.from({ length: Math.min(wanted, MAX_DEVICE_CHOICES) }, (_, index) =>
    choice(index + 1, index === 0 ? '1 device' : `${index + 1} devices`),
  );
}

function packageSizesGb(settings: SettingsReader): number[] {
  const entries = settings.get('TRAFFIC_PACKAGES_CONFIG').split(',');
  const configured = entries.map((entry) => entry.trim().split(':')).filter((parts) => parts.length === 3);
  const enabled = configured.filter((parts) => parts[2]?.trim().toLowerCase() === 'true');
  const sizes = enabled.flatMap((parts) => wholeNumbers(parts[0] ?? ''));
  return configured.length > 0 ? sizes : [...TRAFFIC_PACKAGE_SIZES_GB];
}

function trafficChoices(settings: SettingsReader): SettingChoice[] {
  const current = settings.get('SIMPLE_SUBSCRIPTION_TRAFFIC_GB');
  return ascending([0, ...packageSizesGb(settings), settings.get('DEFAULT_TRAFFIC_LIMIT_GB'), current]).map((gb) =>
    choice(gb, gb === 0 ? 'Unlimited' : `${gb} GB`),
  );
}
