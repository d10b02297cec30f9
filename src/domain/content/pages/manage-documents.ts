import type { App } from '../../../core/app.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { refusal } from '../../../core/errors.ts';
import { checkBounds } from '../../../core/field-bounds.ts';
import { findDocuments, lockDocument, saveDocument } from './documents-repo.ts';
import { pageLanguages } from './page-languages.ts';
import { forgetDocuments } from './published-pages.ts';
import { type DocumentKind, type LegalDocument, MAX_PAGE_CONTENT } from './types.ts';

export const documentNotFound = refusal('document_not_found', 404, 'Privacy policy not found');
export const documentDisabled = refusal('document_disabled', 404, 'Privacy policy disabled');

const NAMES: Record<DocumentKind, string> = { public_offer: 'Public offer', privacy_policy: 'Privacy policy' };

export interface DocumentQuery {
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

export interface DocumentDraft {
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
