import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Actor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { addDays, addMs, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../core/clock.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { refusal } from '../../core/errors.ts';
import { hexToken } from '../../core/random.ts';
import { lockState, readState, writeState } from '../../core/service-state.ts';
import { adminChat } from '../messaging/admin-chat.ts';
import { MessengerError } from '../messaging/ports.ts';
import { sendMessage } from '../messaging/send-message.ts';
import { htmlText, type TextKey } from '../messaging/texts.ts';
import { backupFolder, listBackupNames, readBackupFile, removeBackup } from './backup-folder.ts';
import {
  deleteTasksBefore,
  failRunningTasks,
  findTask,
  hasLastScheduledFailed,
  insertTask,
  listLostTasks,
  listTasks,
  updateTask,
} from './repo.ts';
import { type TakenBackup, takeBackup } from './take-backup.ts';
import type { BackupOrigin, BackupTask } from './types.ts';

export const backupTaskNotFound = refusal('backup_task_not_found', 404, 'Task not found');

const KEPT_TASK_DAYS = 30;
/** A task whose jobs ended so often without its beginning is not queued again. */
const MAX_DEATHS = 3;
/** A queued backup waits so long for another one, or for a restore. */
const TRY_AGAIN_MS = 5 * SECOND_MS;

/** Queues a backup; the answer does not wait for it. */
export function requestBackup(app: App, actor: Actor | null, origin: BackupOrigin): Promise<BackupTask> {
  const createdBy = actor?.kind === 'token' ? actor.tokenId : null;
  return inTransaction(app, async (t) => {
    const task = await insertTask(t.db, { taskId: hexToken(t.random, 16), origin, createdBy }, t.clock.now());
    await t.jobs.send('backups.create', { taskId: task.taskId });
    t.audit?.record({ resourceId: task.taskId, before: null, after: { task_id: task.taskId, origin } });
    return task;
  });
}

/** @throws AppError 404 */
export async function readTask(app: App, taskId: string): Promise<BackupTask> {
  const task = /^[0-9a-f]{32}$/.test(taskId) ? await findTask(app.db, taskId) : null;
  if (!task) throw backupTaskNotFound();
  return task;
}

/** Oldest first. */
export function readTasks(app: App, { activeOnly }: { activeOnly: boolean }): Promise<BackupTask[]> {
  return listTasks(app.db, activeOnly);
}

/** Runs a queued backup, one at a time in the whole cluster; while another one or a restore is under way, it is queued again. */
export async function runTask(app: App, taskId: string, signal: AbortSignal): Promise<void> {
  const work = await app.db.long!.alone(async (session) => {
    // The one who may work knows that nobody else does.
    await failRunningTasks(app.db, INTERRUPTED, app.clock.now());
    if (!(await updateTask(app.db, taskId, { status: 'running' }, app.clock.now()))) return;
    const task = (await findTask(app.db, taskId))!;
    let backup: TakenBackup;
    try {
      backup = await takeBackup(app, session, task, signal);
    } catch (error) {
      // Any failure: it ends the task, which says so, and the administrators are notified.
      const reason = signal.aborted ? INTERRUPTED : 'The backup failed, see the log';
      app.log.error({ err: error, taskId }, 'a backup failed');
      await updateTask(app.db, taskId, { status: 'failed', message: reason }, app.clock.now());
      await notifyAdministrators(app, 'create_failed', { reason });
      return;
    }
    // Before anybody else may work, who would take the task for one that was interrupted.
    await finishTask(app, taskId, backup);
  });
  if (work === null) await app.jobs.send('backups.create', { taskId }, { startAfter: addMs(app.clock.now(), TRY_AGAIN_MS) });
}

const INTERRUPTED = 'The process ended before the backup was complete';

async function finishTask(app: App, taskId: string, backup: TakenBackup): Promise<void> {
  const { name, sizeBytes, metadata } = backup;
  const megabytes = (sizeBytes / 1024 / 1024).toFixed(2);
  const message = `Backup ${name}: ${metadata.totalRecords} records of ${metadata.tablesCount} tables, ${megabytes} MB`;
  app.log.info({ name, records: metadata.totalRecords, sizeBytes }, 'a backup was created');
  await inTransaction(app, async (t) => {
    await updateTask(t.db, taskId, { status: 'completed', message, filePath: name }, t.clock.now());
    await writeState(t.db, LAST_BACKUP, { name, at: metadata.timestamp.toISOString() });
    await t.jobs.send('backups.send', { name });
  });
  await notifyAdministrators(app, 'created', { name, records: metadata.totalRecords, megabytes });
  await prune(app);
}

/** Keeps the newest `BACKUP_MAX_KEEP` backups, and as many safety backups, which do not count among them; and the tasks of a month. */
async function prune(app: App): Promise<void> {
  const keep = app.settings.get('BACKUP_MAX_KEEP');
  const kept = { ordinary: 0, safety: 0 };
  for (const name of await listBackupNames(app)) {
    const file = await readBackupFile(app, name);
    // What cannot be read was put there by somebody, and is not ours to delete.
    if (!file?.metadata) continue;
    const kind = file.metadata.origin === 'safety' ? 'safety' : 'ordinary';
    kept[kind] += 1;
    if (kept[kind] > keep) await removeBackup(join(backupFolder(app), name));
  }
  await deleteTasksBefore(app.db, addDays(app.clock.now(), -KEPT_TASK_DAYS));
}

async function giveUp(app: App, taskId: string): Promise<void> {
  if (!(await updateTask(app.db, taskId, { status: 'failed', message: INTERRUPTED }, app.clock.now()))) return;
  app.log.error({ taskId, jobs: MAX_DEATHS }, 'a backup was given up: its process ended each time before it began');
  await notifyAdministrators(app, 'create_failed', { reason: INTERRUPTED });
}

/**
 * Ends tasks whose process died, and queues those again that wait for a job that is no more (spec 10 F4), unless each of
 * three jobs ended so: what ends the process must not do so for ever. Nothing that runs ends while a
 * backup or a restore is under way.
 */
async function endInterruptedTasks(app: App): Promise<void> {
  for (const { taskId, deaths } of await listLostTasks(app.db)) {
    if (deaths < MAX_DEATHS) await app.jobs.send('backups.create', { taskId });
    else await giveUp(app, taskId);
  }
  if (!(await listTasks(app.db, true)).some(({ status }) => status === 'running')) return;
  await app.db.long!.alone(() => failRunningTasks(app.db, INTERRUPTED, app.clock.now()));
}

/** Rows of `service_state`; neither backed up nor restored. */
const LAST_BACKUP = 'backups:last';
export const LAST_DRILL = 'backups:drill';

/** How the last drill ended. */
export interface DrillResult {
  /** ISO 8601, UTC. */
  at: string;
  isOk: boolean;
  /** Of the backup. */
  name: string;
  message: string;
}

/** What is known about backups, on any instance. */
export async function readBackupHealth({ db, clock }: Pick<App, 'db' | 'clock'>) {
  const last = await readState<{ name: string; at: string }>(db, LAST_BACKUP);
  const drill = await readState<DrillResult>(db, LAST_DRILL);
  const aged = (at: string) => ({
    at: new Date(at),
    ageSeconds: Math.max(0, (clock.now().getTime() - Date.parse(at)) / SECOND_MS),
  });
  return { last: last && { name: last.name, ...aged(last.at) }, drill: drill && { ...drill, ...aged(drill.at) } };
}

type BackupNotice = 'created' | 'create_failed' | 'restored' | 'restore_failed' | 'drill_failed' | 'not_sent';

/**
 * Queues a notice to the administrators' chat, topic infrastructure (spec 06 section 7). A notice that cannot be queued is logged: what it
 * is about is done, or has failed already.
 */
export async function notifyAdministrators(
  app: App,
  notice: BackupNotice,
  values: Record<string, string | number>,
): Promise<void> {
  const chat = adminChat(app, 'ADMIN_NOTIFICATIONS_INFRASTRUCTURE_TOPIC_ID');
  if (chat === null) return;
  const html = htmlText(app.settings.get('DEFAULT_LANGUAGE'), `backups.${notice}` as TextKey, values);
  // Any failure: of a notice; the backup or restore has its own result.
  await inTransaction(app, (t) => sendMessage(t, { ...chat, html })).catch((error: unknown) =>
    app.log.warn({ err: error }, 'a notice about a backup could not be queued'),
  );
}

/** What the messenger accepts of a bot. */
const MAX_DOCUMENT_BYTES = 50 * 1024 * 1024;

/**
 * Copies a backup to where the settings say: the storage off-site, and the chat of `BACKUP_SEND_CHAT_ID`. With `BACKUP_ARCHIVE_PASSWORD`
 * the file itself is encrypted, so nothing leaves the installation in the clear.
 * @throws Error when a place does not answer: the job is repeated; on the last try the administrators are notified instead
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

/** Row of `service_state`. */
const KEY = 'backups:schedule';
const DEFAULT_TIME = '03:00';

interface Slot {
  /** Counts the intervals since the first `BACKUP_TIME` of 1970. */
  number: number;
  /** Of the settings by which it is counted. */
  plan: string;
  /** The number of the last slot whose backup was repeated. */
  repeated?: number;
}

/**
 * Queues a backup when one is due: at `BACKUP_TIME` (UTC) and then every `BACKUP_INTERVAL_HOURS`. The first one, and
 * the first after a change of these settings, is that of the next due time. Of all instances one queues it. A backup whose process died is
 * repeated once (spec 10 F4).
 */
export async function queueDueBackup(app: App): Promise<void> {
  await endInterruptedTasks(app);
  if (!app.settings.get('BACKUP_AUTO_ENABLED')) return;
  const current = currentSlot(app);
  await inTransaction(app, async (t) => {
    const stored = await lockState<Slot>(t.db, KEY);
    if (stored.plan === current.plan && (stored.number ?? 0) >= current.number) {
      if (stored.repeated === stored.number || !(await hasLastScheduledFailed(t.db, INTERRUPTED))) return;
      await writeState(t.db, KEY, { ...stored, repeated: stored.number });
      await requestBackup(t, null, 'schedule');
      return;
    }
    await writeState(t.db, KEY, current);
    if (stored.plan === current.plan) await requestBackup(t, null, 'schedule');
  });
}

function currentSlot({ clock, settings }: App): Slot {
  const hours = settings.get('BACKUP_INTERVAL_HOURS');
  const [, hour, minute] =
    /^([01]?\d|2[0-3]):([0-5]\d)$/.exec(settings.get('BACKUP_TIME')) ?? /^(\d\d):(\d\d)$/.exec(DEFAULT_TIME)!;
  const first = Number(hour) * HOUR_MS + Number(minute) * MINUTE_MS;
  return { number: Math.floor((clock.now().getTime() - first) / (hours * HOUR_MS)), plan: `${hour}:${minute} ${hours}` };
}
