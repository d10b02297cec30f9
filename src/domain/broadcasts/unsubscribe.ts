/** The way out of broadcast mails: a signed link in each, which switches off news without a sign-in (RFC 8058, spec 10 O2). */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { App } from '../../core/app.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { storedSecret } from '../../core/stored-secret.ts';
import { recordUnsubscribed } from '../mass-sends/control-sends.ts';
import { publicBase } from '../messaging/send-message.ts';
import { switchOffNews } from '../users/notifications/notifications.ts';

/** Row of `service_state`. */
const SECRET = 'broadcasts:unsubscribe-secret';
const TOKEN = /^([1-9]\d{0,9})\.([1-9]\d{0,9})\.([\w-]{22})$/;

/**
 * Makes the links of one mass send. They do not expire, since mails are read for months.
 * @returns null without a public address of the service, to which readers of mail could come
 */
export async function unsubscribeLinks(app: App, sendId: number): Promise<((userId: number) => string) | null> {
  const base = app.settings.get('WEBHOOK_URL') || app.ports.instance.sandboxKinds().includes('mail') ? publicBase(app) : null;
  if (base === null) return null;
  const secret = await storedSecret(app, SECRET);
  return (userId) => `${base}/unsubscribe/${sendId}.${userId}.${signature(secret, sendId, userId)}`;
}

/** Whether a link is one of this service. */
export async function isUnsubscribeToken(app: App, token: string): Promise<boolean> {
  return (await readToken(app, token)) !== null;
}

/**
 * Switches off news for the recipient whom the link names, and counts that in the broadcast once. Repeats do nothing more; an account that is
 * gone gets no mail anyway.
 * @returns false when the link is none of this service
 */
export async function unsubscribe(app: App, token: string): Promise<boolean> {
  const link = await readToken(app, token);
  if (link === null) return false;
  await inTransaction(app, async (t) => {
    await recordUnsubscribed(t, link);
    await switchOffNews(t, link.userId);
  });
  return true;
}

async function readToken(app: App, token: string): Promise<{ sendId: number; userId: number } | null> {
  const [, sendId, userId, given] = TOKEN.exec(token) ?? [];
  if (given === undefined) return null;
  const link = { sendId: Number(sendId), userId: Number(userId) };
  const expected = signature(await storedSecret(app, SECRET), link.sendId, link.userId);
  if (!timingSafeEqual(Buffer.from(expected), Buffer.from(given))) return null;
  return link;
}

function signature(secret: string, sendId: number, userId: number): string {
  return createHmac('sha256', secret).update(`${sendId}\n${userId}`).digest('base64url').slice(0, 22);
}
