import { readTasks, requestBackup } from '../../domain/backups/backup-tasks.ts';
import { adminProcedure, router } from '../trpc.ts';
import { BackupCreateResponse, BackupTaskListResponse, BackupTasksQuery } from '../web/backups.schemas.ts';
import { fromWire, toWire } from '../wire.ts';

/** Not in the contract: backups for administrators. Downloads and restores are for API tokens and the command line only (spec 06 section 7). */

const tags: [string] = ['Cabinet Admin Backups'];
const path = '/cabinet/admin/backups';

export const adminBackupsRouter = router({
  tasks: adminProcedure('backups:read')
    .meta({
      openapi: { method: 'GET', path: `${path}/tasks`, tags, summary: 'Backups that are taken and were taken' },
      description: 'Lists tasks of backups, oldest first, all of the last month or those that are queued or running.',
    })
    .input(fromWire(BackupTasksQuery))
    .output(toWire(BackupTaskListResponse))
    .query(async ({ ctx, input }) => {
      const items = await readTasks(ctx.app, input);
      return { items, total: items.length };
    }),

  create: adminProcedure('backups:create')
    .meta({
      openapi: { method: 'POST', path, tags, summary: 'Start a backup as an administrator' },
      description: 'Queues a backup of all tables and of the content of uploaded files, as `POST /backups` does.',
    })
    .output(toWire(BackupCreateResponse))
    .mutation(({ ctx }) => requestBackup(ctx.app, ctx.actor, 'api')),
});
