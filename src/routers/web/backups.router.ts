import { z } from 'zod';
import { fileReply } from '../../core/http/replies.ts';
import { readTask, readTasks, requestBackup } from '../../domain/backups/backup-tasks.ts';
import type { BackupFile } from '../../domain/backups/folder.ts';
import { findBackup } from '../../domain/backups/folder.ts';
import { deleteBackup, downloadBackup, listBackups } from '../../domain/backups/manage-backups.ts';
import { restoreBackup } from '../../domain/backups/restore-backup.ts';
import { restoreUpload } from '../../domain/backups/upload-backup.ts';
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
    .meta({ openapi: { method: 'GET', path: '/backups', tags, summary: 'List backups' } })
    .input(fromWire(BackupListQuery))
    .output(toWire(BackupListResponse))
    .query(async ({ ctx, input }) => {
      const { items, total } = await listBackups(ctx.app, input);
      return { items: items.map(infoOf), total, ...input };
    }),

  create: managing
    .meta({ openapi: { method: 'POST', path: '/backups', tags, summary: 'Start a backup' } })
    .output(toWire(BackupCreateResponse))
    .mutation(({ ctx }) => requestBackup(ctx.app, ctx.actor, 'api')),

  status: webProcedure
    .meta({ openapi: { method: 'GET', path: '/backups/status/{task_id}', tags, summary: 'State of a backup' } })
    .input(fromWire(BackupStatusPath))
    .output(toWire(BackupStatusResponse))
    .query(({ ctx, input }) => readTask(ctx.app, input.taskId)),

  tasks: webProcedure
    .meta({ openapi: { method: 'GET', path: '/backups/tasks', tags, summary: 'List tasks of backups' } })
    .input(fromWire(BackupTasksQuery))
    .output(toWire(BackupTaskListResponse))
    .query(async ({ ctx, input }) => {
      const items = await readTasks(ctx.app, input);
      return { items, total: items.length };
    }),

  download: managing
    .meta({
      openapi: { method: 'GET', path: '/backups/download/{filename}', tags, summary: 'Download a backup' },
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
