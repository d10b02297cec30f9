import { createContext, useContext } from 'react';
import { ACCESS_EN, ACCESS_RU } from './texts-access.ts';
import { CONTACT_EN, CONTACT_RU } from './texts-contact.ts';
import { GROWTH_EN, GROWTH_RU } from './texts-growth.ts';
import { SUBSCRIPTION_EN, SUBSCRIPTION_RU } from './texts-subscription.ts';

export type Language = 'ru' | 'en';

const EN = { ...ACCESS_EN, ...SUBSCRIPTION_EN, ...GROWTH_EN, ...CONTACT_EN };

export type Texts = typeof EN;

const RU: Texts = { ...ACCESS_RU, ...SUBSCRIPTION_RU, ...GROWTH_RU, ...CONTACT_RU };

const TEXTS: Record<Language, Texts> = { ru: RU, en: EN };

export const LanguageContext = createContext<Language>('ru');

export function useLanguage(): Language {
  return useContext(LanguageContext);
}

export function useTexts(): Texts {
  return TEXTS[useLanguage()];
}

/** Kopeks as rubles, for display only. */
export function money(kopeks: number, language: Language): string {
  const fraction = kopeks % 100 === 0 ? 0 : 2;
  const format = {
    style: 'currency',
    currency: 'RUB',
    currencyDisplay: 'narrowSymbol',
    minimumFractionDigits: fraction,
    maximumFractionDigits: fraction,
  } as const;
  return new Intl.NumberFormat(language, format).format(kopeks / 100);
}

export function day(timestamp: string, language: Language): string {
  return new Intl.DateTimeFormat(language, { dateStyle: 'long' }).format(new Date(timestamp));
}

export function dateAndTime(timestamp: string, language: Language): string {
  return new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short' }).format(new Date(timestamp));
}
