import enBackups from '../../../locales/en/backups.json' with { type: 'json' };
import enBroadcasts from '../../../locales/en/broadcasts.json' with { type: 'json' };
import enContests from '../../../locales/en/contests.json' with { type: 'json' };
import enEmailTemplates from '../../../locales/en/email_templates.json' with { type: 'json' };
import enErrors from '../../../locales/en/errors.json' with { type: 'json' };
import enGames from '../../../locales/en/games.json' with { type: 'json' };
import enGifts from '../../../locales/en/gifts.json' with { type: 'json' };
import enMail from '../../../locales/en/mail.json' with { type: 'json' };
import enMessages from '../../../locales/en/messages.json' with { type: 'json' };
import enMonitoring from '../../../locales/en/monitoring.json' with { type: 'json' };
import enOperations from '../../../locales/en/operations.json' with { type: 'json' };
import enPages from '../../../locales/en/pages.json' with { type: 'json' };
import enPanel from '../../../locales/en/panel.json' with { type: 'json' };
import enPartners from '../../../locales/en/partners.json' with { type: 'json' };
import enPayments from '../../../locales/en/payments.json' with { type: 'json' };
import enPromo from '../../../locales/en/promo.json' with { type: 'json' };
import enReceipts from '../../../locales/en/receipts.json' with { type: 'json' };
import enReports from '../../../locales/en/reports.json' with { type: 'json' };
import enSubscriptions from '../../../locales/en/subscriptions.json' with { type: 'json' };
import enWithdrawals from '../../../locales/en/withdrawals.json' with { type: 'json' };
import ruBackups from '../../../locales/ru/backups.json' with { type: 'json' };
import ruBroadcasts from '../../../locales/ru/broadcasts.json' with { type: 'json' };
import ruContests from '../../../locales/ru/contests.json' with { type: 'json' };
import ruEmailTemplates from '../../../locales/ru/email_templates.json' with { type: 'json' };
import ruErrors from '../../../locales/ru/errors.json' with { type: 'json' };
import ruGames from '../../../locales/ru/games.json' with { type: 'json' };
import ruGifts from '../../../locales/ru/gifts.json' with { type: 'json' };
import ruMail from '../../../locales/ru/mail.json' with { type: 'json' };
import ruMessages from '../../../locales/ru/messages.json' with { type: 'json' };
import ruMonitoring from '../../../locales/ru/monitoring.json' with { type: 'json' };
import ruOperations from '../../../locales/ru/operations.json' with { type: 'json' };
import ruPages from '../../../locales/ru/pages.json' with { type: 'json' };
import ruPanel from '../../../locales/ru/panel.json' with { type: 'json' };
import ruPartners from '../../../locales/ru/partners.json' with { type: 'json' };
import ruPayments from '../../../locales/ru/payments.json' with { type: 'json' };
import ruPromo from '../../../locales/ru/promo.json' with { type: 'json' };
import ruReceipts from '../../../locales/ru/receipts.json' with { type: 'json' };
import ruReports from '../../../locales/ru/reports.json' with { type: 'json' };
import ruSubscriptions from '../../../locales/ru/subscriptions.json' with { type: 'json' };
import ruWithdrawals from '../../../locales/ru/withdrawals.json' with { type: 'json' };
import { firstCharacters } from '../../core/characters.ts';
import { type Refusal, refusal } from '../../core/errors.ts';

/** All user-facing texts by language (spec 00, Texts). The Russian files define the keys. */
const TEXTS = {
  ru: {
    email_templates: ruEmailTemplates,
    backups: ruBackups,
    broadcasts: ruBroadcasts,
    contests: ruContests,
    errors: ruErrors,
    games: ruGames,
    gifts: ruGifts,
    mail: ruMail,
    messages: ruMessages,
    monitoring: ruMonitoring,
    operations: ruOperations,
    pages: ruPages,
    panel: ruPanel,
    partners: ruPartners,
    payments: ruPayments,
    promo: ruPromo,
    receipts: ruReceipts,
    reports: ruReports,
    subscriptions: ruSubscriptions,
    withdrawals: ruWithdrawals,
  },
  en: {
    email_templates: enEmailTemplates,
    backups: enBackups,
    broadcasts: enBroadcasts,
    contests: enContests,
    errors: enErrors,
    games: enGames,
    gifts: enGifts,
    mail: enMail,
    messages: enMessages,
    monitoring: enMonitoring,
    operations: enOperations,
    pages: enPages,
    panel: enPanel,
    partners: enPartners,
    payments: enPayments,
    promo: enPromo,
    receipts: enReceipts,
    reports: enReports,
    subscriptions: enSubscriptions,
    withdrawals: enWithdrawals,
  },
} as const;

export type Language = keyof typeof TEXTS;

export const LANGUAGES = Object.keys(TEXTS) as readonly Language[];

type Files = (typeof TEXTS)['ru'];

/** `{file}.{key}`, for example `messages.topup_received`. */
export type TextKey = { [F in keyof Files]: `${F}.${keyof Files[F] & string}` }[keyof Files];

export type TextParams = Readonly<Record<string, string | number>>;

/** The language of texts: `en` for English in any spelling of the tag, else `ru`. */
export function knownLanguage(language: string | null | undefined): Language {
  return language?.toLowerCase().split(/[-_]/)[0] === 'en' ? 'en' : 'ru';
}

/** A text with `{name}` placeholders filled, values not escaped: for JSON answers and plain-text mail. Unknown placeholders stay. */
export function text(language: string | null | undefined, key: TextKey, params: TextParams = {}): string {
  return fill(template(language, key), params, String);
}

/** The same for a text that is HTML (messenger messages, mail bodies): every value is escaped. */
export function htmlText(language: string | null | undefined, key: TextKey, params: TextParams = {}): string {
  return fill(template(language, key), params, (value) => escapeHtml(String(value)));
}

/**
 * A stored text for a reader: one that this service wrote in any of its languages in the reader's, every other as it is (spec 10 U7).
 * @param keys of the texts that the service may have written there
 */
export function serviceTextIn(language: string | null | undefined, stored: string, keys: readonly TextKey[]): string {
  const key = keys.find((each) => LANGUAGES.some((known) => text(known, each) === stored));
  return key === undefined ? stored : text(language, key);
}

/** Escapes for element content and quoted attributes, in HTML and in the messenger's subset of it. */
export function escapeHtml(value: string): string {
  return value.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;').replace(/'/g, '&#39;');
}

/** Fills `{name}` placeholders in one pass, so that braces in a value are not filled again. */
export function fill(pattern: string, params: TextParams, write: (value: string | number) => string): string {
  return pattern.replace(/\{(\w+)\}/g, (placeholder, name: string) => {
    const value = Object.hasOwn(params, name) ? params[name] : undefined;
    return value === undefined ? placeholder : write(value);
  });
}

/** The first characters of a text, with a mark when it was longer. A character is not split. */
export function shorten(text: string, length: number): string {
  const start = firstCharacters(text, length);
  return start.length < text.length ? `${start}...` : text;
}

function template(language: string | null | undefined, key: TextKey): string {
  const [file, name] = key.split('.') as [keyof Files, string];
  const texts: Readonly<Record<string, string>> = TEXTS[knownLanguage(language)][file];
  return texts[name] ?? key;
}

/** A refusal that is a sentence in the language of its reader, which the factory gets. */
export function translatedRefusal(code: string, status: number, key: TextKey): Refusal<[language: string | null | undefined]> {
  return refusal(code, status, text('en', key), (language: string | null | undefined) => ({ detail: text(language, key) }));
}
