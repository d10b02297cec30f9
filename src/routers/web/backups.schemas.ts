import { z } from 'zod';
import { Timestamp } from '../shared.schemas.ts';

/** What the operations of API tokens and of administrators have in common. */

export const BackupCreateResponse = z
  .object({
    task_id: z.string().describe('Id of the task, 32 hexadecimal digits.'),
    status: z.string().describe('State of the new task, always `queued`.'),
  })
  .meta({ id: 'BackupCreateResponse' });

export const backupTask = {
  task_id: z.string().describe('Id of the task.'),
  status: z.string().describe('State of the task: `queued`, `running`, `completed` or `failed`.'),
  message: z.string().nullish().describe('What came of it, or why it failed; null until then.'),
  file_path: z.string().nullish().describe('Name of the backup; null until it is complete.'),
  created_by: z
    .int()
    .nullish()
    .describe('Id of the API token that requested it; null for one of an administrator, the schedule or the command line.'),
  created_at: Timestamp.describe('When the task was created (UTC).'),
  updated_at: Timestamp.describe('When the state or the message of the task last changed (UTC).'),
};

export const BackupTasksQuery = z.object({
  active_only: z.boolean().default(false).describe('Only tasks that are queued or running.'),
});
export const BackupTaskListResponse = z
  .object({
    items: z.array(z.object(backupTask).meta({ id: 'BackupTaskInfo' })).describe('Tasks of backups, oldest first.'),
    total: z.int().describe('Number of tasks in the answer.'),
  })
  .meta({ id: 'BackupTaskListResponse' });
