import type { App } from '../../../core/app.ts';
import { normalisePageLanguage, type PageLanguages } from './rules.ts';

const BUILT_IN_LANGUAGE = 'ru';

/** `DEFAULT_LANGUAGE`, normalised: the language to fall back to. */
export function defaultPageLanguage(app: App): string {
  return normalisePageLanguage(app.settings.get('DEFAULT_LANGUAGE'), BUILT_IN_LANGUAGE);
}

/** The language of a request and the one to fall back to. */
export function pageLanguages(app: App, language: string): PageLanguages {
  const fallback = defaultPageLanguage(app);
  return { requested: normalisePageLanguage(language, fallback), fallback };
}
