import type { App } from '../../core/app.ts';
import { SECOND_MS } from '../../core/clock.ts';
import { findMailOverride, findWaitingMail, markMailSent, queueMail, recordMailFailure } from './outgoing-mail-repo.ts';
import { MailError } from './ports.ts';
import {
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
