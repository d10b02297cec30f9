import { randomUUID } from 'node:crypto';
import { link, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { App } from '../../../core/app.ts';
import { SECOND_MS } from '../../../core/clock.ts';
import { claimStateLease, readState, releaseStateLease, writeState } from '../../../core/service-state.ts';
import { htmlText } from '../../messaging/texts.ts';
import { rotationFolders } from './log-paths.ts';
import { rotateFiles } from './rotate-files.ts';
import { lastDueDay } from './rotation-rules.ts';

/** Longest time of one step of a rotation; after it the process counts as dead and another one continues. */
const LEASE_MS = 600 * SECOND_MS;
/** More than the second after which an appender opens the new file, and than its wait before a write. */
const GRACE_MS = 3 * SECOND_MS;
/** Largest file that the messenger takes, with room for the request around it. */
const MAX_SENT_BYTES = 49 * 1024 * 1024;

/**
 * Rotates the log files of this process's folder when `LOG_ROTATION_TIME` has passed since the last time (spec 06 section 14). Instances
 * with a folder of their own rotate it themselves; of those that share a folder one does, by a lease in the database under the id that the
 * folder contains. What was due while no process ran is done after the start.
 * @returns paths of the new archives; null = not due, or another process does it
 */
export async function rotateWhenDue(app: App, graceMs = GRACE_MS): Promise<string[] | null> {
  const { settings } = app;
  if (!settings.get('LOG_ROTATION_ENABLED')) return null;
  const day = lastDueDay(app.clock.now(), settings.get('TIMEZONE'), settings.get('LOG_ROTATION_TIME'));
  const { current, archive } = rotationFolders(app);
  const folder = await folderId(archive);
  const [stateKey, leaseKey] = [`log_rotation:${folder}`, `log_rotation_lease:${folder}`];
  if (!(await isDue(app, stateKey, day))) return null;
  // The holder of the lease: this call.
  const instance = randomUUID();
  const keepLease = async () => {
    if (!(await claimStateLease(app.db, leaseKey, { instance }, LEASE_MS))) throw new Error('another process rotates these logs');
  };
  if (!(await claimStateLease(app.db, leaseKey, { instance }, LEASE_MS))) return null;
  try {
    // It may have ended between the look and the lease.
    if (!(await isDue(app, stateKey, day))) return null;
    const [keepDays, isCompressed] = [settings.get('LOG_ROTATION_KEEP_DAYS'), settings.get('LOG_ROTATION_COMPRESS')];
    const made = await rotateFiles({ current, archive, day, keepDays, isCompressed, graceMs, keepLease });
    await writeState(app.db, stateKey, { day });
    app.log.info({ archives: made.map((path) => basename(path)) }, 'the log files were rotated');
    for (const path of made) await sendArchive(app, path);
    return made;
  } finally {
    await releaseStateLease(app.db, leaseKey, instance);
  }
}

/** The first look at a folder only records the day. */
async function isDue(app: App, key: string, day: string): Promise<boolean> {
  const last = await readState<{ day: string }>(app.db, key);
  if (last === null) await writeState(app.db, key, { day });
  return last !== null && last.day < day;
}

/** The id that all processes with this folder read; the first one creates it. */
async function folderId(archive: string): Promise<string> {
  const path = join(archive, '.folder-id');
  await mkdir(archive, { recursive: true });
  const known = await readFile(path, 'utf8').catch(() => null);
  if (known !== null) return known;
  const draft = `${path}-${randomUUID()}`;
  await writeFile(draft, randomUUID(), { mode: 0o640 });
  // Fails where another process was first; a reader never meets an empty file.
  await link(draft, path).catch(() => undefined);
  await rm(draft, { force: true });
  return readFile(path, 'utf8');
}

/** Sends an archive to the chat of the settings. It is on disk in any case, so that a failure is only logged. */
async function sendArchive(app: App, path: string): Promise<void> {
  const { settings, ports } = app;
  const chat = (settings.get('LOG_ROTATION_CHAT_ID') || settings.get('BACKUP_SEND_CHAT_ID') || '').trim();
  if (!settings.get('LOG_ROTATION_SEND_TO_MESSENGER') || !ports.messenger.isConfigured() || !/^-?[1-9]\d{0,15}$/.test(chat))
    return;
  const threadId = settings.get('LOG_ROTATION_TOPIC_ID');
  const options = threadId ? { threadId } : {};
  const name = basename(path);
  try {
    const { size } = await stat(path);
    const html = htmlText(
      settings.get('DEFAULT_LANGUAGE'),
      size > MAX_SENT_BYTES ? 'messages.log_archive_too_large' : 'messages.log_archive',
      {
        name,
        megabytes: Math.ceil(size / 1024 / 1024),
      },
    );
    if (size > MAX_SENT_BYTES) await ports.messenger.sendMessage(Number(chat), html, options);
    else {
      const contentType = name.endsWith('.gz') ? 'application/gzip' : 'application/x-tar';
      const file = { name, contentType, bytes: await readFile(path) };
      await ports.messenger.sendFile(Number(chat), 'document', file, html, options);
    }
  } catch (error) {
    app.log.warn({ err: error, archive: name }, 'an archive of logs could not be sent to the chat');
  }
}
