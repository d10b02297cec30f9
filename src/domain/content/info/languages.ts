import type { UserActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { refusal } from '../../../core/errors.ts';
import { readSessionUser } from '../../identity/authenticate-user.ts';
import { changeLanguage } from '../../identity/change-language.ts';
import { normaliseLanguage, shortLanguage } from '../../identity/rules.ts';

export const languageNotOffered = refusal('language_not_offered', 400, 'Invalid language. Supported: ru, en, ua, zh, fa');

/** A language that users may choose. */
export interface OfferedLanguage {
  /** At most 5 characters, lower case. */
  code: string;
  /** In the language itself. */
  name: string;
  flag: string;
}

const KNOWN: Readonly<Record<string, Omit<OfferedLanguage, 'code'>>> = {
  ru: { name: 'Русский', flag: '🇷🇺' },
  en: { name: 'English', flag: '🇬🇧' },
  ua: { name: 'Українська', flag: '🇺🇦' },
  zh: { name: '中文', flag: '🇨🇳' },
  fa: { name: 'فارسی', flag: '🇮🇷' },
};

/** The languages of `AVAILABLE_LANGUAGES` in its order; the five known ones where it names none. */
export function offeredLanguages(app: App): OfferedLanguage[] {
  const codes = app.settings.get('AVAILABLE_LANGUAGES').split(',').map(shortLanguage).filter(Boolean);
  const offered = codes.length > 0 ? new Set(codes) : Object.keys(KNOWN);
  return [...offered].map((code) => {
    const { name, flag } = (Object.hasOwn(KNOWN, code) && KNOWN[code]) || { name: code.toUpperCase(), flag: '🌐' };
    return { code, name, flag };
  });
}

/** The languages to choose from, and the default one, which need not be among them. */
export function readLanguages(app: App): { languages: OfferedLanguage[]; default: string } {
  return { languages: offeredLanguages(app), default: normaliseLanguage(app.settings.get('DEFAULT_LANGUAGE')) };
}

/** The language of the own account. */
export async function readMyLanguage(app: App, { userId }: UserActor): Promise<string> {
  return (await readSessionUser(app, userId))?.language || 'ru';
}

/**
 * Changes the language of the own account.
 * @param language null = `ru`; `EN-us` is `en`
 * @returns the stored language
 * @throws AppError 400 `language_not_offered`
 */
export async function chooseLanguage(app: App, actor: UserActor, language: string | null): Promise<string> {
  const code = language === null ? 'ru' : shortLanguage(language);
  const offered = offeredLanguages(app).map((one) => one.code);
  if (!offered.includes(code)) throw languageNotOffered({ detail: `Invalid language. Supported: ${offered.join(', ')}` });
  await changeLanguage(app, actor, code);
  return code;
}
