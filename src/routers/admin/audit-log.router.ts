import { z } from 'zod';
import { fileReply } from '../../core/http/replies.ts';
import { auditExportName, exportAuditLog, listAuditLog } from '../../domain/access/read-audit-log.ts';
import { utcDate } from '../shared.schemas.ts';
import { adminProcedure, router } from '../trpc.ts';
import { AuditLogExportQuery, AuditLogListResponse, AuditLogQuery } from './audit-log.schemas.ts';

const tags: [string] = ['Admin RBAC Audit Log'];

type Filter = Pick<z.output<typeof AuditLogQuery>, 'user_id' | 'action' | 'resource_type' | 'status' | 'date_from' | 'date_to'>;

const filterOf = (input: Filter) => ({
  userId: input.user_id ?? null,
  action: input.action ?? null,
  resourceType: input.resource_type ?? null,
  status: input.status ?? null,
  from: input.date_from ? utcDate(input.date_from) : null,
  to: input.date_to ? utcDate(input.date_to) : null,
});

export const adminAuditLogRouter = router({
  list: adminProcedure('audit_log:read')
    .meta({ openapi: { method: 'GET', path: '/cabinet/admin/rbac/audit-log', tags, summary: 'Read the audit log' } })
    .input(AuditLogQuery)
    .output(AuditLogListResponse)
    .query(async ({ ctx, input: { limit, offset, ...filter } }) => {
      const { items, total } = await listAuditLog(ctx.app, filterOf(filter), { limit, offset });
      const entries = items.map((row) => ({
        id: row.id,
        user_id: row.userId ?? 0,
        action: row.action,
        resource_type: row.resourceType,
        resource_id: row.resourceId,
        details: row.details,
        ip_address: row.ipAddress,
        user_agent: row.userAgent,
        status: row.status,
        request_method: row.requestMethod,
        request_path: row.requestPath,
        created_at: row.createdAt,
        user_first_name: row.userId === null ? row.actorName : row.firstName,
        user_email: row.email,
      }));
      return { items: entries, total, limit, offset };
    }),

  export: adminProcedure('audit_log:export')
    .meta({
      openapi: { method: 'GET', path: '/cabinet/admin/rbac/audit-log/export', tags, summary: 'Download the audit log as CSV' },
      wire: { reply: 'file' },
    })
    .input(AuditLogExportQuery)
    .output(z.unknown())
    .query(async ({ ctx, input: { limit, ...filter } }) =>
      fileReply({
        filename: auditExportName(ctx.app.clock.now()),
        contentType: 'text/csv; charset=utf-8',
        body: await exportAuditLog(ctx.app, filterOf(filter), limit),
      }),
    ),
});
