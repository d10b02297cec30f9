import { stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { migrationsFolder } from '../composition/package-root.ts';
import type { App } from '../core/app.ts';
import { readSchemaFiles } from '../core/db/migrate.ts';
import { COMMAND_LINE } from '../core/process-env.ts';
import { findBackup, listBackups } from '../domain/backups/backup-folder.ts';
import { readTask, requestBackup, runTask } from '../domain/backups/backup-tasks.ts';
import { checkArchive } from '../domain/backups/check-archive.ts';
import { runDrill } from '../domain/backups/drill.ts';
import { isEncryptedFile } from '../domain/backups/read-archive.ts';
import { restoreBackup } from '../domain/backups/restore-backup.ts';
import { ArchiveRefused } from '../domain/backups/types.ts';
import { askSecret } from './ask-secret.ts';
import { alignColumns, type Command, type CommandCall, CommandError, EXIT } from './command.ts';
import { openBase, withApp } from './open-service.ts';

const LISTED = 200;

export const createBackupCommand: Command = {
  name: 'backup create',
  parameters: '',
  summary: 'Write a backup of everything into the folder of backups.',
  words: [0, 0],
  run: (call) =>
    withApp(call, async (app) => {
      const { taskId } = await requestBackup(app, null, 'cli');
      await runTask(app, taskId, new AbortController().signal);
      const task = await readTask(app, taskId);
      if (task.status === 'queued')
        throw new CommandError('A backup or a restore is running; the service makes this one afterwards.');
      if (task.status !== 'completed') throw new CommandError(task.message ?? 'The backup failed.');
      return { text: task.message, data: { filename: task.filePath, task_id: taskId } };
    }),
};

export const listBackupsCommand: Command = {
  name: 'backup list',
  parameters: '',
  summary: 'List the backups in the folder, newest first.',
  words: [0, 0],
  run: (call) =>
    withApp(call, async (app) => {
      const { items, total } = await listBackups(app, { limit: LISTED, offset: 0 });
      const rows = items.map(({ name, sizeBytes, metadata, error }) => [
        name,
        `${(sizeBytes / 1024 / 1024).toFixed(2)} MB`,
        error ?? `${metadata!.totalRecords} records, ${metadata!.origin}`,
      ]);
      const text =
        total === 0
          ? `There is no backup. Make one: ${COMMAND_LINE} backup create`
          : alignColumns([['NAME', 'SIZE', 'CONTENTS'], ...rows]);
      return {
        text,
        data: items.map(({ name, sizeBytes, metadata, error }) => ({
          filename: name,
          size_bytes: sizeBytes,
          records: metadata?.totalRecords ?? null,
          error,
        })),
      };
    }),
};

export const restoreBackupCommand: Command = {
  name: 'backup restore',
  parameters: 'NAME [--merge]',
  summary: 'Replace all data by that of a backup; all or nothing, verified before it counts.',
  details: [
    'All instances answer 503 meanwhile, and a backup of the present data is written first. NAME is a file in the folder of backups.',
    '',
    '--merge    updates and adds rows instead of replacing all of them',
  ].join('\n'),
  options: { merge: { type: 'boolean' } },
  words: [1, 1],
  run: (call) =>
    withApp(call, async (app) => {
      const path = await known(app, call.words[0]!);
      const result = await restoreBackup(app, path, { clearExisting: call.options.merge !== true, requestedBy: null });
      return { text: result.message, data: result, exitCode: result.success ? EXIT.ok : EXIT.failed };
    }),
};

export const drillCommand: Command = {
  name: 'backup drill',
  parameters: '',
  summary: 'Restore the newest backup into a temporary database, verify it and drop the database.',
  words: [0, 0],
  run: (call) =>
    withApp(call, async (app) => {
      const drill = await runDrill(app);
      return {
        text: `${drill.isOk ? 'The backup can be restored' : 'The drill FAILED'}: ${drill.name} ${drill.message}`,
        data: drill,
        exitCode: drill.isOk ? EXIT.ok : EXIT.failed,
      };
    }),
};

async function known(app: App, name: string): Promise<string> {
  return findBackup(
    app,
    name,
    () => new CommandError(`There is no backup ${name}. ${COMMAND_LINE} backup list shows all of them.`),
  );
}

export const checkArchiveCommand: Command = {
  name: 'backup check',
  parameters: 'FILE',
  summary: 'Verify a backup from its first to its last byte; opens no database and writes nothing.',
  details: [
    'FILE is a path; the service may run meanwhile. Checked are the form, every checksum and number of rows, and whether this release has the',
    "archive's migrations. Foreign keys and the ledger are checked by a restore and by backup drill.",
    '',
    'An encrypted archive needs BACKUP_ARCHIVE_PASSWORD in the environment; otherwise the password is asked for.',
  ].join('\n'),
  words: [1, 1],
  run: async (call) => {
    const path = resolve(call.words[0]!);
    if (!(await stat(path).catch(() => null))?.isFile()) throw new CommandError(`There is no file ${path}.`);
    const encrypted = await isEncryptedFile(path);
    const password = encrypted ? await passwordOf(call) : null;
    const { migrations } = await readSchemaFiles(migrationsFolder);
    const installed = { migrations: migrations.map(({ name }) => name), tables: null };
    try {
      const { metadata } = await checkArchive(path, { password }, installed);
      const { totalRecords: records, tablesCount: tables, files, timestamp, appVersion: version } = metadata;
      const made = `made ${timestamp.toISOString()} by release ${version}`;
      return {
        text: `${basename(path)} is complete: ${records} records of ${tables} tables and ${files.length} files, ${made}.`,
        data: { file: path, records, tables, files: files.length, made_at: timestamp.toISOString(), version, encrypted },
      };
    } catch (error) {
      if (error instanceof ArchiveRefused) throw new CommandError(`It cannot be restored. ${error.message}.`, { cause: error });
      throw error;
    }
  },
};

async function passwordOf(call: CommandCall): Promise<string> {
  const { env } = await openBase(call);
  return env.raw.BACKUP_ARCHIVE_PASSWORD ?? (await askSecret(call.terminal, 'Password of the archive: '));
}
