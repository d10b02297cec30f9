import type { Rows } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';
import type { MailOverride, MailType, RenderedMail, TemplateMailType } from './render-mail.ts';

/** Queues a mail with its job: in a transaction together with its events and jobs, else now. */
export async function queueMail(
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

export type WaitingMail = Pick<Rows['OutgoingMail'], 'recipient' | 'subject'> & RenderedMail;

/** Null when the mail has been sent, rejected or deleted. */
export async function findWaitingMail(db: Db, id: number): Promise<WaitingMail | null> {
  const mail = await db.prisma.outgoingMail.findUnique({
    where: { id, sentAt: null },
    select: { recipient: true, subject: true, html: true, text: true },
  });
  return mail && mail.html !== null ? { ...mail, html: mail.html, text: mail.text ?? '' } : null;
}

/** Also deletes the body, which may contain a link or a code. */
export async function markMailSent(db: Db, id: number, now: Date): Promise<void> {
  await db.prisma.outgoingMail.updateMany({ where: { id }, data: { sentAt: now, html: null, text: null, lastError: null } });
}

/** @param isFinal the mail will not be sent: its body is deleted */
export async function recordMailFailure(db: Db, id: number, reason: string, isFinal: boolean): Promise<void> {
  const data = { lastError: reason.slice(0, 500), ...(isFinal && { html: null, text: null }) };
  await db.prisma.outgoingMail.updateMany({ where: { id }, data });
}

/** The administrators' template, if there is an active one. */
export async function findMailOverride(
  db: Db,
  notificationType: MailType | TemplateMailType,
  language: string,
): Promise<MailOverride | null> {
  return db.prisma.emailTemplate.findUnique({
    where: { notificationType_language: { notificationType, language }, isActive: true },
    select: { subject: true, bodyHtml: true },
  });
}
