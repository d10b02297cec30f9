import type { App } from '../../core/app.ts';
import { attemptSend } from '../mass-sends/outcome.ts';
import type { ClaimedRecipient, Deliver, SendOutcome } from '../mass-sends/types.ts';
import { plainText } from '../messaging/templates/plain-text.ts';
import { escapeHtml } from '../messaging/texts.ts';
import type { BroadcastRow } from './types.ts';

/** Sends a broadcast by e-mail, with the recipient's name and address in it. Null without a mail server. */
export function mailPart(app: App, broadcast: BroadcastRow): Deliver | null {
  if (!app.ports.mail.isConfigured()) return null;
  const { emailSubject, emailHtmlContent } = broadcast;
  return async (recipient): Promise<SendOutcome> => {
    const { email, emailVerified } = recipient;
    // Since the preparation the address may have been removed or changed.
    if (email === null || emailVerified !== true) return { state: 'failed' };
    const html = substituted(emailHtmlContent ?? '', recipient, escapeHtml);
    const subject = substituted(emailSubject ?? '', recipient, (value) => value.replace(/[\r\n]+/g, ' '));
    return attemptSend(async () => {
      await app.ports.mail.send({ to: email, subject, html, text: plainText(html) });
      return { messageId: null };
    });
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
