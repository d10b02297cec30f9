/** Backups (spec 06 section 7). */
export const BACKUP_OPERATIONS: Readonly<Record<string, string>> = {
  'GET /backups':
    'Lists the backups in the folder of `BACKUP_LOCATION`, newest first. A file that cannot be read is listed with the reason in `error`.',
  'POST /backups':
    'Queues a backup of all tables and of the content of uploaded files, as of one moment. Backups are written one at a time; `GET /backups/status/{task_id}` shows when it is complete. The oldest beyond `BACKUP_MAX_KEEP` are deleted then. With `BACKUP_ARCHIVE_PASSWORD` the file is encrypted. The call is recorded in the audit log.',
  'GET /backups/status/{task_id}': 'Returns the state of a task that `POST /backups` or the schedule has created.',
  'GET /backups/tasks': 'Lists tasks, oldest first, all of the last month or those that are queued or running.',
  'GET /backups/download/{filename}': 'Downloads a backup as it is stored. The call is recorded in the audit log.',
  'POST /backups/restore/{filename}':
    'Restores a backup. The archive is checked to its last byte first; then all instances stop serving (503 with `Retry-After`), a safety backup is written, and the rows are replaced (`clear_existing`) or merged in one transaction, which is verified by row counts, checksums, foreign keys and the ledger check. Whatever is refused or fails is 200 with `success: false` and the reason, and the data is as before. API tokens, roles and superadmins of the running system are kept beside the restored ones; sessions end. The answer comes at the end, which can take minutes. The call is recorded in the audit log.',
  'POST /backups/upload':
    'Restores an archive that is sent as form data, like `POST /backups/restore/{filename}`, and deletes it. It may have `BACKUP_UPLOAD_MAX_MB` megabytes. The call is recorded in the audit log.',
  'DELETE /backups/{filename}': 'Deletes a backup permanently. The call is recorded in the audit log.',
};
