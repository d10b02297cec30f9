import { z } from 'zod';
import { fileReply } from '../../core/http/http-client.ts';
import { listMonitoringEventTypes, listMonitoringLog } from '../../domain/monitoring/monitoring-log.ts';
import {
  downloadSystemLog,
  logNotFound,
  logTooLarge,
  previewSystemLog,
  readSystemLog,
} from '../../domain/ops/system-log/read-system-log.ts';
import { listSupportActions, listSupportLog } from '../../domain/tickets/tickets.ts';
import { FreeForm, Timestamp } from '../shared.schemas.ts';
import { router, webProcedure } from '../trpc.ts';
import { fromWire, toWire } from '../wire.ts';

/** Contract group `logs`. */

const SystemLogQuery = z.object({
  preview_limit: z.int().min(500).max(20_000).default(4_000).describe('Greatest number of characters in `preview`.'),
});

const SystemLogPreviewResponse = z
  .object({
    path: z.string().describe('The log file as the settings name it.'),
    exists: z.boolean().describe('Whether the file exists.'),
    updated_at: Timestamp.nullish().describe('When the file was last written (UTC); null while it does not exist.'),
    size_bytes: z.int().min(0).describe('Size of the file in bytes.'),
    size_chars: z.int().min(0).describe('Size of the file in characters; above 20 MiB the size in bytes.'),
    preview: z.string().default('').describe('The last characters of the file.'),
    preview_chars: z.int().min(0).describe('Number of characters in `preview`.'),
    preview_truncated: z.boolean().describe('Whether the file has more characters than `preview`.'),
    download_url: z.string().nullish().describe('Path of the download.'),
  })
  .meta({ id: 'SystemLogPreviewResponse' });

const SystemLogFullResponse = z
  .object({
    path: z.string().describe('The log file as the settings name it.'),
    exists: z.boolean().describe('Whether the file exists.'),
    updated_at: Timestamp.nullish().describe('When the file was last written (UTC).'),
    size_bytes: z.int().describe('Size of the file in bytes.'),
    size_chars: z.int().describe('Size of the file in characters; above 20 MiB the size in bytes.'),
    content: z.string().describe('Text of the file. Bytes that are not UTF-8 are left out.'),
  })
  .meta({ id: 'SystemLogFullResponse' });

const MonitoringLogQuery = z.object({
  limit: z.int().min(1).max(200).default(50).describe('Greatest number of records in the answer.'),
  offset: z.int().min(0).default(0).describe('Number of records to skip.'),
  event_type: z.string().max(100).nullish().describe('Only events of this type.'),
});

const MonitoringLogEntry = z
  .object({
    id: z.int().describe('Id of the record in the monitoring log.'),
    event_type: z.string().describe('What happened, for example `expired_subscriptions_processed`.'),
    message: z.string().describe('The same as a sentence, in the language `DEFAULT_LANGUAGE`.'),
    data: FreeForm.nullish().describe('Counters of the run, or what failed; its keys depend on the type.'),
    is_success: z.boolean().describe('False for failures.'),
    created_at: Timestamp.describe('When the job ran (UTC).'),
  })
  .meta({ id: 'MonitoringLogEntry' });

const MonitoringLogListResponse = z
  .object({
    total: z.int().min(0).describe('Number of records of scheduled jobs that match the filters, on all pages.'),
    limit: z.int().min(1).describe('Page size that was applied.'),
    offset: z.int().min(0).describe('Number of records skipped before this page.'),
    items: z.array(MonitoringLogEntry).describe('A page of records of scheduled jobs, newest first.'),
  })
  .meta({ id: 'MonitoringLogListResponse' });

const MonitoringLogTypeListResponse = z
  .object({
    items: z.array(z.string()).default([]).describe('Types of events that occur in the monitoring log, in alphabetical order.'),
  })
  .meta({ id: 'MonitoringLogTypeListResponse' });

const SupportAuditLogQuery = z.object({
  limit: z.int().min(1).max(200).default(50).describe('Greatest number of records in the answer.'),
  offset: z.int().min(0).default(0).describe('Number of records to skip.'),
  action: z.string().max(50).nullish().describe('Only entries with this action.'),
});

const SupportAuditLogEntry = z
  .object({
    id: z.int().describe('Id of the action in the log of support.'),
    actor_user_id: z.int().nullable().describe('Internal id of the administrator; null for API tokens.'),
    actor_messenger_id: z
      .int()
      .nullish()
      .describe('Messenger id of the administrator; null for API tokens and for administrators without one.'),
    is_moderator: z.boolean().describe('Whether a moderator of the chat acted.'),
    action: z.string().describe('What was done, for example `close_ticket`.'),
    ticket_id: z.int().nullable().describe('Id of the ticket; null when it was deleted.'),
    target_user_id: z.int().nullable().describe('Internal id of the user of the ticket; null when the account was deleted.'),
    details: FreeForm.nullish().describe('Further facts of the record as free-form object; its keys depend on the action.'),
    created_at: Timestamp.describe('When the action was done (UTC).'),
  })
  .meta({ id: 'SupportAuditLogEntry' });

const SupportAuditLogListResponse = z
  .object({
    total: z.int().min(0).describe('Number of actions of support that match the filters, on all pages.'),
    limit: z.int().min(1).describe('Page size that was applied.'),
    offset: z.int().min(0).describe('Number of records skipped before this page.'),
    items: z.array(SupportAuditLogEntry).describe('A page of actions of support, newest first.'),
  })
  .meta({ id: 'SupportAuditLogListResponse' });

const SupportAuditActionsResponse = z
  .object({ items: z.array(z.string()).default([]).describe('Actions that occur in the log of support, in alphabetical order.') })
  .meta({ id: 'SupportAuditActionsResponse' });

const tags: [string] = ['logs'];
const DOWNLOAD = '/logs/system/download';

export const logsRouter = router({
  system: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/logs/system', tags, summary: 'The end of the system log' },
      description:
        'Returns the last characters of the log file of the instance that answers: one record a line, secrets masked. A file that does not exist yet is empty. Reads only the end of the file, and the whole of it up to 20 MiB to count its characters.',
    })
    .input(fromWire(SystemLogQuery))
    .output(toWire(SystemLogPreviewResponse))
    .query(async ({ ctx, input }) => ({
      ...(await previewSystemLog(ctx.app, ctx.language, input.previewLimit)),
      downloadUrl: DOWNLOAD,
    })),

  downloadSystem: webProcedure
    .meta({
      openapi: { method: 'GET', path: DOWNLOAD, tags, summary: 'Download the system log' },
      description:
        'Sends the log file of the instance that answers, as long as it is when the download begins. Records that follow are not part of it.',
      refuses: [logNotFound],
      wire: { reply: 'file', mediaType: 'text/plain' },
    })
    .output(z.unknown())
    .query(async ({ ctx }) =>
      fileReply({ ...(await downloadSystemLog(ctx.app, ctx.language)), contentType: 'text/plain; charset=utf-8' }),
    ),

  fullSystem: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/logs/system/full', tags, summary: 'The whole system log' },
      description: 'Returns the whole log file of the instance that answers. One above 10 MiB is refused; it can be downloaded.',
      refuses: [logNotFound, logTooLarge],
    })
    .output(toWire(SystemLogFullResponse))
    .query(({ ctx }) => readSystemLog(ctx.app, ctx.language)),

  monitoring: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/logs/monitoring', tags, summary: 'What scheduled jobs did, newest first' },
      description:
        'Lists what scheduled jobs did, newest first: reminders, renewals, ends of subscriptions, checks of channels, synchronisations with the panel. Runs that found nothing to do have no row. Rows are deleted after `MONITORING_LOGS_RETENTION_DAYS`.',
    })
    .input(fromWire(MonitoringLogQuery))
    .output(toWire(MonitoringLogListResponse))
    .query(async ({ ctx, input: { limit, offset, ...filter } }) => ({
      ...(await listMonitoringLog(ctx.app, filter, { limit, offset })),
      limit,
      offset,
    })),

  monitoringEventTypes: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/logs/monitoring/event-types', tags, summary: 'Types of events in the monitoring log' },
      description: 'Lists the types of events that occur in the monitoring log, in alphabetical order.',
    })
    .output(toWire(MonitoringLogTypeListResponse))
    .query(async ({ ctx }) => ({ items: await listMonitoringEventTypes(ctx.app) })),

  support: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/logs/support', tags, summary: 'Actions of support, newest first' },
      description:
        'Lists what administrators and API tokens did with tickets, newest first. A row of an API token has no actor; `details.token_id` names the token.',
    })
    .input(fromWire(SupportAuditLogQuery))
    .output(toWire(SupportAuditLogListResponse))
    .query(async ({ ctx, input: { limit, offset, ...filter } }) => ({
      ...(await listSupportLog(ctx.app, filter, { limit, offset })),
      limit,
      offset,
    })),

  supportActions: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/logs/support/actions', tags, summary: 'Actions in the log of support' },
      description: 'Lists the actions that occur in the log of support, in alphabetical order.',
    })
    .output(toWire(SupportAuditActionsResponse))
    .query(async ({ ctx }) => ({ items: await listSupportActions(ctx.app) })),
});
