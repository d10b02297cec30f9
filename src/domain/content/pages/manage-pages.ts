import type { App } from '../../../core/app.ts';
import { type Changes, givenFields } from '../../../core/changes.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { refusal, ValidationError } from '../../../core/errors.ts';
import { checkBounds } from '../../../core/field-bounds.ts';
import { validationIssue } from '../../../core/validation-messages.ts';
import { text } from '../../messaging/texts.ts';
import { forgetDocuments, forgetFaq, forgetRules, pageLanguages } from './published-pages.ts';
import {
  deactivateRules,
  deletePage,
  findActiveRules,
  findDocuments,
  findFaqSettings,
  findPage,
  findPages,
  findRuleVersion,
  insertPage,
  insertRules,
  listRuleVersions,
  lockDocument,
  lockFaqSetting,
  lockPage,
  lockPages,
  lockRules,
  numberPages,
  saveDocument,
  saveFaqSetting,
  updatePage,
} from './repo.ts';
import { chooseFaq, type FaqChoice, pageNotFound, reorderedPages, repeatedId } from './rules.ts';
import {
  DEFAULT_RULES_TITLE,
  type DocumentKind,
  type FaqPage,
  type LegalDocument,
  MAX_PAGE_CONTENT,
  type ServiceRule,
} from './types.ts';

export const faqPageNotInLanguage = refusal('faq_page_not_in_language', 404, 'FAQ page <n> not found for language en');

export interface FaqQuery {
  language: string;
  includeInactive: boolean;
  fallback: boolean;
}

export interface FaqList extends Pick<FaqChoice<FaqPage>, 'language' | 'isEnabled' | 'pages'> {
  requestedLanguage: string;
}

/** The stored questions as they are (spec 05 section 5.1), in their order; not paged. */
export async function listFaqPages(app: App, { language, includeInactive, fallback }: FaqQuery): Promise<FaqList> {
  const languages = pageLanguages(app, language);
  return { requestedLanguage: languages.requested, ...(await readFaq(app, languages, { includeInactive, fallback })) };
}

async function readFaq(
  app: App,
  { requested, fallback }: { requested: string; fallback: string },
  options: { includeInactive: boolean; fallback: boolean },
): Promise<FaqChoice<FaqPage>> {
  const candidates = options.fallback ? [requested, fallback] : [requested];
  const [pages, settings] = await Promise.all([
    findPages(app.db, candidates, options.includeInactive),
    findFaqSettings(app.db, candidates),
  ]);
  const source = {
    pagesOf: (language: string) => pages.filter((page) => page.language === language),
    isEnabledIn: (language: string) => settings.find((setting) => setting.language === language)?.isEnabled,
  };
  return chooseFaq(source, { requested, fallback: options.fallback ? fallback : null }, !options.includeInactive);
}

/**
 * @param query the page must be of this language or of the default one
 * @throws AppError 404 'FAQ page not found'
 */
export async function readFaqPage(app: App, id: number, query: { language: string; includeInactive: boolean }): Promise<FaqPage> {
  const { requested, fallback } = pageLanguages(app, query.language);
  const page = await findPage(app.db, id);
  const isOfLanguage = page?.language === requested || page?.language === fallback;
  if (!page || !isOfLanguage || (!page.isActive && !query.includeInactive)) throw pageNotFound();
  return page;
}

export interface FaqStatus {
  requestedLanguage: string;
  language: string;
  isEnabled: boolean;
}

/** Whether the questions of a language are shown; false where nothing is stored. */
export async function readFaqStatus(app: App, query: { language: string; fallback: boolean }): Promise<FaqStatus> {
  const { requested, fallback } = pageLanguages(app, query.language);
  const candidates = query.fallback ? [requested, fallback] : [requested];
  const settings = await findFaqSettings(app.db, candidates);
  const [found] = candidates.flatMap((language) => settings.filter((setting) => setting.language === language));
  return { requestedLanguage: requested, language: found?.language ?? requested, isEnabled: found?.isEnabled ?? false };
}

/** Shows or hides the questions of a language. */
export async function writeFaqStatus(app: App, status: { language: string; isEnabled: boolean }): Promise<FaqStatus> {
  const { requested: language } = pageLanguages(app, status.language);
  const { isEnabled } = status;
  await inTransaction(app, async (t) => {
    const [before = null] = await findFaqSettings(t.db, [language]);
    await saveFaqSetting(t.db, { language, isEnabled }, t.clock.now());
    await forgetFaq(t);
    t.audit?.record({ resourceId: language, before, after: { language, isEnabled } });
  });
  return { requestedLanguage: language, language, isEnabled };
}

export interface FaqDraft {
  language: string;
  title: string;
  /** As sent; up to 200,000 characters. */
  content: string;
  /** Null = after the last page of the language. */
  displayOrder?: number | null | undefined;
  isActive?: boolean | null | undefined;
}

/** Adds a page; the first one of a language switches its questions on. @throws ValidationError 422 a value out of bounds */
export async function createFaqPage(app: App, draft: FaqDraft): Promise<FaqPage> {
  checkPage(draft);
  const { title, content, displayOrder = null } = draft;
  const { requested: language } = pageLanguages(app, draft.language);
  return inTransaction(app, async (t) => {
    const now = t.clock.now();
    await lockFaqSetting(t.db, language, now);
    const page = await insertPage(t.db, { language, title, content, displayOrder, isActive: draft.isActive ?? true }, now);
    await forgetFaq(t);
    t.audit?.record({ resourceId: page.id, before: null, after: page });
    return page;
  });
}

/** @throws AppError 404 'FAQ page not found' | ValidationError 422 a value out of bounds */
export async function updateFaqPage(
  app: App,
  id: number,
  changes: Changes<Pick<FaqPage, 'title' | 'content' | 'displayOrder' | 'isActive'>>,
): Promise<FaqPage> {
  checkPage(changes);
  const given = givenFields(changes);
  return inTransaction(app, async (t) => {
    const before = await lockPage(t.db, id);
    if (!before) throw pageNotFound();
    if (Object.keys(given).length === 0) return before;
    const page = { ...before, ...given, updatedAt: t.clock.now() };
    await updatePage(t.db, page);
    await forgetFaq(t);
    t.audit?.record({ before, after: page });
    return page;
  });
}

/** The numbers of the other pages stay. @throws AppError 404 'FAQ page not found' */
export async function deleteFaqPage(app: App, id: number): Promise<void> {
  await inTransaction(app, async (t) => {
    const before = await deletePage(t.db, id);
    if (!before) throw pageNotFound();
    await forgetFaq(t);
    t.audit?.record({ before, after: null });
  });
}

/**
 * Numbers the pages of a language 1, 2, …: the named ones in the order of their numbers, then the others unchanged.
 * @throws AppError 404 an id that is no page of the language | ValidationError 422 an id twice
 */
export async function reorderFaqPages(
  app: App,
  request: { language: string; items: readonly { id: number; displayOrder: number }[] },
): Promise<FaqList> {
  const { items } = request;
  const twice = repeatedId(items.map(({ id }) => id));
  if (twice !== null) {
    const error = `Value error, FAQ page ${twice} is named more than once`;
    throw new ValidationError([validationIssue('value_error', ['body', 'items'], items.map(toWire), { error })]);
  }
  const languages = pageLanguages(app, request.language);
  const { requested: language } = languages;
  await inTransaction(app, async (t) => {
    const pages = await lockPages(t.db, language);
    const ids = new Set(pages.map(({ id }) => id));
    const unknown = items.find(({ id }) => !ids.has(id));
    if (unknown) {
      const problem = `FAQ page ${unknown.id} not found for language ${language}`;
      throw faqPageNotInLanguage({ detail: problem });
    }
    const order = reorderedPages(pages, items).map(({ id }) => id);
    await numberPages(t.db, order, t.clock.now());
    await forgetFaq(t);
    t.audit?.record({ resourceId: language, before: { order: pages.map(({ id }) => id) }, after: { order } });
  });
  return { requestedLanguage: language, ...(await readFaq(app, languages, { includeInactive: true, fallback: false })) };
}

const toWire = ({ id, displayOrder }: { id: number; displayOrder: number }) => ({ id, display_order: displayOrder });

function checkPage({ content, displayOrder }: Changes<Pick<FaqPage, 'content' | 'displayOrder'>>): void {
  checkBounds([
    { name: 'content', value: content, maxLength: MAX_PAGE_CONTENT },
    { name: 'display_order', value: displayOrder },
  ]);
}

export const documentNotFound = refusal('document_not_found', 404, 'Privacy policy not found');
export const documentDisabled = refusal('document_disabled', 404, 'Privacy policy disabled');

const NAMES: Record<DocumentKind, string> = { public_offer: 'Public offer', privacy_policy: 'Privacy policy' };

interface DocumentQuery {
  language: string;
  /** Whether the default language's document counts where the requested language has none. */
  fallback: boolean;
  includeDisabled: boolean;
}

/**
 * The stored document as it is, for the operator's own tools.
 * @throws AppError 404 `document_not_found` | `document_disabled`
 */
export async function readDocument(
  app: App,
  kind: DocumentKind,
  { language, fallback, includeDisabled }: DocumentQuery,
): Promise<{ requestedLanguage: string; document: LegalDocument }> {
  const languages = pageLanguages(app, language);
  const candidates = fallback ? [languages.requested, languages.fallback] : [languages.requested];
  const found = await findDocuments(app.db, kind, candidates);
  const [document] = candidates.flatMap((candidate) => found.filter((one) => one.language === candidate));
  if (!document) throw documentNotFound({ detail: `${NAMES[kind]} not found` });
  if (!includeDisabled && !document.isEnabled) throw documentDisabled({ detail: `${NAMES[kind]} disabled` });
  return { requestedLanguage: languages.requested, document };
}

interface DocumentDraft {
  language: string;
  /** As sent; up to 200,000 characters. */
  content: string;
  isEnabled?: boolean | null | undefined;
}

/**
 * Writes the document of one language; a new one is enabled unless the request says otherwise.
 * @throws ValidationError 422 content too long
 */
export async function writeDocument(
  app: App,
  kind: DocumentKind,
  draft: DocumentDraft,
): Promise<{ requestedLanguage: string; document: LegalDocument }> {
  const { content, isEnabled = null } = draft;
  checkBounds([{ name: 'content', value: content, maxLength: MAX_PAGE_CONTENT }]);
  const { requested: language } = pageLanguages(app, draft.language);
  const document = await inTransaction(app, async (t) => {
    const before = await lockDocument(t.db, kind, language);
    const saved = await saveDocument(t.db, { kind, language, content, isEnabled }, t.clock.now());
    await forgetDocuments(t, kind);
    t.audit?.record({ resourceId: language, before, after: saved });
    return saved;
  });
  return { requestedLanguage: language, document };
}

export const serviceRulesNotFound = refusal('service_rules_not_found', 404, 'Service rules not found');
export const rulesVersionNotFound = refusal('rules_version_not_found', 404, 'Rules version not found');

/** The active version as it is stored. @throws AppError 404 'Service rules not found' */
export async function readRules(app: App, query: { language: string; fallback: boolean }): Promise<ServiceRule> {
  const { requested, fallback } = pageLanguages(app, query.language);
  const candidates = query.fallback ? [requested, fallback] : [requested];
  const found = await findActiveRules(app.db, candidates);
  const [rules] = candidates.flatMap((language) => found.filter((one) => one.language === language));
  if (!rules) throw serviceRulesNotFound();
  return rules;
}

interface RulesDraft {
  language: string;
  title?: string | null | undefined;
  /** As sent; up to 200,000 characters. */
  content: string;
}

/** Adds a version and makes it the active one of its language. @throws ValidationError 422 content too long */
export async function writeRules(app: App, draft: RulesDraft): Promise<ServiceRule> {
  const { content } = draft;
  checkBounds([{ name: 'content', value: content, maxLength: MAX_PAGE_CONTENT }]);
  const { requested: language } = pageLanguages(app, draft.language);
  return activate(app, { language, title: titleOf(draft.title, language), content });
}

/** Rules that were sent without a title have that of their language (spec 10 R5); the contract's default is the Russian one. */
function titleOf(title: string | null | undefined, language: string): string {
  return title == null || title === DEFAULT_RULES_TITLE ? text(language, 'pages.rules_title') : title;
}

/** Deactivates the rules of a language; the versions stay and can be restored. */
export async function deleteRules(app: App, language: string): Promise<void> {
  const { requested } = pageLanguages(app, language);
  await inTransaction(app, async (t) => {
    await lockRules(t.db, requested);
    const before = await deactivateRules(t.db, requested, t.clock.now());
    await forgetRules(t);
    t.audit?.record({ resourceId: before?.id ?? requested, before, after: null });
  });
}

/** Versions of a language, the active one too, newest first. */
export async function listRulesHistory(
  app: App,
  query: { language: string; limit: number },
): Promise<{ language: string; items: ServiceRule[] }> {
  const { requested } = pageLanguages(app, query.language);
  return { language: requested, items: await listRuleVersions(app.db, requested, query.limit) };
}

/** Makes a copy of a version the active one of its language. @throws AppError 404 'Rules version not found' */
export async function restoreRules(app: App, id: number, language: string): Promise<ServiceRule> {
  const { requested } = pageLanguages(app, language);
  // A version never changes, so it is read before the lock.
  const version = await findRuleVersion(app.db, id, requested);
  if (!version) throw rulesVersionNotFound();
  return activate(app, version);
}

function activate(app: App, rules: Pick<ServiceRule, 'language' | 'title' | 'content'>): Promise<ServiceRule> {
  return inTransaction(app, async (t) => {
    const now = t.clock.now();
    await lockRules(t.db, rules.language);
    const before = await deactivateRules(t.db, rules.language, now);
    const active = await insertRules(t.db, rules, now);
    await forgetRules(t);
    t.audit?.record({ resourceId: active.id, before, after: active });
    return active;
  });
}
