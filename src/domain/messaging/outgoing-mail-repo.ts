import type { Db } from '../../core/db/db.ts';
import type { MailOverride, MailType, RenderedMail } from './render-mail.ts';

export async function insertOutgoingMail(
  db: Db,
  recipient: string,
  template: MailType,
  mail: RenderedMail,
  now: Date,
): Promise<number> {
  const [row] = await db.sql<{ id: number }>(
    `INSERT INTO outgoing_mails (recipient, template, subject, html, text, created_at)
     VALUES ($1, $2, $3, $4, $5, $6::timestamptz) RETURNING id`,
    [recipient, template, mail.subject.slice(0, 500), mail.html, mail.text, now],
  );
  return row!.id;
}

export interface WaitingMail {
  recipient: string;
  subject: string;
  html: string;
  text: string;
}

/** Null when the mail has been sent, given up or deleted. */
export async function findWaitingMail(db: Db, id: number): Promise<WaitingMail | null> {
  const [row] = await db.sql<WaitingMail>(
    `SELECT recipient, subject, html, coalesce(text, '') AS text FROM outgoing_mails
     WHERE id = $1::int AND sent_at IS NULL AND html IS NOT NULL`,
    [id],
  );
  return row ?? null;
}

/** The body goes with the sending: it may hold a link or a code. */
export async function markMailSent(db: Db, id: number, now: Date): Promise<void> {
  await db.sql(
    'UPDATE outgoing_mails SET sent_at = $2::timestamptz, html = NULL, text = NULL, last_error = NULL WHERE id = $1::int RETURNING id',
    [id, now],
  );
}

/** @param isFinal the mail will never be sent: its body goes, too */
export async function noteMailFailure(db: Db, id: number, reason: string, isFinal: boolean): Promise<void> {
  await db.sql(
    `UPDATE outgoing_mails SET last_error = $2, html = CASE WHEN $3::boolean THEN NULL ELSE html END,
       text = CASE WHEN $3::boolean THEN NULL ELSE text END WHERE id = $1::int RETURNING id`,
    [id, reason.slice(0, 500), isFinal],
  );
}

/** The administrators' own wording, if there is an active one. */
export async function findMailOverride(db: Db, type: MailType, language: string): Promise<MailOverride | null> {
  const [row] = await db.sql<{ subject: string; bodyHtml: string }>(
    'SELECT subject, body_html FROM email_templates WHERE notification_type = $1 AND language = $2 AND is_active',
    [type, language],
  );
  return row ? { subject: row.subject, bodyHtml: row.bodyHtml } : null;
}
