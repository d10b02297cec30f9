import type { AdminActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { countCharacters } from '../../../core/characters.ts';
import { columns, type RowOf } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import { storableText } from '../../../core/db/storable-text.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { refusal } from '../../../core/errors.ts';
import { type RenderedMail, renderMail, renderTemplate } from '../render-mail.ts';
import { frameOf, templateCacheKey } from '../send-mail.ts';
import type { TextParams } from '../texts.ts';
import {
  isTemplateLanguage,
  isTemplateType,
  labelsOf,
  TEMPLATE_LANGUAGES,
  TEMPLATE_TYPES,
  TEMPLATE_VARIABLES,
  type TemplateLanguage,
  type TemplateType,
  templateLanguage,
} from './template-variables.ts';

/** All mails whose text can be replaced, in the order of the specification (spec 05 section 11.2). */
export async function listTemplates(app: App) {
  const stored = new Set((await listActiveTemplates(app.db)).map((row) => `${row.notificationType} ${row.language}`));
  return TEMPLATE_TYPES.map((type) => ({
    type,
    ...labelsOf(type),
    contextVars: TEMPLATE_VARIABLES[type],
    languages: ofLanguages((language) => ({ hasCustom: stored.has(`${type} ${language}`) })),
  }));
}

/** @throws AppError 404 `template_type_unknown` */
export async function readTemplate(app: App, type: string) {
  const known = knownTemplateType(type);
  const stored = new Map((await listTemplatesOf(app.db, known)).map((row) => [row.language, row]));
  return {
    notificationType: known,
    ...labelsOf(known),
    contextVars: TEMPLATE_VARIABLES[known],
    languages: ofLanguages((language) => {
      const { subject: defaultSubject, html: defaultBodyHtml } = builtInSample(app, known, language);
      const replaced = stored.get(language);
      const { subject, bodyHtml } = replaced ?? { subject: defaultSubject, bodyHtml: defaultBodyHtml };
      return { subject, bodyHtml, isDefault: replaced === undefined, defaultSubject, defaultBodyHtml };
    }),
  };
}

/** Our own mail of a type with example values. */
function builtInSample(app: App, type: TemplateType, language: string): RenderedMail {
  return renderMail(language, type, sampleValues(type), frameOf(app));
}

function ofLanguages<T>(make: (language: TemplateLanguage) => T): Record<TemplateLanguage, T> {
  return Object.fromEntries(TEMPLATE_LANGUAGES.map((language) => [language, make(language)])) as Record<TemplateLanguage, T>;
}

/** Longest `email_templates.language`. */
const MAX_LANGUAGE_LENGTH = 5;

/**
 * Stores a template as it is sent, in place of an earlier one; it applies to the next mail on every instance.
 * @throws AppError 404 `template_type_unknown` | 400 `template_language_unknown`
 */
export async function storeTemplate(
  app: App,
  _actor: AdminActor,
  {
    notificationType,
    language,
    subject,
    bodyHtml,
  }: { notificationType: string; language: string; subject: string; bodyHtml: string },
): Promise<StoredTemplate> {
  const type = knownTemplateType(notificationType);
  if (!isTemplateLanguage(language)) throw templateLanguageUnknown(language);
  const text = { subject: storableText(subject), bodyHtml: storableText(bodyHtml) };
  return inTransaction(app, async (t) => {
    const before = await lockTemplate(t.db, type, language);
    const after = await saveTemplate(t.db, { type, language, ...text }, t.clock.now());
    await t.cache.forget(t, [templateCacheKey(type, language)]);
    t.audit?.record({ resourceId: `${type}/${language}`, before: before && summaryOf(before), after: summaryOf(after) });
    return after;
  });
}

/**
 * Deletes a template; the next mail has our own text again. Deleting what does not exist is no error.
 * @returns whether there was one
 * @throws AppError 404 `template_type_unknown`
 */
export async function deleteTemplate(app: App, _actor: AdminActor, notificationType: string, language: string): Promise<boolean> {
  const type = knownTemplateType(notificationType);
  if (language.length > MAX_LANGUAGE_LENGTH || storableText(language) !== language) return false;
  return inTransaction(app, async (t) => {
    const before = await lockTemplate(t.db, type, language);
    const wasStored = await deleteTemplateRow(t.db, type, language);
    await t.cache.forget(t, [templateCacheKey(type, language)]);
    t.audit?.record({ resourceId: `${type}/${language}`, before: before && summaryOf(before), after: null });
    return wasStored;
  });
}

/** For the audit log: a body may have a megabyte. */
function summaryOf({ subject, bodyHtml, isActive }: StoredTemplate) {
  return { subject, bodyHtmlCharacters: countCharacters(bodyHtml), isActive };
}

/** The first element of a previewed page: it forbids scripts, frames, forms and requests except for pictures. */
const POLICY =
  `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src http: https: data:; ` +
  `style-src 'unsafe-inline' http: https:; font-src http: https: data:; form-action 'none'; base-uri 'none'">`;

/**
 * A template that is not stored yet, with example values; without a body, our own text. The page has a content
 * security policy, so that nothing in it runs where a client shows it in a frame of its own origin.
 * @throws AppError 404 `template_type_unknown`
 */
export function previewTemplate(
  app: App,
  {
    notificationType,
    language,
    subject,
    bodyHtml,
  }: { notificationType: string; language: string; subject: string; bodyHtml: string },
): { subject: string; bodyHtml: string } {
  const type = knownTemplateType(notificationType);
  const known = templateLanguage(language);
  const mail =
    bodyHtml === ''
      ? builtInSample(app, type, known)
      : renderTemplate(known, sampleValues(type), frameOf(app), { subject: subject === '' ? type : subject, bodyHtml }, type);
  return { subject: mail.subject, bodyHtml: withPolicy(mail.html) };
}

/** The policy counts only in the head, and only for what follows it. */
function withPolicy(html: string): string {
  const doctype = /^\s*<!doctype[^>]*>/i.exec(html)?.[0] ?? '';
  return doctype + POLICY + html.slice(doctype.length);
}

export const templateTypeUnknown = refusal('template_type_unknown', 404, 'Unknown template type: newsletter');

/** @throws AppError 404 `template_type_unknown` */
export function knownTemplateType(type: string): TemplateType {
  if (isTemplateType(type)) return type;
  throw templateTypeUnknown({ detail: `Unknown template type: ${type}` });
}

export const templateLanguageUnknown = refusal(
  'template_language_unknown',
  400,
  "Invalid language: newsletter. Available: ['ru', 'en', 'zh', 'ua', 'fa']",
  (language: string) => ({
    detail: `Invalid language: ${language}. Available: [${TEMPLATE_LANGUAGES.map((known) => `'${known}'`).join(', ')}]`,
  }),
);

/** Example values of all placeholders, for previews and test mails. */
const SAMPLES: TextParams = {
  formatted_amount: '500.00 ₽',
  amount_rubles: 500,
  formatted_balance: '1500.00 ₽',
  new_balance_rubles: 1500,
  required_amount: '500.00 ₽',
  current_balance: '100.00 ₽',
  formatted_bonus: '50.00 ₽',
  bonus_rubles: 50,
  days_left: 3,
  expires_at: '2025-01-30',
  new_expires_at: '2025-01-30',
  tariff_name: 'Premium',
  traffic_limit_gb: 100,
  device_limit: 3,
  period_days: 30,
  reason: 'Example reason',
  message: 'Example message',
  referral_name: 'Maria',
  reset_gb: 50,
  current_limit_gb: 100,
  payment_method: 'YooKassa',
  username: 'Maria',
  verification_url: 'https://example.com/verify-email?token=example',
  reset_url: 'https://example.com/reset-password?token=example',
  expire_hours: 24,
  code: '123456',
  expire_minutes: 15,
  cabinet_url: 'https://example.com/cabinet',
  success_page_url: 'https://example.com/buy/success/example',
  subscription_url: 'https://example.com/sub/example',
  gift_message: 'Happy birthday!',
  is_gift: 'true',
  cabinet_email: 'user@example.com',
  cabinet_password: 'example-password',
};

/** What our own text of a type has besides the placeholders of the list. */
const OF_OUR_TEXTS: Partial<Record<TemplateType, readonly string[]>> = {
  guest_subscription_delivered: ['subscription_url', 'success_page_url'],
  guest_gift_received: ['subscription_url', 'success_page_url'],
};

const BY_TYPE: Partial<Record<TemplateType, TextParams>> = {
  password_reset: { expire_hours: 1 },
  referral_registered: { percent: 25 },
};

/** Every placeholder of the type has a value. */
export function sampleValues(type: TemplateType): TextParams {
  const names = [...TEMPLATE_VARIABLES[type], ...(OF_OUR_TEXTS[type] ?? [])];
  return { ...Object.fromEntries(names.map((name) => [name, SAMPLES[name] ?? ''])), ...BY_TYPE[type] };
}

const TEMPLATE = columns('EmailTemplate', ['notificationType', 'language', 'subject', 'bodyHtml', 'isActive']);

/** A template of the administrators. */
type StoredTemplate = RowOf<typeof TEMPLATE>;

/** Which templates are in force; there are at most a few for each type. */
function listActiveTemplates(db: Db): Promise<Pick<StoredTemplate, 'notificationType' | 'language'>[]> {
  return db.prisma.emailTemplate.findMany({
    where: { isActive: true },
    select: { notificationType: true, language: true },
    orderBy: { id: 'asc' },
  });
}

/** The templates of one type that are in force. */
function listTemplatesOf(db: Db, type: TemplateType): Promise<StoredTemplate[]> {
  return db.sql<StoredTemplate>(
    `SELECT ${TEMPLATE.of()} FROM email_templates WHERE notification_type = $1 AND is_active ORDER BY id`,
    [type],
  );
}

/** The stored template of a type and language, locked until the end of the transaction. */
async function lockTemplate(db: Db, type: TemplateType, language: string): Promise<StoredTemplate | null> {
  const [row] = await db.sql<StoredTemplate>(
    `SELECT ${TEMPLATE.of()} FROM email_templates WHERE notification_type = $1 AND language = $2 FOR UPDATE`,
    [type, language],
  );
  return row ?? null;
}

/** Stores a template and puts it in force. */
async function saveTemplate(
  db: Db,
  template: { type: TemplateType; language: TemplateLanguage; subject: string; bodyHtml: string },
  now: Date,
): Promise<StoredTemplate> {
  const { type, language, subject, bodyHtml } = template;
  const [row] = await db.sql<StoredTemplate>(
    `INSERT INTO email_templates (notification_type, language, subject, body_html, is_active, created_at, updated_at)
     VALUES ($1, $2, $3, $4, true, $5::timestamptz, $5::timestamptz)
     ON CONFLICT (notification_type, language) DO UPDATE
       SET subject = EXCLUDED.subject, body_html = EXCLUDED.body_html, is_active = true, updated_at = EXCLUDED.updated_at
     RETURNING ${TEMPLATE.of()}`,
    [type, language, subject, bodyHtml, now],
  );
  return row!;
}

/** @returns whether there was one */
async function deleteTemplateRow(db: Db, type: TemplateType, language: string): Promise<boolean> {
  const { count } = await db.prisma.emailTemplate.deleteMany({ where: { notificationType: type, language } });
  return count > 0;
}
