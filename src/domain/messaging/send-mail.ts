import type { App } from '../../core/app.ts';
import { SECOND_MS } from '../../core/clock.ts';
import type { Rows } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';
import { MailError } from './ports.ts';
import {
  type MailOverride,
  type MailParams,
  type MailType,
  type RenderedMail,
  renderMail,
  renderTemplate,
  type TemplateMailType,
} from './render-mail.ts';
import { templateLanguage } from './templates/template-variables.ts';
import type { TextParams } from './texts.ts';

/** How long a template is trusted: mails are queued under the locks of sales, where each statement is a round trip more. */
const TEMPLATE_TRUST_MS = 10 * SECOND_MS;

export interface MailRequest<M extends MailType> {
  to: string;
  /** The recipient's language; Russian for unknown ones. */
  language: string | null;
  type: M;
  params: MailParams<M>;
}

/**
 * Queues a mail in the caller's transaction: row and job are committed with it, and no outside system is called (spec 01 H10). Without a
 * configured mail system nothing is queued.
 * @returns whether the mail will be sent
 */
export async function sendMail<M extends MailType>(t: App, request: MailRequest<M>): Promise<boolean> {
  if (!t.ports.mail.isConfigured()) return false;
  const mail = await renderMailOf(t, request);
  await queueMail(t.db, request.to, request.type, mail, t.clock.now());
  return true;
}

/** The mail as it is sent: with the administrators' template of exactly its type and language, else with our text. */
export async function renderMailOf(
  t: App,
  { language, type, params }: { language: string | null; type: MailType; params: TextParams },
): Promise<RenderedMail> {
  return renderMail(language, type, params, frameOf(t), await findTemplate(t, { language, type }));
}

/** Queues a mail of a type without a built-in template, as `sendMail`. @returns false also when there is no active template */
export async function sendTemplateMail(
  t: App,
  request: { to: string; language: string | null; type: TemplateMailType; params: TextParams },
): Promise<boolean> {
  if (!t.ports.mail.isConfigured()) return false;
  const template = await findTemplate(t, request);
  if (template === null) return false;
  const mail = renderTemplate(request.language, request.params, frameOf(t), template);
  await queueMail(t.db, request.to, request.type, mail, t.clock.now());
  return true;
}

function findTemplate(t: App, { type, language }: { type: MailType | TemplateMailType; language: string | null }) {
  const exact = templateLanguage(language);
  return t.cache.read(templateCacheKey(type, exact), TEMPLATE_TRUST_MS, () => findMailOverride(t.db, type, exact));
}

/** Whoever changes a template forgets this key in the shared cache. */
export function templateCacheKey(type: MailType | TemplateMailType, language: string): string {
  return `mail-template:${type}:${language}`;
}

/** What surrounds the text of every mail. */
export function frameOf(t: App) {
  return { serviceName: t.settings.get('SMTP_FROM_NAME'), cabinetUrl: t.settings.get('CABINET_URL') };
}

/**
 * Sends a queued mail at least once. A mail that the server rejects is not retried; any other failure is.
 * @throws MailError when the queue is to retry
 */
export async function deliverMail(app: App, { mailId }: { mailId: number }): Promise<void> {
  const mail = await findWaitingMail(app.db, mailId);
  if (!mail) return;
  try {
    await app.ports.mail.send({ to: mail.recipient, subject: mail.subject, html: mail.html, text: mail.text });
  } catch (error) {
    const isFinal = error instanceof MailError && error.failure === 'rejected';
    await recordMailFailure(app.db, mailId, error instanceof Error ? error.message : String(error), isFinal);
    if (isFinal) {
      app.log.warn({ err: error, mailId }, 'a mail was rejected and will not be sent again');
      return;
    }
    throw error;
  }
  await markMailSent(app.db, mailId, app.clock.now());
}

/** Queues a mail with its job: in a transaction together with its events and jobs, else now. */
async function queueMail(
  db: Db,
  recipient: string,
  template: MailType | TemplateMailType,
  mail: RenderedMail,
  now: Date,
): Promise<void> {
  const queued = { ...mail, recipient, template, subject: mail.subject.slice(0, 500) };
  if (db.effects) db.effects.addMail(queued);
  else await db.sql('SELECT queue_mail($1::jsonb, $2::timestamptz) AS id', [JSON.stringify(queued), now]);
}

type WaitingMail = Pick<Rows['OutgoingMail'], 'recipient' | 'subject'> & RenderedMail;

/** Null when the mail has been sent, rejected or deleted. */
async function findWaitingMail(db: Db, id: number): Promise<WaitingMail | null> {
  const mail = await db.prisma.outgoingMail.findUnique({
    where: { id, sentAt: null },
    select: { recipient: true, subject: true, html: true, text: true },
  });
  return mail && mail.html !== null ? { ...mail, html: mail.html, text: mail.text ?? '' } : null;
}

/** Also deletes the body, which may contain a link or a code. */
async function markMailSent(db: Db, id: number, now: Date): Promise<void> {
  await db.prisma.outgoingMail.updateMany({ where: { id }, data: { sentAt: now, html: null, text: null, lastError: null } });
}

/** @param isFinal the mail will not be sent: its body is deleted */
async function recordMailFailure(db: Db, id: number, reason: string, isFinal: boolean): Promise<void> {
  const data = { lastError: reason.slice(0, 500), ...(isFinal && { html: null, text: null }) };
  await db.prisma.outgoingMail.updateMany({ where: { id }, data });
}

/** The administrators' template, if there is an active one. */
async function findMailOverride(
  db: Db,
  notificationType: MailType | TemplateMailType,
  language: string,
): Promise<MailOverride | null> {
  return db.prisma.emailTemplate.findUnique({
    where: { notificationType_language: { notificationType, language }, isActive: true },
    select: { subject: true, bodyHtml: true },
  });
}
