import sanitizeHtml from 'sanitize-html';
import type { App } from '../../../core/app.ts';
import { MINUTE_MS } from '../../../core/clock.ts';
import type { MessengerMarkup } from '../../messaging/ports.ts';
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
    inLanguages(cleaned(app, await listDocuments(app.db, kind))),
  );
  return { requestedLanguage: requested, document: shownDocument(byLanguage.get(requested), byLanguage.get(fallback)) };
}

/** The active rules of the language, else of the default one; blank ones count as none. */
export async function readPublishedRules(app: App, language: string): Promise<Published<ServiceRule>> {
  const { requested, fallback } = pageLanguages(app, language);
  const byLanguage = await app.cache.read(RULES_KEY, TRUST_MS, async () =>
    inLanguages(cleaned(app, await listActiveRules(app.db)).filter((rules) => !isBlank(rules.content))),
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
    const pages = cleaned(app, rows);
    const byLanguage = Map.groupBy(pages, (page) => page.language);
    const switches = new Map(settings.map((setting) => [setting.language, setting.isEnabled]));
    return {
      pages,
      pagesOf: (language) => byLanguage.get(language) ?? [],
      isEnabledIn: (language) => switches.get(language),
    };
  });
}

function cleaned<D extends { content: string; title?: string }>(app: App, pages: readonly D[]): D[] {
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

/** Where a browser would begin to read a tag, a comment or a declaration. */
const MARKUP = /<[a-z!/?]/i;

const INLINE = [
  'b',
  'strong',
  'i',
  'em',
  'u',
  'ins',
  's',
  'strike',
  'del',
  'code',
  'a',
  'span',
  'br',
  'sub',
  'sup',
  'small',
  'mark',
];
const BLOCKS = [
  'p',
  'div',
  'pre',
  'blockquote',
  'hr',
  'ul',
  'ol',
  'li',
  'h1',
  'h2',
  'h3',
  'h4',
  'h5',
  'h6',
  'details',
  'summary',
];
const TABLES = ['table', 'thead', 'tbody', 'tfoot', 'tr', 'th', 'td', 'caption'];

/**
 * What a browser may be given of a text that an operator wrote (spec 05 section 5.1, last line; section 16, invariant 7): formatting, links and
 * pictures; no scripts, styles, frames, forms, event handlers, or classes that would place an element over the page. A text without
 * markup, Markdown for example, stays as it is.
 */
export function cleanHtml(text: string, markup: MessengerMarkup): string {
  if (!MARKUP.test(text)) return text;
  const once = sanitizeHtml(text, optionsFor(markup));
  // An element that was taken out can leave two within each other that may not be nested, `<a>` in `<a>` for example: browsers would read
  // another structure. The second time they are put side by side.
  return once === text ? text : sanitizeHtml(once, optionsFor(markup));
}

const known = new WeakMap<MessengerMarkup, sanitizeHtml.IOptions>();

function optionsFor(markup: MessengerMarkup): sanitizeHtml.IOptions {
  const found = known.get(markup);
  if (found) return found;
  const options: sanitizeHtml.IOptions = {
    allowedTags: [...INLINE, ...BLOCKS, ...TABLES, 'img', markup.spoilerTag, markup.emojiTag],
    allowedAttributes: {
      a: ['href', 'title'],
      img: ['src', 'alt', 'title', 'width', 'height'],
      blockquote: ['expandable'],
      ol: ['start'],
      td: ['colspan', 'rowspan'],
      th: ['colspan', 'rowspan'],
      [markup.emojiTag]: [markup.emojiIdAttribute],
    },
    allowedClasses: { span: [markup.spoilerTag], code: ['language-*'], pre: ['language-*'] },
    allowedSchemes: ['http', 'https', 'mailto', 'tel', markup.linkScheme],
    exclusiveFilter: ({ tag, attribs }) => tag === 'img' && !/^https:\/\//i.test(attribs.src ?? ''),
    allowProtocolRelative: false,
    disallowedTagsMode: 'discard',
    // Deeper markup is nobody's text, and would overflow the stack of whoever reads it.
    nestingLimit: 50,
  };
  known.set(markup, options);
  return options;
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
