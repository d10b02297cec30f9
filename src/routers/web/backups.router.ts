import { z } from 'zod';
import { fileReply } from '../../core/http/http-client.ts';
import {
  type BackupFile,
  backupNotFound,
  deleteBackup,
  downloadBackup,
  findBackup,
  listBackups,
} from '../../domain/backups/backup-folder.ts';
import { backupTaskNotFound, readTask, readTasks, requestBackup } from '../../domain/backups/backup-tasks.ts';
import {
  fileTooLarge,
  fileTypeRefused,
  invalidFilename,
  restoreBackup,
  restoreUpload,
} from '../../domain/backups/restore-backup.ts';
import { auditedWebProcedure, router, webProcedure } from '../trpc.ts';
import { fromWire, toWire } from '../wire.ts';
import {
  BackupCreateResponse,
  BackupDeleteResponse,
  BackupListQuery,
  BackupListResponse,
  BackupPath,
  BackupRestoreInput,
  BackupRestoreResponse,
  BackupStatusPath,
  BackupStatusResponse,
  BackupTaskListResponse,
  BackupTasksQuery,
  BackupUploadInput,
} from './backups.schemas.ts';

const tags: [string] = ['backups'];
const managing = auditedWebProcedure('backups:manage');
/** Limits by the operation itself, `BACKUP_UPLOAD_MAX_MB`. */
const NO_LIMIT = Number.MAX_SAFE_INTEGER;

export const backupsRouter = router({
  list: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/backups', tags, summary: 'List backups' },
      description:
        'Lists the backups in the folder of `BACKUP_LOCATION`, newest first. A file that cannot be read is listed with the reason in `error`.',
    })
    .input(fromWire(BackupListQuery))
    .output(toWire(BackupListResponse))
    .query(async ({ ctx, input }) => {
      const { items, total } = await listBackups(ctx.app, input);
      return { items: items.map(infoOf), total, ...input };
    }),

  create: managing
    .meta({
      openapi: { method: 'POST', path: '/backups', tags, summary: 'Start a backup' },
      description:
        'Queues a backup of all tables and of the content of uploaded files, as of one moment. Backups are written one at a time; `GET /backups/status/{task_id}` shows when it is complete. The oldest beyond `BACKUP_MAX_KEEP` are deleted then. With `BACKUP_ARCHIVE_PASSWORD` the file is encrypted. The call is recorded in the audit log.',
    })
    .output(toWire(BackupCreateResponse))
    .mutation(({ ctx }) => requestBackup(ctx.app, ctx.actor, 'api')),

  status: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/backups/status/{task_id}', tags, summary: 'State of a backup' },
      description: 'Returns the state of a task that `POST /backups` or the schedule has created.',
      refuses: [backupTaskNotFound],
    })
    .input(fromWire(BackupStatusPath))
    .output(toWire(BackupStatusResponse))
    .query(({ ctx, input }) => readTask(ctx.app, input.taskId)),

  tasks: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/backups/tasks', tags, summary: 'List tasks of backups' },
      description: 'Lists tasks, oldest first, all of the last month or those that are queued or running.',
    })
    .input(fromWire(BackupTasksQuery))
    .output(toWire(BackupTaskListResponse))
    .query(async ({ ctx, input }) => {
      const items = await readTasks(ctx.app, input);
      return { items, total: items.length };
    }),

  download: managing
    .meta({
      openapi: { method: 'GET', path: '/backups/download/{filename}', tags, summary: 'Download a backup' },
      description: 'Downloads a backup as it is stored. The call is recorded in the audit log.',
      refuses: [backupNotFound],
      wire: { reply: 'file' },
    })
    .input(fromWire(BackupPath))
    .output(z.unknown())
    .query(async ({ ctx, input }) => {
      const { name, content } = await downloadBackup(ctx.app, input.filename);
      return fileReply({
        ...{ filename: name, contentType: 'application/octet-stream', body: content, acceptsRanges: true },
        headers: { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' },
      });
    }),

  restore: managing
    .meta({
      openapi: { method: 'POST', path: '/backups/restore/{filename}', tags, summary: 'Restore a backup' },
      description:
        'Restores a backup. The archive is checked to its last byte first; then all instances stop serving (503 with `Retry-After`), a safety backup is written, and the rows are replaced (`clear_existing`) or merged in one transaction, which is verified by row counts, checksums, foreign keys and the ledger check. Whatever is refused or fails is 200 with `success: false` and the reason, and the data is as before. API tokens, roles and superadmins of the running system are kept beside the restored ones; sessions end. The answer comes at the end, which can take minutes. The call is recorded in the audit log.',
      refuses: [backupNotFound],
      wire: { isPathExact: true },
    })
    .input(fromWire(BackupRestoreInput))
    .output(toWire(BackupRestoreResponse))
    .mutation(async ({ ctx, input }) => {
      const path = await findBackup(ctx.app, input.filename);
      return restoreBackup(ctx.app, path, { clearExisting: input.clearExisting, requestedBy: ctx.actor.tokenId });
    }),

  upload: managing
    .meta({
      openapi: { method: 'POST', path: '/backups/upload', tags, summary: 'Restore an archive that is sent' },
      description:
        'Restores an archive that is sent as form data, like `POST /backups/restore/{filename}`, and deletes it. It may have `BACKUP_UPLOAD_MAX_MB` megabytes. The call is recorded in the audit log.',
      refuses: [fileTypeRefused, invalidFilename, fileTooLarge],
      wire: { query: ['clear_existing'], multipart: { fileKey: 'file', maxBytes: NO_LIMIT, streams: true } },
      audit: { hide: ['file'] },
    })
    .input(fromWire(BackupUploadInput))
    .output(toWire(BackupRestoreResponse))
    .mutation(({ ctx, input }) => {
      const options = { clearExisting: input.clearExisting, requestedBy: ctx.actor.tokenId };
      return restoreUpload(ctx.app, input.file.filename, input.file.content, options);
    }),

  delete: managing
    .meta({
      openapi: { method: 'DELETE', path: '/backups/{filename}', tags, summary: 'Delete a backup' },
      description: 'Deletes a backup permanently. The call is recorded in the audit log.',
      refuses: [backupNotFound],
      wire: { isPathExact: true },
    })
    .input(fromWire(BackupPath))
    .output(toWire(BackupDeleteResponse))
    .mutation(async ({ ctx, input }) => {
      await deleteBackup(ctx.app, input.filename);
      return { success: true, message: `Backup ${input.filename} deleted` };
    }),
});

function infoOf({ name, sizeBytes, modifiedAt, metadata, error }: BackupFile) {
  return {
    filename: name,
    filepath: name,
    timestamp: metadata?.timestamp ?? modifiedAt,
    tablesCount: metadata?.tablesCount ?? null,
    totalRecords: metadata?.totalRecords ?? null,
    compressed: metadata?.compressed ?? name.endsWith('.gz'),
    fileSizeBytes: sizeBytes,
    fileSizeMb: Math.round((sizeBytes / 1024 / 1024) * 100) / 100,
    createdBy: metadata?.createdBy ?? null,
    databaseType: metadata?.databaseType ?? 'unknown',
    version: metadata?.formatVersion ?? 'unknown',
    error,
  };
}
