/** Pure rules of pages: which language is shown, and what is hidden (spec 05 section 5). */

import { firstCharacters } from '../../../core/characters.ts';
import { refusal } from '../../../core/errors.ts';

export const pageNotFound = refusal('faq_page_not_found', 404, 'FAQ page not found');

/** Characters of a language in a request and in the database. */
const MAX_LANGUAGE = 10;

/** The language of a request and the one to fall back to; both normalised, and possibly equal. */
export interface PageLanguages {
  requested: string;
  fallback: string;
}

/** `EN-us` becomes `en`; an empty value the default language. Any other word is a language. */
export function normalisePageLanguage(language: string, defaultLanguage: string): string {
  // Lower case may be longer than the text was.
  const short = firstCharacters(language.trim().toLowerCase().split('-', 1)[0]!.trim(), MAX_LANGUAGE);
  return short === '' ? defaultLanguage : short;
}

export function isBlank(text: string): boolean {
  return text.trim() === '';
}

/**
 * The document that a user is shown: of the wanted language; where that is absent or blank, the fallback's. A disabled one is not shown, and
 * hides the fallback's as well.
 */
export function shownDocument<D extends { isEnabled: boolean; content: string }>(
  wanted: D | undefined,
  fallback: D | undefined,
): D | null {
  if (wanted && !wanted.isEnabled) return null;
  const [first = null] = [wanted, fallback].filter((one) => one?.isEnabled && !isBlank(one.content));
  return first ?? null;
}

/** The questions of a language, with what is stored about showing them. */
export interface FaqSource<P> {
  /** In the order in which they are shown. */
  pagesOf(language: string): readonly P[];
  /** Undefined where nothing is stored. */
  isEnabledIn(language: string): boolean | undefined;
}

export interface FaqChoice<P> {
  /** Of the stored switch, else of the first page, else as requested. */
  language: string;
  /** Of the requested language, else of the fallback; false where neither has a switch. */
  isEnabled: boolean;
  /** Whether a stored switch hides the questions. */
  isSwitchedOff: boolean;
  pages: readonly P[];
}

/**
 * The questions of the requested language, else of the fallback. With `hidesDisabled` there are none where the switch of the language that
 * has pages is off.
 * @param languages `fallback` null = only the requested language
 */
export function chooseFaq<P extends { language: string }>(
  source: FaqSource<P>,
  languages: { requested: string; fallback: string | null },
  hidesDisabled: boolean,
): FaqChoice<P> {
  const { requested, fallback } = languages;
  const candidates = fallback === null || fallback === requested ? [requested] : [requested, fallback];
  const withPages = candidates.find((language) => source.pagesOf(language).length > 0);
  const isHidden = withPages !== undefined && hidesDisabled && source.isEnabledIn(withPages) === false;
  const pages = withPages === undefined || isHidden ? [] : source.pagesOf(withPages);
  const withSwitch = candidates.find((language) => source.isEnabledIn(language) !== undefined);
  const isEnabled = withSwitch !== undefined && source.isEnabledIn(withSwitch) === true;
  return {
    language: withSwitch ?? pages[0]?.language ?? requested,
    isEnabled,
    isSwitchedOff: withSwitch !== undefined && !isEnabled,
    pages,
  };
}

/** The first id that is named twice; null = none. */
export function repeatedId(ids: readonly number[]): number | null {
  const seen = new Set<number>();
  for (const id of ids) {
    if (seen.has(id)) return id;
    seen.add(id);
  }
  return null;
}

/**
 * The new order of the pages of a language: the named ones by their numbers, then the others unchanged.
 * @param pages in their present order
 */
export function reorderedPages<P extends { id: number }>(
  pages: readonly P[],
  places: readonly { id: number; displayOrder: number }[],
): P[] {
  const placeOf = new Map(places.map(({ id, displayOrder }) => [id, displayOrder]));
  const named = pages.filter(({ id }) => placeOf.has(id));
  const givenAt = new Map(places.map(({ id }, index) => [id, index]));
  named.sort((a, b) => placeOf.get(a.id)! - placeOf.get(b.id)! || givenAt.get(a.id)! - givenAt.get(b.id)!);
  return [...named, ...pages.filter(({ id }) => !placeOf.has(id))];
}
