import {
  BOUND_CONDITIONS,
  BUTTON_TYPES,
  type Conditions,
  FLAG_CONDITIONS,
  GROUP_CONDITIONS,
  type MenuButton,
  type MenuDocument,
  type MenuRow,
  OPEN_MODES,
  VISIBILITIES,
} from './types.ts';

/**
 * Brings documents into the form in which they are stored: all fields, in a fixed order, and no others. A stored document is read
 * unchanged, so importing an export changes nothing (spec 05 section 7.1 and section 16, invariant 6).
 */

type Loose = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Loose => typeof value === 'object' && value !== null && !Array.isArray(value);
const textOr = <T>(value: unknown, otherwise: T): string | T => (typeof value === 'string' ? value : otherwise);
const oneOf = <T extends string>(values: readonly T[], value: unknown, otherwise: T): T =>
  values.find((known) => known === value) ?? otherwise;

/** A stored or imported document; null when it is none. Invalid rows and buttons and unknown keys are left out. */
export function readDocument(value: unknown): MenuDocument | null {
  if (!isObject(value) || !Array.isArray(value.rows) || !isObject(value.buttons)) return null;
  return {
    version: Number.isSafeInteger(value.version) ? Number(value.version) : 1,
    rows: value.rows.filter(isObject).map(readRow),
    buttons: readButtons(value.buttons),
  };
}

export function readButtons(value: Loose): Record<string, MenuButton> {
  const entries = Object.entries(value);
  return Object.fromEntries(entries.flatMap(([id, button]) => (isObject(button) ? [[id, readButton(button)] as const] : [])));
}

export function readRow(value: Loose): MenuRow {
  const width = Number(value.max_per_row ?? 2);
  return {
    id: String(value.id),
    buttons: Array.isArray(value.buttons) ? value.buttons.map(String) : [],
    conditions: readConditions(value.conditions),
    max_per_row: Number.isInteger(width) && width >= 1 && width <= 4 ? width : 2,
  };
}

export function readButton(value: Loose): MenuButton {
  return {
    type: oneOf(BUTTON_TYPES, value.type, 'callback'),
    builtin_id: textOr(value.builtin_id, null),
    text: isObject(value.text)
      ? Object.fromEntries(Object.entries(value.text).map(([language, text]) => [language, String(text)]))
      : {},
    icon: textOr(value.icon, null),
    action: textOr(value.action, ''),
    enabled: value.enabled !== false,
    visibility: oneOf(VISIBILITIES, value.visibility, 'all'),
    conditions: readConditions(value.conditions),
    dynamic_text: value.dynamic_text === true,
    open_mode: oneOf(OPEN_MODES, value.open_mode, 'callback'),
    webapp_url: textOr(value.webapp_url, null),
    description: textOr(value.description, null),
    sort_order: Number.isSafeInteger(value.sort_order) ? Number(value.sort_order) : null,
  };
}

/** A null condition is the same as an absent one and is left out. */
export function readConditions(value: unknown): Conditions | null {
  if (!isObject(value)) return null;
  const conditions: [string, unknown][] = [];
  for (const name of FLAG_CONDITIONS) if (typeof value[name] === 'boolean') conditions.push([name, value[name]]);
  for (const name of BOUND_CONDITIONS) if (Number.isSafeInteger(value[name])) conditions.push([name, value[name]]);
  for (const name of GROUP_CONDITIONS) {
    const ids = value[name];
    if (Array.isArray(ids)) conditions.push([name, ids.map(String)]);
  }
  return Object.fromEntries(conditions);
}
