import type { App } from '../../core/app.ts';
import { broadcastCondition } from '../audience/segments.ts';
import { attemptSend } from '../mass-sends/outcome.ts';
import { SharedFile } from '../mass-sends/run-send.ts';
import type { ClaimedRecipient, Deliver, SendKind, SendOutcome } from '../mass-sends/types.ts';
import { repairedHtml } from '../messaging/messenger-html.ts';
import type { Mail, MediaKind, MessengerButton } from '../messaging/ports.ts';
import { plainText } from '../messaging/templates/plain-text.ts';
import { escapeHtml, knownLanguage, text } from '../messaging/texts.ts';
import { announceProgress } from './announce-progress.ts';
import { readBroadcast } from './broadcasts.ts';
import { findBroadcast } from './repo.ts';
import { captionOf, keyboardOf } from './rules.ts';
import type { BroadcastRow } from './types.ts';
import { unsubscribeLinks } from './unsubscribe.ts';

/** Sends a broadcast through the messenger: one text or file, with the buttons in the recipient's language. Null without a messenger. */
function messengerPart(app: App, broadcast: BroadcastRow): Deliver | null {
  if (!app.ports.messenger.isConfigured()) return null;
  const keyboards = new Map<string, MessengerButton[][]>();
  const optionsFor = (language: string | null) => {
    const known = knownLanguage(language);
    const buttons = keyboards.get(known) ?? keyboardOf(app, broadcast, known);
    keyboards.set(known, buttons);
    return { buttons };
  };
  const { mediaType, mediaFileId } = broadcast;
  // Unlike other texts of operators, that of a broadcast is stored as it is, and one `<` would lose it for everybody.
  const html = repairedHtml(
    (mediaFileId === null ? broadcast.messageText : captionOf(broadcast)) ?? '',
    app.ports.messenger.markup,
  );
  const file = mediaType !== null && mediaFileId !== null ? new SharedFile(app, mediaFileId) : null;
  return async ({ messengerId, language }: ClaimedRecipient): Promise<SendOutcome> => {
    if (messengerId === null) return { state: 'failed' };
    const options = optionsFor(language);
    if (file === null) {
      return attemptSend((isPaced) => app.ports.messenger.sendMessage(messengerId, html, { ...options, isPaced }));
    }
    return attemptSend((isPaced) =>
      file.use(async (content) => {
        const sent = await app.ports.messenger.sendFile(messengerId, mediaType as MediaKind, content, html, {
          ...options,
          isPaced,
        });
        return { messageId: sent.messageId, fileId: sent.fileId };
      }),
    );
  };
}

/**
 * Sends a broadcast by e-mail, with the recipient's name and address in it and a way out of such mails (RFC 8058, spec 10 O2). Null without a
 * mail server.
 */
async function mailPart(app: App, broadcast: BroadcastRow, sendId: number): Promise<Deliver | null> {
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

/** Fills `{{user_name}}` and `{{email}}`; values are written for where they stand. */
function substituted(pattern: string, recipient: ClaimedRecipient, write: (value: string) => string): string {
  const values: Record<string, string> = { user_name: mailName(recipient), email: recipient.email ?? '' };
  return pattern.replace(/\{\{\s*(user_name|email)\s*\}\}/g, (_match, name: string) => write(values[name]!));
}

/** The username, else the name, else the part of the address before the `@`. */
function mailName({ username, firstName, lastName, email }: ClaimedRecipient): string {
  return username || [firstName, lastName].filter(Boolean).join(' ') || (email ?? '').split('@', 1)[0]!;
}

/** Broadcasts as the engine of mass sends knows them. */
export const broadcastKind: SendKind = {
  recipients: ({ channel, audience }, now) => broadcastCondition(channel, audience, now),
  repeatable: 'false',
  open: async (app, send) => {
    const broadcast = await findBroadcast(app.db, send.sourceId);
    if (!broadcast) return null;
    const deliver = send.channel === 'messenger' ? messengerPart(app, broadcast) : await mailPart(app, broadcast, send.id);
    // Who has switched off news since the preparation gets none.
    return deliver && (async (recipient) => (recipient.wantsNews ? deliver(recipient) : { state: 'failed' }));
  },
  announce: async (app, send) => announceProgress(app, await readBroadcast(app, send.sourceId)),
};
