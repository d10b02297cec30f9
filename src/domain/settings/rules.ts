import { type AppError, type Refusal, refusal } from '../../core/errors.ts';
import type { SettingDefinition } from './catalogue/definition.ts';
import { formatProblem, placeholderProblem } from './check-format.ts';
import { SECRET_MASK } from './mask-value.ts';
import type { SettingEditor, SettingValue } from './types.ts';

export const settingWrongType = refusal('setting_wrong_type', 400, 'Invalid value type');
export const settingValueRequired = refusal('setting_value_required', 400, 'Value is required');
export const settingMaskedValue = refusal('setting_masked_value', 400, 'Value is the mask of a secret, not a value');
export const settingNotAChoice = refusal('setting_not_a_choice', 400, 'Value must be one of: default, cabinet');
export const settingOutOfBounds = refusal('setting_out_of_bounds', 400, 'Value must be at least <n>');
export const settingBadFormat = refusal('setting_bad_format', 400, 'Value must be a known time zone');
export const settingBadPlaceholder = refusal('setting_bad_placeholder', 400, 'Value must not hold placeholders');
export const settingReadOnly = refusal('setting_read_only', 403, 'Setting EXTERNAL_ADMIN_TOKEN is read-only');
export const settingGuarded = refusal('setting_guarded', 403, 'Setting ADMIN_EMAILS can only be changed by a superadmin');

/** Either the value to store or the refusal to throw. A refusal never contains the value, which may be a secret. */
export type Checked = { readonly ok: true; readonly value: SettingValue } | { readonly ok: false; readonly refusal: AppError };

const TRUE_WORDS: ReadonlySet<string> = new Set(['true', '1', 'yes', 'on', 'да']);
const FALSE_WORDS: ReadonlySet<string> = new Set(['false', '0', 'no', 'off', 'нет']);
const INT32_MAX = 2_147_483_647;

const accept = (value: SettingValue): Checked => ({ ok: true, value });
const deny = (declared: Refusal, detail?: string): Checked => ({
  ok: false,
  refusal: declared(detail === undefined ? {} : { detail }),
});
const wrongType = (): Checked => deny(settingWrongType);

/** 404 for unknown and excluded keys alike (spec 06 section 6.2). */
export const settingNotFound = refusal('setting_not_found', 404, 'Setting not found');

/** Whether endpoints show this setting. */
export function isVisible(definition: SettingDefinition): boolean {
  return !definition.excluded;
}

/**
 * Whether this editor may write or reset the key.
 * @returns the 403 to throw, or null
 */
export function editProblem(key: string, definition: SettingDefinition, editor: SettingEditor): AppError | null {
  if (editor.kind === 'system') return null;
  if (definition.readOnly) return settingReadOnly({ detail: `Setting ${key} is read-only` });
  const hasEverything = editor.kind === 'token' && (editor.limits?.scopes ?? null) === null;
  const isTrusted = editor.isSuperadmin === true || (definition.guard === 'full-access' && hasEverything);
  if (definition.guard && !isTrusted) return settingGuarded({ detail: `Setting ${key} can only be changed by a superadmin` });
  return null;
}

/**
 * Validates a value from JSON and converts it to the setting's type: numeric text to a number, boolean words to a
 * boolean, an alias to its choice. The same rules apply at start (`parseText`).
 */
export function validateValue(definition: SettingDefinition, value: unknown): Checked {
  if (value === null || value === undefined) {
    return definition.optional ? accept(null) : deny(settingValueRequired);
  }
  if (definition.secret && value === SECRET_MASK) {
    return deny(settingMaskedValue);
  }
  switch (definition.type) {
    case 'bool':
      return validateBool(value);
    case 'int':
    case 'float':
      return validateNumber(definition, value);
    case 'str':
      return validateText(definition, value);
  }
}

/**
 * Parses the stored form or an environment variable. An empty text is null for an optional setting that is not a text; for everything else
 * the rules of a write apply, except that numbers of a `clamped` setting are brought within its bounds.
 */
export function parseText(definition: SettingDefinition, text: string | null): Checked {
  if (text !== null && definition.optional && definition.type !== 'str' && text.trim() === '') return accept(null);
  if (!definition.clamped) return validateValue(definition, text);
  const { min, max, ...unbounded } = definition;
  const checked = validateValue(unbounded, text);
  if (!checked.ok || typeof checked.value !== 'number') return checked;
  return accept(Math.min(Math.max(checked.value, min ?? checked.value), max ?? checked.value));
}

/** The form in `system_settings`: `true`/`false`, numbers and text as text, null as null. */
export function storedForm(value: SettingValue): string | null {
  return value === null ? null : String(value);
}

/** `SUPPORT_TICKET_SLA_MINUTES` as `Support Ticket Sla Minutes`. */
export function displayName(key: string): string {
  return key
    .split('_')
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1).toLowerCase())
    .join(' ');
}

/** `int`, or `optional[int]` where null is allowed. */
export function typeText(definition: SettingDefinition): string {
  return definition.optional ? `optional[${definition.type}]` : definition.type;
}

/** The refusal of a value that is not among the choices. */
export function notAChoice(choices: readonly SettingValue[]): Checked {
  return deny(settingNotAChoice, `Value must be one of: ${choices.join(', ')}`);
}

function validateBool(value: unknown): Checked {
  if (typeof value === 'boolean') return accept(value);
  if (typeof value !== 'string') return wrongType();
  const word = value.trim().toLowerCase();
  if (TRUE_WORDS.has(word)) return accept(true);
  return FALSE_WORDS.has(word) ? accept(false) : wrongType();
}

/** Decimal notation only: `Number` alone would also take `0x10`, `Infinity` and the empty text. */
function numberOf(value: unknown): number {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string' || !/^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d{1,3})?$/i.test(value.trim())) return Number.NaN;
  return Number(value.trim());
}

function validateNumber(definition: SettingDefinition, value: unknown): Checked {
  const number = numberOf(value);
  const isWhole = definition.type === 'int';
  if (!Number.isFinite(number) || (isWhole && !Number.isSafeInteger(number))) return wrongType();
  if (definition.choices) return definition.choices.includes(number) ? accept(number) : notAChoice(definition.choices);
  const min = definition.min ?? (isWhole ? -INT32_MAX : Number.NEGATIVE_INFINITY);
  const max = definition.max ?? (isWhole ? INT32_MAX : Number.POSITIVE_INFINITY);
  if (number < min) return deny(settingOutOfBounds, `Value must be at least ${min}`);
  if (number > max) return deny(settingOutOfBounds, `Value must be at most ${max}`);
  // -0 would be stored as 0 but returned as -0 until the next start.
  return accept(number === 0 ? 0 : number);
}

function validateText(definition: SettingDefinition, value: unknown): Checked {
  if (typeof value !== 'string' && typeof value !== 'boolean' && !(typeof value === 'number' && Number.isFinite(value))) {
    return wrongType();
  }
  const text = String(value);
  // PostgreSQL cannot store NUL in a text.
  if (text.includes('\0')) return wrongType();
  if (definition.choices) return validateChoice(definition, definition.choices, text);
  const mayBeEmpty = definition.optional || definition.default === '';
  if (text === '' && mayBeEmpty) return accept(text);
  if (definition.minLength !== undefined && text.length < definition.minLength) {
    return deny(settingOutOfBounds, `Value must have at least ${definition.minLength} characters`);
  }
  const expected = definition.format ? formatProblem(definition.format, text) : null;
  if (expected !== null) return deny(settingBadFormat, `Value must be ${expected}`);
  const brace = definition.placeholders ? placeholderProblem(text, definition.placeholders) : null;
  if (brace !== null) return deny(settingBadPlaceholder, placeholderDetail(definition.placeholders ?? []));
  return accept(text);
}

/** Choices are matched case-insensitively: `LOG_LEVEL=info` means `INFO`. */
function validateChoice(definition: SettingDefinition, choices: readonly SettingValue[], text: string): Checked {
  const word = text.trim().toLowerCase();
  // Own properties only: a word like `__proto__` is no alias.
  const alias = Object.entries(definition.aliases ?? {}).find(([spelling]) => spelling === word)?.[1];
  const meant = alias ?? choices.find((choice) => String(choice).toLowerCase() === word);
  return meant === undefined ? notAChoice(choices) : accept(meant);
}

function placeholderDetail(allowed: readonly string[]): string {
  const list = allowed.map((name) => `{${name}}`).join(', ');
  return list === '' ? 'Value must not hold placeholders' : `Value may hold only the placeholders ${list}`;
}
