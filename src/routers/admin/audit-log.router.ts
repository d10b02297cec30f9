import { z } from 'zod';
import { fileReply } from '../../core/http/http-client.ts';
import { auditExportName, exportAuditLog, listAuditLog } from '../../domain/access/audit-log.ts';
import { utcDate } from '../shared.schemas.ts';
import { adminProcedure, router } from '../trpc.ts';
import { fromWire, toWire } from '../wire.ts';
import { AuditLogExportQuery, AuditLogListResponse, AuditLogQuery } from './audit-log.schemas.ts';

const tags: [string] = ['Admin RBAC Audit Log'];

const timestamp = (text: string | null | undefined) => (text ? utcDate(text) : null);

export const adminAuditLogRouter = router({
  list: adminProcedure('audit_log:read')
    .meta({
      openapi: { method: 'GET', path: '/cabinet/admin/rbac/audit-log', tags, summary: 'Read the audit log' },
      description:
        'Lists requests of administrators, newest first, refused ones included. Passwords, tokens and secrets are masked.',
    })
    .input(fromWire(AuditLogQuery))
    .output(toWire(AuditLogListResponse))
    .query(async ({ ctx, input: { limit, offset, dateFrom, dateTo, ...filter } }) => {
      const period = { dateFrom: timestamp(dateFrom), dateTo: timestamp(dateTo) };
      const { items, total } = await listAuditLog(ctx.app, { ...filter, ...period }, { limit, offset });
      const entries = items.map(({ firstName, email, actorName, ...row }) => ({
        ...row,
        userId: row.userId ?? 0,
        userFirstName: row.userId === null ? actorName : firstName,
        userEmail: email,
      }));
      return { items: entries, total, limit, offset };
    }),

  export: adminProcedure('audit_log:export')
    .meta({
      openapi: { method: 'GET', path: '/cabinet/admin/rbac/audit-log/export', tags, summary: 'Download the audit log as CSV' },
      description: 'Downloads the audit log as CSV (UTF-8), newest first, with the filters of the list.',
      wire: { reply: 'file', mediaType: 'text/csv' },
    })
    .input(fromWire(AuditLogExportQuery))
    .output(z.unknown())
    .query(async ({ ctx, input: { limit, dateFrom, dateTo, ...filter } }) =>
      fileReply({
        filename: auditExportName(ctx.app.clock.now()),
        contentType: 'text/csv; charset=utf-8',
        body: await exportAuditLog(ctx.app, { ...filter, dateFrom: timestamp(dateFrom), dateTo: timestamp(dateTo) }, limit),
      }),
    ),
});
