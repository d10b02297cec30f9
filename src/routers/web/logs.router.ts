import { z } from 'zod';
import { fileReply } from '../../core/http/replies.ts';
import { listMonitoringEventTypes, listMonitoringLog } from '../../domain/monitoring/read-log.ts';
import { downloadSystemLog, previewSystemLog, readSystemLog } from '../../domain/ops/system-log/read-system-log.ts';
import { listSupportActions, listSupportLog } from '../../domain/tickets/read-support-log.ts';
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
    .meta({ openapi: { method: 'GET', path: '/logs/system', tags, summary: 'The end of the system log' } })
    .input(fromWire(SystemLogQuery))
    .output(toWire(SystemLogPreviewResponse))
    .query(async ({ ctx, input }) => ({
      ...(await previewSystemLog(ctx.app, ctx.language, input.previewLimit)),
      downloadUrl: DOWNLOAD,
    })),

  downloadSystem: webProcedure
    .meta({
      openapi: { method: 'GET', path: DOWNLOAD, tags, summary: 'Download the system log' },
      wire: { reply: 'file', mediaType: 'text/plain' },
    })
    .output(z.unknown())
    .query(async ({ ctx }) =>
      fileReply({ ...(await downloadSystemLog(ctx.app, ctx.language)), contentType: 'text/plain; charset=utf-8' }),
    ),

  fullSystem: webProcedure
    .meta({ openapi: { method: 'GET', path: '/logs/system/full', tags, summary: 'The whole system log' } })
    .output(toWire(SystemLogFullResponse))
    .query(({ ctx }) => readSystemLog(ctx.app, ctx.language)),

  monitoring: webProcedure
    .meta({ openapi: { method: 'GET', path: '/logs/monitoring', tags, summary: 'What scheduled jobs did, newest first' } })
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
    })
    .output(toWire(MonitoringLogTypeListResponse))
    .query(async ({ ctx }) => ({ items: await listMonitoringEventTypes(ctx.app) })),

  support: webProcedure
    .meta({ openapi: { method: 'GET', path: '/logs/support', tags, summary: 'Actions of support, newest first' } })
    .input(fromWire(SupportAuditLogQuery))
    .output(toWire(SupportAuditLogListResponse))
    .query(async ({ ctx, input: { limit, offset, ...filter } }) => ({
      ...(await listSupportLog(ctx.app, filter, { limit, offset })),
      limit,
      offset,
    })),

  supportActions: webProcedure
    .meta({ openapi: { method: 'GET', path: '/logs/support/actions', tags, summary: 'Actions in the log of support' } })
    .output(toWire(SupportAuditActionsResponse))
    .query(async ({ ctx }) => ({ items: await listSupportActions(ctx.app) })),
});
