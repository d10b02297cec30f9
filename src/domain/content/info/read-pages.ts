import type { App } from '../../../core/app.ts';

import { text } from '../../messaging/texts.ts';
import { pageNotFound } from '../errors.ts';
import { findPublishedPage, readPublishedDocument, readPublishedFaq, readPublishedRules } from '../pages/published-pages.ts';
import type { DocumentKind, FaqPage } from '../pages/types.ts';

/** A page as the cabinet shows it: HTML or Markdown that is safe in a browser. */
export interface InfoPage {
  content: string;
  /** Null for the built-in text. */
  updatedAt: Date | null;
}

/** The questions that are shown in this language, in their order. */
export async function listQuestions(app: App, language: string): Promise<readonly FaqPage[]> {
  return (await readPublishedFaq(app, language)).pages;
}

/** @throws AppError 404 'FAQ page not found' */
export async function readQuestion(app: App, id: number, language: string): Promise<FaqPage> {
  const page = await findPublishedPage(app, id, language);
  if (!page) throw pageNotFound();
  return page;
}

/** The rules in force, else the built-in ones. */
export async function readInfoRules(app: App, language: string): Promise<InfoPage> {
  const { requestedLanguage, document } = await readPublishedRules(app, language);
  return document ?? { content: text(requestedLanguage, 'pages.rules'), updatedAt: null };
}

/** The document that is shown in this language, else a placeholder. */
export async function readInfoDocument(app: App, kind: DocumentKind, language: string): Promise<InfoPage> {
  const { requestedLanguage, document } = await readPublishedDocument(app, kind, language);
  return document ?? { content: text(requestedLanguage, `pages.${kind}`), updatedAt: null };
}
