import type { App } from '../../../core/app.ts';
import { MINUTE_MS } from '../../../core/clock.ts';
import { listActivePages, listActiveRules, listDocuments, listFaqSettings } from './repo.ts';
import { chooseFaq, type FaqSource, isBlank, normalisePageLanguage, type PageLanguages, shownDocument } from './rules.ts';
import type { DocumentKind, FaqPage, LegalDocument, ServiceRule } from './types.ts';

/**
 * What users are shown of the pages, cleaned for browsers. Clients ask for it on every page: it comes from a cache with one entry for a
 * kind of page, all languages together, so that requests with unknown languages neither read the database nor fill the cache. Every
 * change drops the entry on all instances.
 */

const TRUST_MS = 5 * MINUTE_MS;
const FAQ_KEY = 'content:faq';
const RULES_KEY = 'content:rules';
const documentsKey = (kind: DocumentKind) => `content:${kind}`;

/** Drops what this and the other instances know of a kind of document, when the caller's transaction commits. */
export function forgetDocuments(t: App, kind: DocumentKind): Promise<void> {
  return t.cache.forget(t, [documentsKey(kind)]);
}

export function forgetFaq(t: App): Promise<void> {
  return t.cache.forget(t, [FAQ_KEY]);
}

export function forgetRules(t: App): Promise<void> {
  return t.cache.forget(t, [RULES_KEY]);
}

export interface Published<D> {
  requestedLanguage: string;
  /** Null where the user is shown none. */
  document: D | null;
}

/** The public offer or the privacy policy as a user is shown it: enabled, not blank, of the language or the default one. */
export async function readPublishedDocument(app: App, kind: DocumentKind, language: string): Promise<Published<LegalDocument>> {
  const { requested, fallback } = pageLanguages(app, language);
  const byLanguage = await app.cache.read(documentsKey(kind), TRUST_MS, async () =>
    inLanguages(await cleaned(app, await listDocuments(app.db, kind))),
  );
  return { requestedLanguage: requested, document: shownDocument(byLanguage.get(requested), byLanguage.get(fallback)) };
}

/** The active rules of the language, else of the default one; blank ones count as none. */
export async function readPublishedRules(app: App, language: string): Promise<Published<ServiceRule>> {
  const { requested, fallback } = pageLanguages(app, language);
  const byLanguage = await app.cache.read(RULES_KEY, TRUST_MS, async () =>
    inLanguages((await cleaned(app, await listActiveRules(app.db))).filter((rules) => !isBlank(rules.content))),
  );
  return { requestedLanguage: requested, document: byLanguage.get(requested) ?? byLanguage.get(fallback) ?? null };
}

interface PublishedFaq extends FaqSource<FaqPage> {
  pages: readonly FaqPage[];
}

/** Active questions of the language, else of the default one. */
export async function readPublishedFaq(app: App, language: string) {
  const languages = pageLanguages(app, language);
  const { language: shown, isSwitchedOff, pages } = chooseFaq(await cachedFaq(app), languages, true);
  return { requestedLanguage: languages.requested, language: shown, isSwitchedOff, pages };
}

/** One active question of the language or of the default one; null also where the questions of its language are switched off. */
export async function findPublishedPage(app: App, id: number, language: string): Promise<FaqPage | null> {
  const { requested, fallback }: PageLanguages = pageLanguages(app, language);
  const faq = await cachedFaq(app);
  const page = faq.pages.find((one) => one.id === id && (one.language === requested || one.language === fallback));
  return page === undefined || faq.isEnabledIn(page.language) === false ? null : page;
}

function cachedFaq(app: App): Promise<PublishedFaq> {
  return app.cache.read(FAQ_KEY, TRUST_MS, async () => {
    const [rows, settings] = await Promise.all([listActivePages(app.db), listFaqSettings(app.db)]);
    const pages = await cleaned(app, rows);
    const byLanguage = Map.groupBy(pages, (page) => page.language);
    const switches = new Map(settings.map((setting) => [setting.language, setting.isEnabled]));
    return {
      pages,
      pagesOf: (language) => byLanguage.get(language) ?? [],
      isEnabledIn: (language) => switches.get(language),
    };
  });
}

async function cleaned<D extends { content: string; title?: string }>(app: App, pages: readonly D[]): Promise<D[]> {
  if (pages.length === 0) return [];
  // With the first page: its parser is a large package.
  const { cleanHtml } = await import('./clean-html.ts');
  const { markup } = app.ports.messenger;
  return pages.map((page) => ({
    ...page,
    ...(page.title === undefined ? {} : { title: cleanHtml(page.title, markup) }),
    content: cleanHtml(page.content, markup),
  }));
}

function inLanguages<D extends { language: string }>(pages: readonly D[]): ReadonlyMap<string, D> {
  return new Map(pages.map((page) => [page.language, page]));
}

const BUILT_IN_LANGUAGE = 'ru';

/** `DEFAULT_LANGUAGE`, normalised: the language to fall back to. */
function defaultPageLanguage(app: App): string {
  return normalisePageLanguage(app.settings.get('DEFAULT_LANGUAGE'), BUILT_IN_LANGUAGE);
}

/** The language of a request and the one to fall back to. */
export function pageLanguages(app: App, language: string): PageLanguages {
  const fallback = defaultPageLanguage(app);
  return { requested: normalisePageLanguage(language, fallback), fallback };
}
