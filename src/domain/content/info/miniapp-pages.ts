import type { App } from '../../../core/app.ts';
import { visibleText } from '../../messaging/messenger-html.ts';
import { type Published, readPublishedDocument, readPublishedFaq, readPublishedRules } from '../pages/published-pages.ts';

/** A document as the mini-app shows it, safe in a browser. */
export interface MiniappDocument {
  requestedLanguage: string;
  language: string;
  title: string | null;
  isEnabled: boolean;
  content: string;
  createdAt: Date;
  updatedAt: Date;
}

export interface MiniappFaq {
  requestedLanguage: string;
  language: string;
  isEnabled: boolean;
  total: number;
  items: { id: number; title: string | null; content: string; displayOrder: number }[];
}

export interface MiniappPages {
  /** Null where questions are switched off or none has a visible text. */
  faq: MiniappFaq | null;
  /** Null where none has content; the built-in texts of the cabinet are not shown here. */
  legalDocuments: Record<'publicOffer' | 'serviceRules' | 'privacyPolicy', MiniappDocument | null> | null;
}

/** Questions and documents for the first page of the mini-app (spec 02 section 12.3). */
export async function readMiniappPages(app: App, language: string): Promise<MiniappPages> {
  const [faq, offer, rules, policy] = await Promise.all([
    readMiniappFaq(app, language),
    readPublishedDocument(app, 'public_offer', language),
    readPublishedRules(app, language),
    readPublishedDocument(app, 'privacy_policy', language),
  ]);
  const documents = {
    publicOffer: toDocument(offer, null),
    serviceRules: toDocument(rules, rules.document?.title ?? null),
    privacyPolicy: toDocument(policy, null),
  };
  return { faq, legalDocuments: Object.values(documents).some((document) => document !== null) ? documents : null };
}

type Shown = Published<Pick<MiniappDocument, 'language' | 'content' | 'createdAt' | 'updatedAt'>>;

function toDocument({ requestedLanguage, document }: Shown, title: string | null): MiniappDocument | null {
  if (document === null) return null;
  const { language, content, createdAt, updatedAt } = document;
  return { requestedLanguage, language, title, isEnabled: true, content, createdAt, updatedAt };
}

async function readMiniappFaq(app: App, language: string): Promise<MiniappFaq | null> {
  const { pages, isSwitchedOff, ...languages } = await readPublishedFaq(app, language);
  const { markup } = app.ports.messenger;
  const items = pages
    .filter(({ content }) => visibleText(content, markup).trim() !== '')
    .map(({ id, title, content, displayOrder }) => ({ id, title: title.trim() || null, content, displayOrder }));
  return isSwitchedOff || items.length === 0 ? null : { ...languages, isEnabled: true, total: items.length, items };
}
