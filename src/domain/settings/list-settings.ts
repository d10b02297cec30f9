import type { App, SettingsReader } from '../../core/app.ts';
import { definitionOf, isSettingKey, type SettingKey, settingKeys } from './catalogue/catalogue.ts';
import { type CategoryKey, categories } from './catalogue/categories.ts';
import type { SettingDefinition } from './catalogue/definition.ts';
import { unreadReason } from './catalogue/not-read.ts';
import { formatInWords } from './check-format.ts';
import { maskedValue } from './mask-value.ts';
import { findSettingSince } from './repo.ts';
import { displayName, isVisible, settingNotFound, typeText } from './rules.ts';
import { storeOf } from './settings-store.ts';
import type { SettingCategory, SettingChoice, SettingHint, SettingValue, SettingView } from './types.ts';

const visibleKeys: readonly SettingKey[] = settingKeys.filter((key) => isVisible(definitionOf(key)));

/** Code-point order, which does not depend on the locale of the machine. */
function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Label of a category; two contain the display name of their provider, which is a setting. */
function categoryLabel(key: CategoryKey, settings: SettingsReader): string {
  return categories[key].label.replace(/\{([A-Z0-9_]+)\}/g, (_whole, name: string) =>
    isSettingKey(name) ? String(settings.get(name) ?? '') : '',
  );
}

/** Categories with a visible setting, by label (spec 06 section 6.1). */
export function listCategories(app: App): SettingCategory[] {
  const items = new Map<CategoryKey, number>();
  for (const key of visibleKeys) {
    const { category } = definitionOf(key);
    items.set(category, (items.get(category) ?? 0) + 1);
  }
  return [...items]
    .map(([key, count]) => ({
      key,
      label: categoryLabel(key, app.settings),
      description: categories[key].description,
      items: count,
    }))
    .sort((a, b) => byText(a.label.toLowerCase(), b.label.toLowerCase()) || byText(a.key, b.key));
}

/** Settings of one category, or of all; by category label, keys alphabetical inside. An unknown category is an empty list. */
export function listSettings(app: App, categoryKey?: string | null): SettingView[] {
  const order = new Map(listCategories(app).map((category, index) => [category.key, index]));
  const place = (key: SettingKey): number => order.get(definitionOf(key).category) ?? 0;
  return visibleKeys
    .filter((key) => categoryKey === undefined || categoryKey === null || definitionOf(key).category === categoryKey)
    .toSorted((a, b) => place(a) - place(b) || byText(a, b))
    .map((key) => viewSetting(app, key));
}

/** @throws AppError 404 for an unknown or excluded key */
export function getSetting(app: App, key: string): SettingView {
  if (!isSettingKey(key) || !isVisible(definitionOf(key))) throw settingNotFound();
  return viewSetting(app, key);
}

/** One setting for answers, secrets masked. */
export function viewSetting(app: App, key: SettingKey): SettingView {
  const definition = definitionOf(key);
  const state = storeOf(app).describe(key);
  const label = categoryLabel(definition.category, app.settings);
  return {
    key,
    name: displayName(key),
    category: { key: definition.category, label },
    type: typeText(definition),
    isOptional: definition.optional === true,
    current: maskedValue(definition, state.current),
    original: maskedValue(definition, state.original),
    hasOverride: state.hasOverride,
    readOnly: definition.readOnly === true,
    choices: listChoices(key, app.settings),
    hint: describeHint(key, label, state.original),
  };
}

/** Since when the stored override of a setting has its value; null = no override is in effect. */
export async function findOverrideSince(app: App, key: SettingKey): Promise<Date | null> {
  return storeOf(app).describe(key).hasOverride ? findSettingSince(app.db, key) : null;
}

const DASH = '—';

/** Unit by a word of a numeric key; prices are checked before. */
const UNITS: readonly (readonly [RegExp, string])[] = [
  [/PERCENT/, '%'],
  [/_HOURS/, ' h'],
  [/_MINUTES/, ' min'],
  [/_SECONDS/, ' s'],
  [/_DAYS/, ' days'],
  [/_GB/, ' GB'],
  [/_MB/, ' MB'],
];

/** A value as text for administrators (spec 06 section 6.3): unset as a dash, switches as on/off, money and units written out, secrets masked. */
export function humanValue(key: string, definition: SettingDefinition, value: SettingValue): string {
  const shown = maskedValue(definition, value);
  if (shown === null || shown === '') return DASH;
  if (typeof shown === 'boolean') return shown ? 'on' : 'off';
  if (typeof shown === 'string') return shown;
  if (/PRICE|_KOPEKS|AMOUNT/.test(key)) return rublesText(shown);
  const unit = UNITS.find(([pattern]) => pattern.test(key))?.[1] ?? '';
  return `${shown}${unit}`;
}

/** What a value must be, with everything that a write checks (spec 10 X24). */
function formatText(definition: SettingDefinition): string {
  const details = [
    valueText(definition),
    definition.minLength === undefined ? null : `at least ${definition.minLength} characters`,
    definition.placeholders?.length ? `placeholders ${definition.placeholders.map((name) => `{${name}}`).join(', ')}` : null,
    definition.optional ? 'may be empty' : null,
  ];
  return details.filter((detail) => detail !== null).join('; ');
}

function valueText({ type, choices, format, min, max }: SettingDefinition): string {
  if (type === 'bool') return 'boolean: true or false';
  if (choices) return `one of ${choices.join(', ')}`;
  if (format) return formatInWords(format);
  if (type === 'str') return 'text';
  const bounds = [min === undefined ? '' : ` from ${min}`, max === undefined ? '' : ` up to ${max}`].join('');
  return `${type === 'int' ? 'a whole number' : 'a number'}${bounds}`;
}

/**
 * Hint for the administration pages, from the definition of the catalogue. The description ends with who uses a setting
 * that the service does not read (spec 10 O4).
 * @param original value at process start, which is the example
 */
function describeHint(key: SettingKey, categoryLabel: string, original: SettingValue): SettingHint {
  const definition = definitionOf(key);
  const sentences = [
    `The parameter "${displayName(key)}" controls: ${categoryLabel}.`,
    categories[definition.category].description,
    unreadReason(key) ?? '',
  ];
  return {
    description: sentences.filter((sentence) => sentence !== '').join(' '),
    format: formatText(definition),
    example: humanValue(key, definition, original),
    warning: 'Wrong values may break the service.',
  };
}

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
  return (Object.hasOwn(CHOICE_LABELS, text) ? CHOICE_LABELS[text] : undefined) ?? words.charAt(0).toUpperCase() + words.slice(1);
}

/** Kopeks as `990 RUB` or `990.50 RUB`. */
function rublesText(kopeks: number): string {
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
