import type { UserActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { refusal } from '../../core/errors.ts';
import { readSessionUser } from '../identity/authenticate.ts';
import { changeLanguage } from '../identity/preferences.ts';
import { normaliseLanguage, shortLanguage } from '../identity/rules.ts';
import { visibleText } from '../messaging/messenger-html.ts';
import { text } from '../messaging/texts.ts';
import { areTicketsEnabled } from '../tickets/ticket-settings.ts';
import {
  findPublishedPage,
  type Published,
  readPublishedDocument,
  readPublishedFaq,
  readPublishedRules,
} from './pages/published-pages.ts';
import { pageNotFound } from './pages/rules.ts';
import type { DocumentKind, FaqPage } from './pages/types.ts';

/** Name, description and contacts of the service, from the environment and one setting. */
export function readServiceInfo(app: App) {
  return { ...app.env.serviceInfo, supportMessenger: supportUsername(app) };
}

const TYPES = { tickets: 'tickets', contact: 'profile', both: 'both' } as const;

/** What clients decide by whether a user sees tickets. */
export function readSupportConfig(app: App) {
  return {
    ticketsEnabled: areTicketsEnabled(app),
    supportType: TYPES[app.settings.get('SUPPORT_SYSTEM_MODE')],
    supportUrl: null,
    supportUsername: supportUsername(app),
  };
}

function supportUsername(app: App): string | null {
  return app.settings.get('SUPPORT_USERNAME') || null;
}

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

export const languageNotOffered = refusal('language_not_offered', 400, 'Invalid language. Supported: ru, en, ua, zh, fa');

/** A language that users may choose. */
interface OfferedLanguage {
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

/** A document as the mini-app shows it, safe in a browser. @public named by the declarations of the client package */
export interface MiniappDocument {
  requestedLanguage: string;
  language: string;
  title: string | null;
  isEnabled: boolean;
  content: string;
  createdAt: Date;
  updatedAt: Date;
}

/** @public named by the declarations of the client package */
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
