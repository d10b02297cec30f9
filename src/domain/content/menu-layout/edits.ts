import { refusal } from '../../../core/errors.ts';
import { buttonOf, containsPlaceholder } from './rules.ts';
import type { ButtonType, MenuButton, MenuDocument, MenuRow, OpenMode, Visibility } from './types.ts';

export const menuActionInvalid = refusal('menu_action_invalid', 400, 'Action of a <n> button must be <n>');
export const menuButtonType = refusal('menu_button_type', 400, "Only ('url', 'mini_app', 'callback') buttons can be added");
export const menuButtonId = refusal('menu_button_id', 400, "Button id '__proto__' is reserved");
export const menuButtonExists = refusal('menu_button_exists', 400, "Button with id 'connect' already exists");
export const menuButtonBuiltin = refusal('menu_button_builtin', 400, 'Cannot delete builtin buttons');
export const menuRowExists = refusal('menu_row_exists', 400, "Row with id 'connect_row' already exists");
export const menuRowsRepeated = refusal('menu_rows_repeated', 400, "Duplicate row IDs: {'news_row'}");
export const menuButtonNotPlaced = refusal('menu_button_not_placed', 404, "Button 'menu_profile' not found in any row");
export const menuButtonAtEdge = refusal('menu_button_at_edge', 400, 'Button is already in the top row');
export const menuButtonsMismatch = refusal(
  'menu_buttons_mismatch',
  400,
  "Button mismatch: missing: {'happ_download'}, extra: {'x'}",
);
export const menuButtonsRepeated = refusal('menu_buttons_repeated', 400, 'Duplicate button IDs: <n>');
export const menuSwapSame = refusal('menu_swap_same', 400, 'A button cannot be swapped with itself');

/** Edits of the layout: pure functions from one document to the next, or a refusal. */

const MAX_CALLBACK_BYTES = 64;

export const buttonNotFound = refusal('menu_button_not_found', 404, "Button 'menu_profile' not found", (id: string) => ({
  detail: `Button '${id}' not found`,
}));
export const rowNotFound = refusal('menu_row_not_found', 404, "Row 'menu_profile' not found", (id: string) => ({
  detail: `Row '${id}' not found`,
}));

/** Ids as `{'a', 'b'}`. */
export function setText(ids: Iterable<string>): string {
  return `{${[...new Set(ids)].map((id) => `'${id}'`).join(', ')}}`;
}

export function repeatedIn(ids: readonly string[]): string[] {
  return [...new Set(ids.filter((id, index) => ids.indexOf(id) !== index))];
}

function rowIndexOf(document: MenuDocument, id: string): number {
  const index = document.rows.findIndex((row) => row.id === id);
  if (index < 0) throw rowNotFound(id);
  return index;
}

function withRow(document: MenuDocument, index: number, change: (row: MenuRow) => MenuRow): MenuDocument {
  return { ...document, rows: document.rows.map((row, at) => (at === index ? change(row) : row)) };
}

function insertedAt<T>(list: readonly T[], item: T, position: number | null): T[] {
  const at = position === null || position > list.length ? list.length : position;
  return [...list.slice(0, at), item, ...list.slice(at)];
}

/** @throws AppError 400 when the messenger would refuse a keyboard with this button */
function checkAction(type: ButtonType, action: string): void {
  const schemes: Partial<Record<ButtonType, RegExp>> = { url: /^https?:\/\/[^\s/]/i, mini_app: /^https:\/\/[^\s/]/i };
  const scheme = schemes[type];
  const isAddress = scheme === undefined || (scheme.test(action) && URL.canParse(action));
  if (!isAddress) {
    const expected = type === 'url' ? 'an http or https address' : 'an https address';
    throw menuActionInvalid({ detail: `Action of a ${type} button must be ${expected}` });
  }
  const isCallback = type === 'callback' || type === 'builtin';
  if (isCallback && (action === '' || Buffer.byteLength(action) > MAX_CALLBACK_BYTES)) {
    throw menuActionInvalid({ detail: `Action of a ${type} button must have 1 to ${MAX_CALLBACK_BYTES} bytes` });
  }
}

/** Replaces the given parts; a button whose text contains a placeholder becomes dynamic. */
export function replaceParts(
  document: MenuDocument,
  parts: { rows: readonly MenuRow[] | null; buttons: MenuDocument['buttons'] | null },
): MenuDocument {
  const buttons = parts.buttons
    ? Object.fromEntries(
        Object.entries(parts.buttons).map(([id, button]) => [
          id,
          { ...button, dynamic_text: button.dynamic_text || containsPlaceholder(button.text) },
        ]),
      )
    : document.buttons;
  return { ...document, rows: parts.rows ?? document.rows, buttons };
}

/** Absent = unchanged. Null clears an optional field and leaves a required one unchanged. */
export interface ButtonChanges {
  text?: MenuButton['text'] | null | undefined;
  icon?: string | null | undefined;
  enabled?: boolean | null | undefined;
  visibility?: Visibility | null | undefined;
  conditions?: MenuButton['conditions'] | undefined;
  action?: string | null | undefined;
  dynamic_text?: boolean | null | undefined;
  open_mode?: OpenMode | null | undefined;
  webapp_url?: string | null | undefined;
  description?: string | null | undefined;
  sort_order?: number | null | undefined;
}

export function updateButton(document: MenuDocument, id: string, changes: ButtonChanges): MenuDocument {
  const button = buttonOf(document, id);
  if (!button) throw buttonNotFound(id);
  const cleared = <T>(value: T | null | undefined, current: T | null): T | null => (value === undefined ? current : value);
  const opensDirectly = changes.open_mode === 'direct';
  // The action of a built-in button is fixed, except that one which opens directly may have its own address.
  const mayAct = button.type !== 'builtin' || opensDirectly;
  const action = mayAct ? (changes.action ?? button.action) : button.action;
  if (action !== button.action && !(button.type === 'builtin' && /^https?:\/\//i.test(action))) checkAction(button.type, action);
  const changed: MenuButton = {
    type: button.type,
    builtin_id: button.builtin_id,
    text: changes.text ?? button.text,
    icon: cleared(changes.icon, button.icon),
    action,
    enabled: changes.enabled ?? button.enabled,
    visibility: changes.visibility ?? button.visibility,
    conditions: cleared(changes.conditions, button.conditions),
    dynamic_text: changes.dynamic_text ?? button.dynamic_text,
    open_mode: changes.open_mode ?? button.open_mode,
    webapp_url: cleared(changes.webapp_url, button.webapp_url),
    description: cleared(changes.description, button.description),
    sort_order: cleared(changes.sort_order, button.sort_order),
  };
  return { ...document, buttons: { ...document.buttons, [id]: changed } };
}

/** @param rowId row to append it to; null = defined, but in no row */
export function addButton(document: MenuDocument, id: string, button: MenuButton, rowId: string | null): MenuDocument {
  if (button.type === 'builtin') throw menuButtonType();
  // As the key of an object it would be its prototype: JSON readers of the layout would lose it (spec 10 O5).
  if (id === '__proto__') throw menuButtonId();
  if (buttonOf(document, id)) throw menuButtonExists({ detail: `Button with id '${id}' already exists` });
  checkAction(button.type, button.action);
  const defined = { ...document, buttons: { ...document.buttons, [id]: button } };
  if (rowId === null) return defined;
  return withRow(defined, rowIndexOf(document, rowId), (row) => ({ ...row, buttons: [...row.buttons, id] }));
}

/** Also removes it from every row; rows that become empty stay. */
export function deleteButton(document: MenuDocument, id: string): MenuDocument {
  const button = buttonOf(document, id);
  if (!button) throw buttonNotFound(id);
  if (button.type === 'builtin') throw menuButtonBuiltin();
  return {
    ...document,
    rows: document.rows.map((row) => ({ ...row, buttons: row.buttons.filter((each) => each !== id) })),
    buttons: Object.fromEntries(Object.entries(document.buttons).filter(([each]) => each !== id)),
  };
}

/** @param position past the end or null = last */
export function addRow(document: MenuDocument, row: MenuRow, position: number | null): MenuDocument {
  if (document.rows.some((each) => each.id === row.id)) throw menuRowExists({ detail: `Row with id '${row.id}' already exists` });
  return { ...document, rows: insertedAt(document.rows, row, position) };
}

/** Its buttons stay defined. */
export function deleteRow(document: MenuDocument, id: string): MenuDocument {
  const index = rowIndexOf(document, id);
  return { ...document, rows: document.rows.filter((_row, at) => at !== index) };
}

/** Rows that are not mentioned follow in their old order. */
export function reorderRows(document: MenuDocument, ids: readonly string[]): MenuDocument {
  const repeated = repeatedIn(ids);
  if (repeated.length > 0) throw menuRowsRepeated({ detail: `Duplicate row IDs: ${setText(repeated)}` });
  const indexes = ids.map((id) => rowIndexOf(document, id));
  const rest = document.rows.filter((_row, at) => !indexes.includes(at));
  return { ...document, rows: [...indexes.flatMap((index) => document.rows[index] ?? []), ...rest] };
}

export interface Place {
  row: number;
  position: number;
}

/** The first place of the button, or null. */
export function placeOf(document: MenuDocument, id: string): Place | null {
  const row = document.rows.findIndex((each) => each.buttons.includes(id));
  return row < 0 ? null : { row, position: document.rows[row]?.buttons.indexOf(id) ?? 0 };
}

/** Moves one placed button; a row that loses its last button is deleted. */
function moved(document: MenuDocument, id: string, from: Place, target: number, position: number | null): MenuDocument {
  const without = withRow(document, from.row, (row) => ({
    ...row,
    buttons: row.buttons.filter((_id, at) => at !== from.position),
  }));
  const placed = withRow(without, target, (row) => ({ ...row, buttons: insertedAt(row.buttons, id, position) }));
  return { ...placed, rows: placed.rows.filter((row, at) => at !== from.row || row.buttons.length > 0) };
}

/** To the end of the row above or below. */
export function moveButton(document: MenuDocument, id: string, direction: 'up' | 'down'): MenuDocument {
  const from = placeOf(document, id);
  if (!from) throw menuButtonNotPlaced({ detail: `Button '${id}' not found in any row` });
  const target = from.row + (direction === 'up' ? -1 : 1);
  if (target < 0) throw menuButtonAtEdge();
  if (target >= document.rows.length) throw menuButtonAtEdge({ detail: 'Button is already in the bottom row' });
  return moved(document, id, from, target, null);
}

/** @param position counted without the button itself; past the end or null = last */
export function moveButtonToRow(document: MenuDocument, id: string, rowId: string, position: number | null): MenuDocument {
  if (!buttonOf(document, id)) throw buttonNotFound(id);
  const target = rowIndexOf(document, rowId);
  const from = placeOf(document, id);
  if (from) return moved(document, id, from, target, position);
  return withRow(document, target, (row) => ({ ...row, buttons: insertedAt(row.buttons, id, position) }));
}

export function reorderButtons(document: MenuDocument, rowId: string, ids: readonly string[]): MenuDocument {
  const index = rowIndexOf(document, rowId);
  const current = document.rows[index]?.buttons ?? [];
  const missing = current.filter((id) => !ids.includes(id));
  const extra = ids.filter((id) => !current.includes(id));
  if (missing.length > 0 || extra.length > 0) {
    throw menuButtonsMismatch({ detail: `Button mismatch: missing: ${setText(missing)}, extra: ${setText(extra)}` });
  }
  const repeated = repeatedIn(ids);
  if (repeated.length > 0) throw menuButtonsRepeated({ detail: `Duplicate button IDs: ${setText(repeated)}` });
  return withRow(document, index, (row) => ({ ...row, buttons: [...ids] }));
}

export function swapButtons(document: MenuDocument, first: string, second: string): MenuDocument {
  if (first === second) throw menuSwapSame();
  const [one, two] = [placeOf(document, first), placeOf(document, second)];
  if (!one) throw buttonNotFound(first);
  if (!two) throw buttonNotFound(second);
  const rows = document.rows.map((row) => ({ ...row, buttons: [...row.buttons] }));
  rows[one.row]?.buttons.splice(one.position, 1, second);
  rows[two.row]?.buttons.splice(two.position, 1, first);
  return { ...document, rows };
}

export interface Imported {
  document: MenuDocument;
  warnings: string[];
}

/** `replace` accepts the incoming document; `merge` adds its unknown ids and warns about the others. */
export function importLayout(document: MenuDocument, incoming: MenuDocument, mode: 'replace' | 'merge'): Imported {
  if (mode === 'replace') return { document: incoming, warnings: [] };
  const warnings: string[] = [];
  const buttons = new Map(Object.entries(document.buttons));
  for (const [id, button] of Object.entries(incoming.buttons)) {
    if (buttons.has(id)) warnings.push(`Button '${id}' already exists, skipped`);
    else buttons.set(id, button);
  }
  const rows = [...document.rows];
  for (const row of incoming.rows) {
    if (rows.some((each) => each.id === row.id)) warnings.push(`Row '${row.id}' already exists, skipped`);
    else rows.push(row);
  }
  return { document: { ...document, rows, buttons: Object.fromEntries(buttons) }, warnings };
}
