import { definitionOf, type SettingKey } from './catalogue/catalogue.ts';
import { categories } from './catalogue/categories.ts';
import type { SettingDefinition } from './catalogue/definition.ts';
import { unreadReason } from './catalogue/not-read.ts';
import { formatInWords } from './check-format.ts';
import { rublesText } from './list-choices.ts';
import { maskedValue } from './mask-value.ts';
import { displayName } from './rules.ts';
import type { SettingHint, SettingValue } from './types.ts';

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
 * Hint for the administration pages, from the definition of the catalogue (spec 06 section 6.3). The description ends with who uses a setting
 * that the service does not read (spec 10 O4).
 * @param original value at process start, which is the example
 */
export function describeHint(key: SettingKey, categoryLabel: string, original: SettingValue): SettingHint {
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
