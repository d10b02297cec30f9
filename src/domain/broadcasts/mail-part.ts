import type { App } from '../../core/app.ts';
import { attemptSend } from '../mass-sends/outcome.ts';
import type { ClaimedRecipient, Deliver, SendOutcome } from '../mass-sends/types.ts';
import type { Mail } from '../messaging/ports.ts';
import { plainText } from '../messaging/templates/plain-text.ts';
import { escapeHtml, text } from '../messaging/texts.ts';
import type { BroadcastRow } from './types.ts';
import { unsubscribeLinks } from './unsubscribe.ts';

/**
 * Sends a broadcast by e-mail, with the recipient's name and address in it and a way out of such mails (RFC 8058, spec 10 O2). Null without a
 * mail server.
 */
export async function mailPart(app: App, broadcast: BroadcastRow, sendId: number): Promise<Deliver | null> {
  if (!app.ports.mail.isConfigured()) return null;
  const { emailSubject, emailHtmlContent } = broadcast;
  const linkFor = await unsubscribeLinks(app, sendId);
  if (linkFor === null) app.log.warn({ sendId }, 'mails of a broadcast have no link to unsubscribe: WEBHOOK_URL is not set');
  return async (recipient): Promise<SendOutcome> => {
    const { email, emailVerified } = recipient;
    // Since the preparation the address may have been removed or changed.
    if (email === null || emailVerified !== true) return { state: 'failed' };
    const html = substituted(emailHtmlContent ?? '', recipient, escapeHtml);
    const subject = substituted(emailSubject ?? '', recipient, (value) => value.replace(/[\r\n]+/g, ' '));
    const mail = { to: email, subject, html, text: plainText(html) };
    const link = linkFor?.(recipient.userId);
    return attemptSend(async () => {
      await app.ports.mail.send(link === undefined ? mail : withWayOut(mail, link, recipient.language));
      return { messageId: null };
    });
  };
}

/** Adds the link as header fields, which mail programs show as a button, and as a line of both bodies. */
function withWayOut(mail: Mail, link: string, language: string | null): Mail {
  const reason = text(language, 'mail.broadcast_reason');
  const label = text(language, 'mail.broadcast_unsubscribe');
  const line = `<p style="margin:24px 0 0;font-size:12px;text-align:center;color:#5b6577">${escapeHtml(reason)} <a href="${escapeHtml(link)}">${escapeHtml(label)}</a></p>`;
  const end = [...mail.html.matchAll(/<\/body\s*>/gi)].at(-1)?.index ?? -1;
  return {
    ...mail,
    html: end < 0 ? `${mail.html}\n${line}` : `${mail.html.slice(0, end)}${line}\n${mail.html.slice(end)}`,
    text: `${mail.text}\n\n${reason} ${label}: ${link}\n`,
    headers: { 'List-Unsubscribe': `<${link}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' },
  };
}

/** Fills `{{user_name}}` and `{{email}}`; values are written for where they stand (spec 05 section 3.5). */
function substituted(pattern: string, recipient: ClaimedRecipient, write: (value: string) => string): string {
  const values: Record<string, string> = { user_name: mailName(recipient), email: recipient.email ?? '' };
  return pattern.replace(/\{\{\s*(user_name|email)\s*\}\}/g, (_match, name: string) => write(values[name]!));
}

/** The username, else the name, else the part of the address before the `@`. */
function mailName({ username, firstName, lastName, email }: ClaimedRecipient): string {
  return username || [firstName, lastName].filter(Boolean).join(' ') || (email ?? '').split('@', 1)[0]!;
}
