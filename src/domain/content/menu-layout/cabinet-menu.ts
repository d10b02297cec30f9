import type { App } from '../../../core/app.ts';
import { countCharacters } from '../../../core/characters.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { refusal } from '../../../core/errors.ts';
import { findLayout, lockLayout, storeLayout } from './repo.ts';

/**
 * The chat menu of the cabinet mode: rows of buttons that open the cabinet, and their looks. Fields are named as they
 * are stored and sent.
 */

export const CABINET_SECTIONS = ['home', 'subscription', 'balance', 'referral', 'support', 'info', 'admin', 'language'] as const;
type CabinetSection = (typeof CABINET_SECTIONS)[number];

const LABEL_LOCALES: readonly string[] = ['ru', 'en', 'ua', 'zh', 'fa'];
const BUTTON_STYLES: readonly string[] = ['danger', 'default', 'primary', 'success'];
const MAX_LABEL = 100;
const MAX_ICON = 100;
const MAX_WIDTH = 3;

interface ButtonLook {
  readonly style: string;
  readonly icon_custom_emoji_id: string;
  readonly enabled: boolean;
  /** Text by locale; without one the section's name is shown. */
  readonly labels: Readonly<Record<string, string>>;
}

interface CustomButton extends ButtonLook {
  readonly url: string;
  readonly open_in: 'external' | 'webapp';
}

/** A row with its buttons: their ids (sections and custom buttons), or complete buttons. */
type CabinetRow<B> = { readonly id: string; readonly max_per_row: number; readonly buttons: readonly B[] };

/** One document, so that one lock protects layout and looks. */
interface CabinetMenu {
  readonly rows: readonly CabinetRow<string>[];
  readonly custom: Readonly<Record<string, CustomButton>>;
  readonly styles: Readonly<Record<CabinetSection, ButtonLook>>;
}

/** A button as it is sent, with its look. */
interface CabinetButton extends ButtonLook {
  readonly id: string;
  readonly type: 'builtin' | 'custom';
  readonly url: string | null;
  readonly open_in: 'external' | 'webapp';
}

export type FilledRow = CabinetRow<CabinetButton>;

const defaultLook = (section: CabinetSection): ButtonLook => ({
  style: section === 'admin' ? 'danger' : section === 'subscription' || section === 'referral' ? 'success' : 'primary',
  icon_custom_emoji_id: '',
  enabled: true,
  labels: {},
});

const stylesBy = (look: (section: CabinetSection) => ButtonLook) =>
  Object.fromEntries(CABINET_SECTIONS.map((section) => [section, look(section)])) as Record<CabinetSection, ButtonLook>;

const DEFAULT_CABINET_MENU: CabinetMenu = {
  rows: [
    { id: 'row_1', max_per_row: 1, buttons: ['home'] },
    { id: 'row_2', max_per_row: 2, buttons: ['subscription', 'balance'] },
    { id: 'row_3', max_per_row: 2, buttons: ['referral', 'support'] },
    { id: 'row_4', max_per_row: 2, buttons: ['info', 'language'] },
    { id: 'row_5', max_per_row: 1, buttons: ['admin'] },
  ],
  custom: {},
  styles: stylesBy(defaultLook),
};

function isCabinetSection(id: string): id is CabinetSection {
  return CABINET_SECTIONS.some((section) => section === id);
}

type Loose = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Loose => typeof value === 'object' && value !== null && !Array.isArray(value);

function readLook(value: Loose, otherwise: ButtonLook): ButtonLook {
  return {
    style: typeof value.style === 'string' && BUTTON_STYLES.includes(value.style) ? value.style : otherwise.style,
    icon_custom_emoji_id: isIcon(value.icon_custom_emoji_id) ? value.icon_custom_emoji_id : '',
    enabled: typeof value.enabled === 'boolean' ? value.enabled : otherwise.enabled,
    labels: isObject(value.labels) ? cleanLabels(value.labels) : otherwise.labels,
  };
}

function isIcon(value: unknown): value is string {
  return typeof value === 'string' && countCharacters(value) <= MAX_ICON;
}

function cleanLabels(labels: Loose): Record<string, string> {
  const entries = Object.entries(labels).flatMap(([locale, label]) => {
    const trimmed = typeof label === 'string' ? label.trim() : '';
    return trimmed !== '' && LABEL_LOCALES.includes(locale) ? [[locale, trimmed] as const] : [];
  });
  return Object.fromEntries(entries);
}

function readCustom(value: unknown): CustomButton | null {
  if (!isObject(value) || typeof value.url !== 'string' || !/^https?:\/\//i.test(value.url)) return null;
  const opensInside = value.open_in === 'webapp' && /^https:/i.test(value.url);
  return { ...readLook(value, defaultLook('home')), url: value.url, open_in: opensInside ? 'webapp' : 'external' };
}

/** Reads a stored document; unknown and invalid parts are left out, and without any row it has the default rows. */
function readCabinetMenu(value: unknown): CabinetMenu {
  if (!isObject(value)) return DEFAULT_CABINET_MENU;
  const stored = isObject(value.styles) ? value.styles : {};
  const styles = stylesBy((section) => {
    const look = stored[section];
    return isObject(look) ? readLook(look, defaultLook(section)) : defaultLook(section);
  });
  const customEntries = Object.entries(isObject(value.custom) ? value.custom : {}).flatMap(([id, button]) => {
    const custom = readCustom(button);
    return custom ? [[id, custom] as const] : [];
  });
  const known = new Set<unknown>([...CABINET_SECTIONS, ...customEntries.map(([id]) => id)]);
  const rows = (Array.isArray(value.rows) ? value.rows : []).filter(isObject).map((row) => {
    const width = Number(row.max_per_row);
    return {
      id: String(row.id),
      max_per_row: Number.isInteger(width) && width >= 1 && width <= MAX_WIDTH ? width : 1,
      buttons: (Array.isArray(row.buttons) ? row.buttons : []).filter((id) => known.has(id)).map(String),
    };
  });
  const filled = rows.filter((row) => row.buttons.length > 0);
  if (filled.length === 0) return { ...DEFAULT_CABINET_MENU, styles };
  return { rows: filled, custom: Object.fromEntries(customEntries), styles };
}

/** The rows with complete buttons: looks of sections come from the styles, those of custom buttons from the layout. */
function fillRows(menu: CabinetMenu): FilledRow[] {
  return menu.rows.map((row) => ({ ...row, buttons: row.buttons.flatMap((id) => filledButton(menu, id)) }));
}

function filledButton(menu: CabinetMenu, id: string): CabinetButton[] {
  if (isCabinetSection(id)) return [{ id, type: 'builtin', ...menu.styles[id], url: null, open_in: 'external' }];
  const custom = Object.hasOwn(menu.custom, id) ? menu.custom[id] : undefined;
  return custom ? [{ id, type: 'custom', ...custom }] : [];
}

/**
 * The menu with these rows; sections that they do not contain keep their looks.
 * @throws AppError 400 for the first error
 */
function withRows(menu: CabinetMenu, rows: readonly FilledRow[]): CabinetMenu {
  const buttons = rows.flatMap((row) => row.buttons);
  if (buttons.length === 0) throw cabinetMenuInvalid('At least one row with a button is required.');
  const seen = new Set<string>();
  for (const button of buttons) {
    if (seen.has(button.id)) throw cabinetMenuInvalid(`Duplicate button ID: "${button.id}". Each button can only appear once.`);
    seen.add(button.id);
    checkButton(button);
  }
  const lookOf = ({ style, icon_custom_emoji_id, enabled, labels }: CabinetButton): ButtonLook => ({
    style,
    icon_custom_emoji_id,
    enabled,
    labels: cleanLabels(labels),
  });
  const byId = new Map(buttons.map((button) => [button.id, button]));
  return {
    rows: rows
      .filter((row) => row.buttons.length > 0)
      .map(({ id, max_per_row, buttons }) => ({ id, max_per_row, buttons: buttons.map((button) => button.id) })),
    custom: Object.fromEntries(
      buttons.flatMap((button) =>
        button.type === 'custom' ? [[button.id, { ...lookOf(button), url: button.url ?? '', open_in: button.open_in }]] : [],
      ),
    ),
    styles: stylesBy((section) => {
      const button = byId.get(section);
      return button ? lookOf(button) : menu.styles[section];
    }),
  };
}

export const cabinetMenuInvalid = refusal(
  'cabinet_menu_invalid',
  400,
  'At least one row with a button is required.',
  (detail: string) => ({
    detail,
  }),
);

function checkButton(button: CabinetButton): void {
  const { id } = button;
  if (button.type === 'builtin') {
    if (!isCabinetSection(id)) throw cabinetMenuInvalid(`Unknown built-in section: "${id}".`);
  } else {
    if (!id.startsWith('custom_')) throw cabinetMenuInvalid(`Custom button id must start with "custom_": "${id}".`);
    if (!/^https?:\/\//i.test(button.url ?? '')) {
      throw cabinetMenuInvalid(`Custom button "${id}" must have a URL starting with http:// or https://.`);
    }
    if (button.open_in === 'webapp' && !/^https:/i.test(button.url ?? '')) {
      throw cabinetMenuInvalid(`Custom button "${id}" with webapp mode requires an https:// URL.`);
    }
  }
  if (!BUTTON_STYLES.includes(button.style)) {
    throw cabinetMenuInvalid(`Invalid style "${button.style}" for button "${id}". Allowed: ${BUTTON_STYLES.join(', ')}.`);
  }
  for (const [locale, label] of Object.entries(button.labels)) {
    if (!LABEL_LOCALES.includes(locale)) {
      throw cabinetMenuInvalid(`Invalid locale "${locale}" for button "${id}". Allowed: ${LABEL_LOCALES.join(', ')}.`);
    }
    if ([...label].length > MAX_LABEL) {
      throw cabinetMenuInvalid(`Label for locale "${locale}" on button "${id}" exceeds ${MAX_LABEL} characters.`);
    }
  }
}

export type SectionLooks = CabinetMenu['styles'];

/** Fields are named as they are stored and sent; absent and null leave a field as it is. */
type LookChange = { readonly [Field in keyof ButtonLook]?: ButtonLook[Field] | null | undefined };
export type LookChanges = { readonly [Section in CabinetSection]?: LookChange | null | undefined };

/**
 * The looks with the changes of some sections. Labels are replaced as a whole.
 * @throws AppError 400 for the first error, in the order of the sections
 */
function withLooks(looks: SectionLooks, changes: LookChanges): SectionLooks {
  const after: Record<CabinetSection, ButtonLook> = { ...looks };
  for (const section of CABINET_SECTIONS) {
    const change = changes[section];
    if (change) after[section] = withLook(looks[section], change, section);
  }
  return after;
}

function withLook(before: ButtonLook, change: LookChange, section: CabinetSection): ButtonLook {
  const { style, icon_custom_emoji_id, enabled, labels } = change;
  if (typeof style === 'string' && !BUTTON_STYLES.includes(style)) {
    throw buttonLookInvalid(`Invalid style "${style}" for section "${section}". Allowed: ${BUTTON_STYLES.join(', ')}`);
  }
  for (const [locale, label] of Object.entries(labels ?? {})) {
    if (!LABEL_LOCALES.includes(locale)) {
      throw buttonLookInvalid(`Invalid locale "${locale}" for section "${section}". Allowed: ${LABEL_LOCALES.join(', ')}`);
    }
    if (countCharacters(label) > MAX_LABEL)
      throw buttonLookInvalid(`Label for locale "${locale}" exceeds ${MAX_LABEL} characters.`);
  }
  const icon = icon_custom_emoji_id?.trim() ?? before.icon_custom_emoji_id;
  if (!isIcon(icon)) throw buttonLookInvalid(`The custom emoji of section "${section}" exceeds ${MAX_ICON} characters.`);
  return {
    style: style ?? before.style,
    icon_custom_emoji_id: icon,
    enabled: enabled ?? before.enabled,
    labels: labels ? cleanLabels(labels) : before.labels,
  };
}

export const buttonLookInvalid = refusal(
  'button_look_invalid',
  400,
  'Invalid locale "uk" for section "subscription". Allowed: ru, en, ua, zh, fa',
  (detail: string) => ({ detail }),
);

/** Name of the document of the cabinet mode's menu. */
const CABINET_LAYOUT = 'cabinet';

/** The menu of the cabinet mode, cleaned. */
export async function readCabinetLayout(app: App): Promise<FilledRow[]> {
  return fillRows(await readMenu(app));
}

export async function readButtonLooks(app: App): Promise<SectionLooks> {
  return (await readMenu(app)).styles;
}

async function readMenu(app: App): Promise<CabinetMenu> {
  const row = await findLayout(app.db, CABINET_LAYOUT);
  return row ? readCabinetMenu(JSON.parse(row.document)) : DEFAULT_CABINET_MENU;
}

/**
 * Reads, changes and writes under the document's lock, so that parallel changes are sequential.
 * @param recorded what the audit log shows of the menu before and after
 */
function edit(
  app: App,
  change: (menu: CabinetMenu) => CabinetMenu,
  recorded: { resourceId: string; part: (menu: CabinetMenu) => Record<string, unknown> },
): Promise<CabinetMenu> {
  return inTransaction(app, async (t) => {
    const now = t.clock.now();
    const stored = await lockLayout(t.db, CABINET_LAYOUT, JSON.stringify(DEFAULT_CABINET_MENU), now);
    const before = readCabinetMenu(JSON.parse(stored));
    const after = change(before);
    await storeLayout(t.db, CABINET_LAYOUT, JSON.stringify(after), now);
    t.audit?.record({ resourceId: recorded.resourceId, before: recorded.part(before), after: recorded.part(after) });
    return after;
  });
}

const LAYOUT = { resourceId: 'menu-layout', part: (menu: CabinetMenu) => ({ rows: fillRows(menu) }) };
const LOOKS = { resourceId: 'button-styles', part: ({ styles }: CabinetMenu) => ({ styles }) };

/**
 * Replaces the rows; sections that they do not contain keep their looks.
 * @throws AppError 400 for the first error
 */
export async function saveCabinetLayout(app: App, rows: readonly FilledRow[]): Promise<FilledRow[]> {
  return fillRows(await edit(app, (menu) => withRows(menu, rows), LAYOUT));
}

/** Restores the default layout and looks. */
export async function resetCabinetLayout(app: App): Promise<FilledRow[]> {
  return fillRows(await edit(app, () => DEFAULT_CABINET_MENU, LAYOUT));
}

/**
 * Changes the given fields of the given sections.
 * @throws AppError 400 for the first error; nothing is changed then
 */
export async function changeButtonLooks(app: App, changes: LookChanges): Promise<SectionLooks> {
  return (await edit(app, (menu) => ({ ...menu, styles: withLooks(menu.styles, changes) }), LOOKS)).styles;
}

/** Restores the default looks of all sections, that of the language button too; rows and custom buttons remain. */
export async function resetButtonLooks(app: App): Promise<SectionLooks> {
  return (await edit(app, (menu) => ({ ...menu, styles: DEFAULT_CABINET_MENU.styles }), LOOKS)).styles;
}
