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
import { router, webProcedure } from '../trpc.ts';
import { fromWire, toWire } from '../wire.ts';
import {
  MonitoringLogListResponse,
  MonitoringLogQuery,
  MonitoringLogTypeListResponse,
  SupportAuditActionsResponse,
  SupportAuditLogListResponse,
  SupportAuditLogQuery,
  SystemLogFullResponse,
  SystemLogPreviewResponse,
  SystemLogQuery,
} from './logs.schemas.ts';

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
