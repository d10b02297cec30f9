import { z } from 'zod';
import { fileReply } from '../../core/http/http-client.ts';
import { FORM_REFUSALS } from '../../core/http/request-refusals.ts';
import { isStreamedFile, type StreamedFile } from '../../core/http/uploads.ts';
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
  filenameRequired,
  fileTooLarge,
  fileTypeRefused,
  invalidFilename,
  restoreBackup,
  restoreUpload,
  uploadNotStored,
} from '../../domain/backups/restore-backup.ts';
import { Timestamp } from '../shared.schemas.ts';
import { auditedWebProcedure, router, webProcedure } from '../trpc.ts';
import { fromWire, toWire, withBody } from '../wire.ts';
import { BackupCreateResponse, BackupTaskListResponse, BackupTasksQuery, backupTask } from './backups.schemas.ts';

/** Contract group `backups`. */

const BackupListQuery = z.object({
  limit: z.int().min(1).max(200).default(50).describe('Greatest number of records in the answer.'),
  offset: z.int().min(0).default(0).describe('Number of records to skip.'),
});

const BackupInfo = z
  .object({
    filename: z.string().describe('Name of the file, by which it is downloaded, restored and deleted.'),
    filepath: z.string().describe('Name of the file relative to the folder of backups.'),
    timestamp: Timestamp.nullish().describe(
      'Moment of the data in it (UTC); of a file that cannot be read, the time of its last change.',
    ),
    tables_count: z.int().nullish().describe('Number of tables in it; null for a file that cannot be read.'),
    total_records: z.int().nullish().describe('Number of rows in it; null for a file that cannot be read.'),
    compressed: z.boolean().describe('Whether the archive is packed with gzip.'),
    file_size_bytes: z.int().describe('Size in bytes.'),
    file_size_mb: z.number().describe('Size in megabytes (2^20 bytes), 2 decimals.'),
    created_by: z
      .int()
      .nullish()
      .describe('Id of the API token that requested it; null for one of the schedule or the command line.'),
    database_type: z.string().nullish().describe('Always `postgresql`; `unknown` for a file that cannot be read.'),
    version: z.string().nullish().describe('Version of the format, `3.0`; `unknown` for a file that cannot be read.'),
    error: z.string().nullish().describe('Why the file cannot be read; null for a readable one.'),
  })
  .meta({ id: 'BackupInfo' });

const BackupListResponse = z
  .object({
    items: z.array(BackupInfo).describe('Backups in the folder of `BACKUP_LOCATION`, newest first.'),
    total: z.int().describe('Number of backups in the folder.'),
    limit: z.int().describe('Page size that was applied.'),
    offset: z.int().describe('Number of records skipped before this page.'),
  })
  .meta({ id: 'BackupListResponse' });

const BackupStatusPath = z.object({ task_id: z.string().describe('Id of the task, as `POST /backups` answers it.') });
const BackupStatusResponse = z.object(backupTask).meta({ id: 'BackupStatusResponse' });

const BackupPath = z.object({ filename: z.string().describe('Name of the backup, as the list shows it.') });

const BackupRestoreRequest = z
  .object({
    clear_existing: z
      .boolean()
      .default(false)
      .describe(
        'true: all rows of the tables in the archive are replaced. false: rows whose primary key exists are updated, except in the ledger, the audit log and the events, others are added; where another unique key clashes, nothing is restored.',
      ),
  })
  .meta({ id: 'BackupRestoreRequest' });
const BackupRestoreInput = withBody(BackupPath, BackupRestoreRequest);

const BackupRestoreResponse = z
  .object({
    success: z.boolean().describe('Whether the archive was restored. false: nothing was changed.'),
    message: z.string().describe('What was restored, or the reason of the refusal.'),
    tables_restored: z.int().nullish().describe('Number of tables that got rows; null when nothing was changed.'),
    records_restored: z.int().nullish().describe('Number of rows that were written; null when nothing was changed.'),
  })
  .meta({ id: 'BackupRestoreResponse' });

const BackupUploadInput = z.object({
  file: z
    .custom<StreamedFile>(isStreamedFile)
    .meta({ override: { type: 'string', format: 'binary' } })
    .describe('The archive: `.tar.gz` or `.tar` of this service.'),
  clear_existing: z
    .boolean()
    .default(false)
    .describe(
      'true: all rows of the tables in the archive are replaced. false: rows whose primary key exists are updated, except in the ledger, the audit log and the events, others are added; where another unique key clashes, nothing is restored.',
    ),
});

const BackupDeleteResponse = z
  .object({ success: z.boolean().describe('Always true.'), message: z.string().describe('Says which backup was deleted.') })
  .meta({ id: 'BackupDeleteResponse' });

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
      refuses: [...FORM_REFUSALS, filenameRequired, fileTypeRefused, invalidFilename, fileTooLarge, uploadNotStored],
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
