import { z } from 'zod';
import { isStreamedFile, type StreamedFile } from '../../core/http/uploads.ts';
import { withBody } from '../wire.ts';

/** Contract group `backups` (spec 06 section 7). */

export const BackupListQuery = z.object({
  limit: z.int().min(1).max(200).default(50).describe('Greatest number of records in the answer.'),
  offset: z.int().min(0).default(0).describe('Number of records to skip.'),
});

const BackupInfo = z
  .object({
    filename: z.string().describe('Name of the file, by which it is downloaded, restored and deleted.'),
    filepath: z.string().describe('Name of the file relative to the folder of backups.'),
    timestamp: z
      .date()
      .nullish()
      .describe('Moment of the data in it (UTC); of a file that cannot be read, the time of its last change.'),
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

export const BackupListResponse = z
  .object({
    items: z.array(BackupInfo).describe('Backups in the folder of `BACKUP_LOCATION`, newest first.'),
    total: z.int().describe('Number of backups in the folder.'),
    limit: z.int().describe('Page size that was applied.'),
    offset: z.int().describe('Number of records skipped before this page.'),
  })
  .meta({ id: 'BackupListResponse' });

export const BackupCreateResponse = z
  .object({
    task_id: z.string().describe('Id of the task, 32 hexadecimal digits.'),
    status: z.string().describe('State of the new task, always `queued`.'),
  })
  .meta({ id: 'BackupCreateResponse' });

const task = {
  task_id: z.string().describe('Id of the task.'),
  status: z.string().describe('State of the task: `queued`, `running`, `completed` or `failed`.'),
  message: z.string().nullish().describe('What came of it, or why it failed; null until then.'),
  file_path: z.string().nullish().describe('Name of the backup; null until it is complete.'),
  created_by: z
    .int()
    .nullish()
    .describe('Id of the API token that requested it; null for one of the schedule or the command line.'),
  created_at: z.date().describe('When the task was created (UTC).'),
  updated_at: z.date().describe('When the record was last changed (UTC).'),
};

export const BackupStatusPath = z.object({ task_id: z.string().describe('Id of the task, as `POST /backups` answers it.') });
export const BackupStatusResponse = z.object(task).meta({ id: 'BackupStatusResponse' });

export const BackupTasksQuery = z.object({
  active_only: z.boolean().default(false).describe('Only tasks that are queued or running.'),
});
export const BackupTaskListResponse = z
  .object({
    items: z.array(z.object(task).meta({ id: 'BackupTaskInfo' })).describe('Tasks of backups, oldest first.'),
    total: z.int().describe('Number of tasks in the answer.'),
  })
  .meta({ id: 'BackupTaskListResponse' });

export const BackupPath = z.object({ filename: z.string().describe('Name of the backup, as the list shows it.') });

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
export const BackupRestoreInput = withBody(BackupPath, BackupRestoreRequest);

export const BackupRestoreResponse = z
  .object({
    success: z.boolean().describe('Whether the archive was restored. false: nothing was changed.'),
    message: z.string().describe('What was restored, or the reason of the refusal.'),
    tables_restored: z.int().nullish().describe('Number of tables that got rows; null when nothing was changed.'),
    records_restored: z.int().nullish().describe('Number of rows that were written; null when nothing was changed.'),
  })
  .meta({ id: 'BackupRestoreResponse' });

export const BackupUploadInput = z.object({
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

export const BackupDeleteResponse = z
  .object({ success: z.boolean().describe('Always true.'), message: z.string().describe('Says which backup was deleted.') })
  .meta({ id: 'BackupDeleteResponse' });
