import { createContext, useContext } from 'react';
import { EN } from './texts-en.ts';
import { RU } from './texts-ru.ts';

export type Language = 'ru' | 'en';
export type Texts = { [Name in keyof typeof EN]: string };

const TEXTS: Record<Language, Texts> = { ru: RU, en: EN };

export const LanguageContext = createContext<Language>('ru');

export function useLanguage(): Language {
  return useContext(LanguageContext);
}

export function useTexts(): Texts {
  return TEXTS[useLanguage()];
}

/** A word of the interface in the language of the page; a word that this page does not know stays as it is. */
export function wordOf(texts: Texts, word: string): string {
  return (texts as Record<string, string>)[`word_${word.replaceAll(/[.-]/g, '_')}`] ?? word;
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

export function count(value: number, language: Language): string {
  return new Intl.NumberFormat(language).format(value);
}

export function dayAndTime(timestamp: string, language: Language): string {
  return new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short' }).format(new Date(timestamp));
}

export function clock(timestamp: string, language: Language): string {
  return new Intl.DateTimeFormat(language, { timeStyle: 'medium' }).format(new Date(timestamp));
}

/** @param date `YYYY-MM-DD`, a day of the service */
export function shortDay(date: string, language: Language): string {
  return new Intl.DateTimeFormat(language, { day: 'numeric', month: 'short', timeZone: 'UTC' }).format(new Date(date));
}
