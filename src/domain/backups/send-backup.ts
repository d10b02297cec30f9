import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { App } from '../../core/app.ts';
import { MessengerError } from '../messaging/ports.ts';
import { htmlText } from '../messaging/texts.ts';
import { backupFolder } from './folder.ts';
import { notifyAdministrators } from './notices.ts';

/** What the messenger takes of a bot. */
const MAX_DOCUMENT_BYTES = 50 * 1024 * 1024;

/**
 * Copies a backup to where the settings say: the storage off-site, and the chat of `BACKUP_SEND_CHAT_ID`. With `BACKUP_ARCHIVE_PASSWORD`
 * the file itself is encrypted, so nothing leaves the installation in the clear.
 * @throws Error when a place does not answer: the job is repeated; on the last try the administrators are told instead
 */
export async function sendBackup(app: App, name: string, isLastTry: boolean): Promise<void> {
  const path = join(backupFolder(app), name);
  const size = (await stat(path).catch(() => null))?.size;
  if (size === undefined) return;
  try {
    await app.ports.backupStore?.put(name, path, size);
    await sendToChat(app, name, path, size);
  } catch (error) {
    if (!isLastTry) throw error;
    app.log.error({ err: error, name }, 'a backup could not be copied off-site');
    await notifyAdministrators(app, 'not_sent', { name, reason: error instanceof Error ? error.message : String(error) });
  }
}

async function sendToChat(app: App, name: string, path: string, size: number): Promise<void> {
  const chat = (app.settings.get('BACKUP_SEND_CHAT_ID') ?? '').trim();
  if (!app.settings.get('BACKUP_SEND_ENABLED') || !/^-?[1-9]\d{0,15}$/.test(chat) || !app.ports.messenger.isConfigured()) return;
  if (size > MAX_DOCUMENT_BYTES) {
    await notifyAdministrators(app, 'not_sent', { name, reason: `${Math.ceil(size / 1024 / 1024)} MB > 50 MB` });
    return;
  }
  const threadId = app.settings.get('BACKUP_SEND_TOPIC_ID');
  const file = { name, contentType: 'application/octet-stream', bytes: await readFile(path) };
  const caption = htmlText(app.settings.get('DEFAULT_LANGUAGE'), 'backups.caption', { name });
  try {
    await app.ports.messenger.sendFile(Number(chat), 'document', file, caption, threadId ? { threadId } : {});
  } catch (error) {
    const isFinal = error instanceof MessengerError && !['rate_limited', 'unavailable'].includes(error.failure.kind);
    if (!isFinal) throw error;
    await notifyAdministrators(app, 'not_sent', { name, reason: error.message });
  }
}
