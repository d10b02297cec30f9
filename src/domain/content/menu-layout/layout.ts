import type { App } from '../../../core/app.ts';
import { refusal } from '../../../core/errors.ts';
import { repeatedIn, setText } from './edits.ts';
import { findHistoryEntry, findLayout, listHistoryRows } from './repo.ts';
import { buttonOf } from './rules.ts';
import {
  BOUND_CONDITIONS,
  BUTTON_TYPES,
  type Conditions,
  FLAG_CONDITIONS,
  GROUP_CONDITIONS,
  type HistoryEntry,
  type LayoutProblem,
  type MenuButton,
  type MenuDocument,
  type MenuRow,
  OPEN_MODES,
  type StoredLayout,
  VISIBILITIES,
  type Visibility,
} from './types.ts';

interface Builtin {
  id: string;
  action: string;
  ru: string;
  en: string;
  visibility?: Visibility;
  conditions?: Conditions;
}

/** The buttons whose actions the service handles itself. */
const BUILTINS: readonly Builtin[] = [
  {
    id: 'connect',
    action: 'subscription_connect',
    ru: '🔗 Подключиться',
    en: '🔗 Connect',
    visibility: 'subscribers',
    conditions: { has_active_subscription: true, subscription_is_active: true },
  },
  {
    id: 'happ_download',
    action: 'subscription_happ_download',
    ru: '⬇️ Скачать Happ',
    en: '⬇️ Get Happ',
    visibility: 'subscribers',
  },
  { id: 'subscription', action: 'menu_subscription', ru: '📱 Моя подписка', en: '📱 My subscription', visibility: 'subscribers' },
  {
    id: 'buy_traffic',
    action: 'buy_traffic',
    ru: '📶 Докупить трафик',
    en: '📶 More traffic',
    visibility: 'subscribers',
    conditions: { has_traffic_limit: true },
  },
  { id: 'balance', action: 'menu_balance', ru: '💰 Баланс: {balance}', en: '💰 Balance: {balance}' },
  { id: 'trial', action: 'menu_trial', ru: '🎁 Попробовать бесплатно', en: '🎁 Try for free', conditions: { show_trial: true } },
  {
    id: 'buy_subscription',
    action: 'menu_buy',
    ru: '🛒 Купить подписку',
    en: '🛒 Buy a subscription',
    conditions: { show_buy: true },
  },
  { id: 'simple_subscription', action: 'simple_subscription_purchase', ru: '⚡ Быстрая покупка', en: '⚡ Quick purchase' },
  { id: 'resume_checkout', action: 'return_to_saved_cart', ru: '↩️ Вернуться к заказу', en: '↩️ Back to the order' },
  { id: 'promocode', action: 'menu_promocode', ru: '🎟 Промокод', en: '🎟 Promo code' },
  {
    id: 'referrals',
    action: 'menu_referrals',
    ru: '👥 Пригласить друзей',
    en: '👥 Invite friends',
    conditions: { referral_enabled: true },
  },
  { id: 'contests', action: 'contests_menu', ru: '🏆 Конкурсы', en: '🏆 Contests' },
  { id: 'support', action: 'menu_support', ru: '💬 Поддержка', en: '💬 Support', conditions: { support_enabled: true } },
  { id: 'info', action: 'menu_info', ru: 'ℹ️ Информация', en: 'ℹ️ Information' },
  { id: 'language', action: 'menu_language', ru: '🌐 Язык', en: '🌐 Language' },
  { id: 'admin_panel', action: 'admin_panel', ru: '⚙️ Управление', en: '⚙️ Administration', visibility: 'admins' },
  { id: 'moderator_panel', action: 'moderator_panel', ru: '🛡 Модерация', en: '🛡 Moderation', visibility: 'moderators' },
];

const row = (id: string, buttons: string[], max_per_row: number, conditions: Conditions | null = null): MenuRow => ({
  id,
  buttons,
  conditions,
  max_per_row,
});

const ROWS: readonly MenuRow[] = [
  row('connect_row', ['connect'], 1, { has_active_subscription: true, subscription_is_active: true }),
  row('happ_row', ['happ_download'], 1, { has_active_subscription: true, happ_enabled: true }),
  row('subscription_traffic_row', ['subscription', 'buy_traffic'], 2, { has_active_subscription: true }),
  row('balance_row', ['balance'], 1),
  row('trial_buy_row', ['trial', 'buy_subscription'], 2),
  row('simple_subscription_row', ['simple_subscription'], 1, { simple_subscription_enabled: true }),
  row('resume_row', ['resume_checkout'], 1, { has_saved_cart: true }),
  row('promo_referral_row', ['promocode', 'referrals'], 2),
  row('contests_row', ['contests'], 2, { contests_visible: true }),
  row('support_info_row', ['support', 'info'], 2),
  row('language_row', ['language'], 2, { language_selection_enabled: true }),
  row('admin_row', ['admin_panel'], 1, { is_admin: true }),
  row('moderator_row', ['moderator_panel'], 1, { is_moderator: true }),
];

/** Buttons that are listed with the conditions of their row. */
const LISTED_WITH_ROW = new Set([
  ...['happ_download', 'subscription', 'simple_subscription', 'resume_checkout'],
  ...['contests', 'language', 'admin_panel', 'moderator_panel'],
]);

function buttonFor({ id, action, ru, en, visibility = 'all', conditions }: Builtin): MenuButton {
  return {
    type: 'builtin',
    builtin_id: id,
    text: { ru, en },
    icon: null,
    action,
    enabled: true,
    visibility,
    conditions: conditions ?? null,
    dynamic_text: id === 'balance',
    open_mode: 'callback',
    webapp_url: null,
    description: null,
    sort_order: null,
  };
}

export const DEFAULT_LAYOUT: MenuDocument = {
  version: 1,
  rows: ROWS,
  buttons: Object.fromEntries(BUILTINS.map((builtin) => [builtin.id, buttonFor(builtin)])),
};

export interface BuiltinButton {
  id: string;
  defaultText: Readonly<Record<string, string>>;
  callbackData: string;
  defaultConditions: Conditions | null;
  supportsDynamicText: boolean;
  supportsDirectOpen: boolean;
}

export const BUILTIN_BUTTONS: readonly BuiltinButton[] = BUILTINS.map(({ id, action, ru, en, conditions }) => ({
  id,
  defaultText: { ru, en },
  callbackData: action,
  defaultConditions:
    conditions ?? (LISTED_WITH_ROW.has(id) ? (ROWS.find((each) => each.buttons.includes(id))?.conditions ?? null) : null),
  supportsDynamicText: id === 'balance',
  supportsDirectOpen: id === 'connect',
}));

/** Name of the chat menu's document. */
export const CHAT_LAYOUT = 'chat';

/** A stored text as a document; the default layout when it cannot be read. */
export function documentOf(stored: string): MenuDocument {
  return readDocument(JSON.parse(stored)) ?? DEFAULT_LAYOUT;
}

/** The current layout, read from the database without a cache. */
export async function readLayout(app: App): Promise<StoredLayout> {
  const row = await findLayout(app.db, CHAT_LAYOUT);
  return row ? { document: documentOf(row.document), updatedAt: row.updatedAt } : { document: DEFAULT_LAYOUT, updatedAt: null };
}

export const historyNotFound = refusal('menu_history_not_found', 404, 'History entry <n> not found', (id: number) => ({
  detail: `History entry ${id} not found`,
}));

/** Newest first. */
export function listHistory(
  app: App,
  page: { limit: number; offset: number },
): Promise<{ items: HistoryEntry[]; total: number }> {
  return listHistoryRows(app.db, CHAT_LAYOUT, page);
}

/** @throws AppError 404 unknown or pruned entry */
export async function readHistoryEntry(app: App, id: number): Promise<HistoryEntry & { config: MenuDocument }> {
  const entry = await findHistoryEntry(app.db, CHAT_LAYOUT, id);
  if (!entry) throw historyNotFound(id);
  const { document, ...edit } = entry;
  return { ...edit, config: documentOf(document) };
}

// Brings documents into the form in which they are stored: all fields, in a fixed order, and no others. A stored document is read
// unchanged, so importing an export changes nothing (spec 05 section 7.1 and section 16, invariant 6).

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

/** Errors and warnings of a layout (spec 05 section 7.3). */
export function validateLayout(document: Pick<MenuDocument, 'rows' | 'buttons'>): {
  errors: LayoutProblem[];
  warnings: LayoutProblem[];
} {
  const errors: LayoutProblem[] = [];
  const warnings: LayoutProblem[] = [];
  const repeated = repeatedIn(document.rows.map((row) => row.id));
  if (repeated.length > 0) errors.push({ field: 'rows', message: `Duplicate row IDs: ${setText(repeated)}`, severity: 'error' });
  for (const row of document.rows) {
    if (row.buttons.length === 0) warnings.push({ field: `rows.${row.id}`, message: 'Row has no buttons', severity: 'warning' });
    for (const id of row.buttons.filter((each) => !buttonOf(document, each))) {
      errors.push({ field: `rows.${row.id}.buttons`, message: `Button '${id}' not found`, severity: 'error' });
    }
  }
  const disabled = Object.values(document.buttons).filter((button) => !button.enabled).length;
  if (disabled > 0) warnings.push({ field: 'buttons', message: `${disabled} buttons are disabled`, severity: 'warning' });
  return { errors, warnings };
}
