import type { App } from '../../core/app.ts';
import { LANGUAGES, type Language, text } from '../messaging/texts.ts';
import { definitionOf } from '../settings/catalogue/catalogue.ts';
import { methodName } from './payment-methods.ts';

const KEYS = {
  PAYMENT_BALANCE_DESCRIPTION: 'payments.balance_description',
  PAYMENT_SERVICE_NAME: 'payments.service_name',
} as const;

/** A text of the settings: the operator's own stands; where it was never changed, the same in the payer's language (08 C3). */
export function paymentText(app: Pick<App, 'settings'>, setting: keyof typeof KEYS, language: string | null): string {
  const stored = app.settings.get(setting);
  return stored === text('ru', KEYS[setting]) ? text(language, KEYS[setting]) : stored;
}

/** Providers whose invoices may have a description of their own. */
const OF_PROVIDER = {
  cloudpayments: 'CLOUDPAYMENTS_DESCRIPTION',
  mulenpay: 'MULENPAY_DESCRIPTION',
  pal24: 'PAL24_PAYMENT_DESCRIPTION',
  wata: 'WATA_PAYMENT_DESCRIPTION',
} as const;

/** A text that the operator changed; null while it is blank or the default. */
function changedText(
  app: Pick<App, 'settings'>,
  key: (typeof OF_PROVIDER)[keyof typeof OF_PROVIDER] | 'PAYMENT_SUBSCRIPTION_DESCRIPTION' | 'PAYMENT_SUBSCRIPTION_TEMPLATE',
): string | null {
  const stored = app.settings.get(key);
  return stored.trim() === '' || stored === definitionOf(key).default ? null : stored;
}

/**
 * The description of a top-up's invoice that the provider shows to the payer (spec 03 section 2.4). A description that the operator wrote
 * for this provider comes before the common one (spec 10 O4).
 * @param provider id of the provider @param details what follows the description, the amount for example
 */
export function topupDescription(app: Pick<App, 'settings'>, provider: string, language: string | null, details: string): string {
  const special = Object.entries(OF_PROVIDER).find(([id]) => id === provider)?.[1];
  const title = (special && changedText(app, special)) ?? paymentText(app, 'PAYMENT_BALANCE_DESCRIPTION', language);
  return filledTemplate(app, 'PAYMENT_BALANCE_TEMPLATE', language, `${title} ${details}`);
}

/**
 * The description of a purchase's invoice: `usual`, unless the operator changed `PAYMENT_SUBSCRIPTION_DESCRIPTION` or
 * `PAYMENT_SUBSCRIPTION_TEMPLATE` (spec 10 O4), with which a shop keeps the names of its tariffs from the provider.
 * @param usual with the tariff's name (spec 03 sections 7 and 9)
 */
export function purchaseDescription(app: Pick<App, 'settings'>, language: string | null, usual: string): string {
  const description = changedText(app, 'PAYMENT_SUBSCRIPTION_DESCRIPTION');
  if (description === null && changedText(app, 'PAYMENT_SUBSCRIPTION_TEMPLATE') === null) return usual;
  return filledTemplate(app, 'PAYMENT_SUBSCRIPTION_TEMPLATE', language, description ?? usual);
}

function filledTemplate(
  app: Pick<App, 'settings'>,
  template: 'PAYMENT_BALANCE_TEMPLATE' | 'PAYMENT_SUBSCRIPTION_TEMPLATE',
  language: string | null,
  description: string,
): string {
  return app.settings
    .get(template)
    .replace(/\{(service_name|description)\}/g, (_whole, name) =>
      name === 'description' ? description : paymentText(app, 'PAYMENT_SERVICE_NAME', language),
    );
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
