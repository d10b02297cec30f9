import type { App } from '../../core/app.ts';
import { LANGUAGES, type Language, text } from '../messaging/texts.ts';
import { methodName } from './method-settings.ts';

const KEYS = {
  PAYMENT_BALANCE_DESCRIPTION: 'payments.balance_description',
  PAYMENT_SERVICE_NAME: 'payments.service_name',
} as const;

/** A text of the settings: the operator's own stands; where it was never changed, the same in the payer's language (08 C3). */
export function paymentText(app: Pick<App, 'settings'>, setting: keyof typeof KEYS, language: string | null): string {
  const stored = app.settings.get(setting);
  return stored === text('ru', KEYS[setting]) ? text(language, KEYS[setting]) : stored;
}

/** Description of the ledger row of a top-up. */
export function topupTitle(app: App, method: string, language: string | null): string {
  return `${paymentText(app, 'PAYMENT_BALANCE_DESCRIPTION', language)} (${methodName(app, method)})`;
}

/** `topupTitle` by language, for a statement that reads the payer's language itself. */
export function topupTitles(app: App, method: string): Record<Language, string> {
  return byLanguage((language) => topupTitle(app, method, language));
}

/** Description, by language, of the ledger row of a reversal. */
export function reversalTitles(app: App, method: string): Record<Language, string> {
  return byLanguage((language) => text(language, 'payments.transaction_reversal', { method: methodName(app, method) }));
}

/** Description, by language, of the ledger row that gives back the debit of a refund that the provider refused. */
export function refundFailedTitles(app: App, method: string): Record<Language, string> {
  return byLanguage((language) => text(language, 'payments.transaction_refund_failed', { method: methodName(app, method) }));
}

function byLanguage(title: (language: Language) => string): Record<Language, string> {
  return Object.fromEntries(LANGUAGES.map((language) => [language, title(language)])) as Record<Language, string>;
}
