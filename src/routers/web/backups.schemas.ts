import { z } from 'zod';
import { isStreamedFile, type StreamedFile } from '../../core/http/uploads.ts';
import { withBody } from '../wire.ts';

/** Contract group `backups` (spec 06 section 7). */

export const BackupListQuery = z.object({
  limit: z.int().min(1).max(200).default(50),
  offset: z.int().min(0).default(0),
});

const BackupInfo = z
  .object({
    filename: z.string(),
    filepath: z.string(),
    timestamp: z.date().nullish(),
    tables_count: z.int().nullish(),
    total_records: z.int().nullish(),
    compressed: z.boolean(),
    file_size_bytes: z.int(),
    file_size_mb: z.number(),
    created_by: z.int().nullish(),
    database_type: z.string().nullish(),
    version: z.string().nullish(),
    error: z.string().nullish(),
  })
  .meta({ id: 'BackupInfo' });

export const BackupListResponse = z
  .object({ items: z.array(BackupInfo), total: z.int(), limit: z.int(), offset: z.int() })
  .meta({ id: 'BackupListResponse' });

export const BackupCreateResponse = z.object({ task_id: z.string(), status: z.string() }).meta({ id: 'BackupCreateResponse' });

const task = {
  task_id: z.string(),
  status: z.string(),
  message: z.string().nullish(),
  file_path: z.string().nullish(),
  created_by: z.int().nullish(),
  created_at: z.date(),
  updated_at: z.date(),
};

export const BackupStatusPath = z.object({ task_id: z.string() });
export const BackupStatusResponse = z.object(task).meta({ id: 'BackupStatusResponse' });

export const BackupTasksQuery = z.object({ active_only: z.boolean().default(false) });
export const BackupTaskListResponse = z
  .object({ items: z.array(z.object(task).meta({ id: 'BackupTaskInfo' })), total: z.int() })
  .meta({ id: 'BackupTaskListResponse' });

export const BackupPath = z.object({ filename: z.string() });

export const BackupRestoreRequest = z.object({ clear_existing: z.boolean().default(false) }).meta({ id: 'BackupRestoreRequest' });
export const BackupRestoreInput = withBody(BackupPath, BackupRestoreRequest);

export const BackupRestoreResponse = z
  .object({
    success: z.boolean(),
    message: z.string(),
    tables_restored: z.int().nullish(),
    records_restored: z.int().nullish(),
  })
  .meta({ id: 'BackupRestoreResponse' });

export const BackupUploadInput = z.object({
  file: z.custom<StreamedFile>(isStreamedFile).meta({ override: { type: 'string', format: 'binary' } }),
  clear_existing: z.boolean().default(false),
});

export const BackupDeleteResponse = z.object({ success: z.boolean(), message: z.string() }).meta({ id: 'BackupDeleteResponse' });
