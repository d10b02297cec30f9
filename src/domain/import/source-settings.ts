import { wordForms } from '../../core/word-forms.ts';
import { definitionOf, isSettingKey, type SettingKey, settingKeys } from '../settings/catalogue/catalogue.ts';
import { parseText, storedForm } from '../settings/rules.ts';

/** What becomes of a setting of the existing product (spec 07 section 5). */
export type TranslatedSetting =
  | { outcome: 'kept'; key: SettingKey; text: string | null }
  | { outcome: 'setting_unknown' | 'setting_refused' | 'setting_value_invalid'; key: string };

/** Of the machine on which the old bot runs, not of what it sells. */
const OF_THE_INSTALLATION =
  /^(?:POSTGRES_|DATABASE_|REDIS_|LOG_|BACKUP_|SQLITE_PATH$|WEB_API_(?:HOST|PORT|WORKERS)$|DEBUG$|LOCALES_PATH$|WEBHOOK_SECRET_TOKEN$|EXTERNAL_ADMIN_TOKEN)/;

const forms = wordForms([
  { client: 'telegram', ours: 'messenger' },
  { client: 'remnawave', ours: 'vpnpanel' },
]);
/** Our key by that of the existing product; the regular form of an irregular one counts too. */
const ourKeys = new Map(
  settingKeys.flatMap((key) => [forms.renameRegularly(key), forms.rename(key)].map((theirs) => [theirs, key])),
);

/** The key by which this service knows a key of the existing product. */
const renamedKey = (key: string): string => ourKeys.get(key) ?? key;

/**
 * Translates a stored override or an environment variable of the existing product, and checks the value by the rules of a write.
 * @returns the text in the form in which it is stored here
 */
export function translateSetting(sourceKey: string, text: string): TranslatedSetting {
  const key = renamedKey(sourceKey);
  if (OF_THE_INSTALLATION.test(key)) return { outcome: 'setting_refused', key };
  if (!isSettingKey(key)) return { outcome: 'setting_unknown', key };
  const definition = definitionOf(key);
  if (definition.readOnly) return { outcome: 'setting_refused', key };
  const checked = parseText(definition, renamedValue(key, text));
  return checked.ok ? { outcome: 'kept', key, text: storedForm(checked.value) } : { outcome: 'setting_value_invalid', key };
}

function renamedValue(key: SettingKey, text: string): string {
  const { choices, placeholders } = definitionOf(key);
  if (choices) return text.trim().toLowerCase() === 'telegram' ? 'messenger' : text;
  if (!placeholders) return text;
  return text.replaceAll('{telegram_id}', '{messenger_id}').replace(/\{remnawave_(\w+)\}/g, '{vpnpanel_$1}');
}

/**
 * Defaults of the existing product that name it and that its panel or its customers see: where it sets no other value, they go on with these.
 */
const DEFAULTS_WITH_NAMES: Readonly<Partial<Record<SettingKey, string>>> = {
  VPNPANEL_WEBHOOK_PATH: '/remnawave-webhook',
  MESSENGER_STARS_DISPLAY_NAME: 'Telegram Stars',
};

export interface TranslatedEnvironment {
  /** Variables of the new environment, in the order of the old one. */
  kept: Map<string, string>;
  leftOut: { key: string; reason: Exclude<TranslatedSetting['outcome'], 'kept'> }[];
  /** Keys that decide who signs in and where money goes: to be looked at before the switch-over. */
  toReview: SettingKey[];
  /** Keys of which the database holds another value than the environment, which wins. */
  staleRows: string[];
}

/**
 * Translates the environment of an old bot.
 * @param rows the overrides in its database, by key; empty where no database is given
 */
export function translateEnvironment(
  variables: Readonly<Record<string, string>>,
  rows: ReadonlyMap<string, string>,
): TranslatedEnvironment {
  const found: TranslatedEnvironment = { kept: new Map(), leftOut: [], toReview: [], staleRows: [] };
  for (const [sourceKey, text] of Object.entries(variables)) {
    const translated = translateSetting(sourceKey, text);
    if (translated.outcome !== 'kept') {
      found.leftOut.push({ key: sourceKey, reason: translated.outcome });
      continue;
    }
    found.kept.set(translated.key, translated.text ?? '');
    if (definitionOf(translated.key).guard) found.toReview.push(translated.key);
    const row = rows.get(sourceKey);
    if (row !== undefined && row !== text) found.staleRows.push(sourceKey);
  }
  const sourceKeys = new Set([...rows.keys()].map(renamedKey));
  for (const [key, text] of Object.entries(DEFAULTS_WITH_NAMES))
    if (!found.kept.has(key) && !sourceKeys.has(key)) found.kept.set(key, text);
  return found;
}

/** Marks between which a value may stand in an environment file; inside of the first ones nothing has a meaning. */
const QUOTES = ["'", '`', '"'] as const;

/** A line of an environment file, as Node reads it; null for a text that no line can hold. */
export function environmentLine(key: string, text: string): string | null {
  if (/^[\w./:@%+,-]*$/.test(text)) return `${key}=${text}`;
  // Between double quotes \n is a line feed.
  const quote = QUOTES.find((mark) => !text.includes(mark) && (mark !== '"' || !text.includes('\\')));
  return quote && !text.includes('\r') ? `${key}=${quote}${text}${quote}` : null;
}
