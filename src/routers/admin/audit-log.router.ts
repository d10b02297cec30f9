import { z } from 'zod';
import { fileReply } from '../../core/http/http-client.ts';
import { auditExportName, exportAuditLog, listAuditLog } from '../../domain/access/audit-log.ts';
import { FreeForm, Timestamp, TimestampInput, utcDate } from '../shared.schemas.ts';
import { adminProcedure, router } from '../trpc.ts';
import { fromWire, toWire } from '../wire.ts';

/** Contract group `Admin RBAC Audit Log`. */

const AuditLogFilter = z.object({
  user_id: z.int().nullish().describe('Only requests of this user (internal id).'),
  action: z.string().nullish().describe('Only entries whose action contains this text.'),
  resource_type: z.string().nullish().describe('Only entries of this section.'),
  status: z.string().nullish().describe('Only requests with this outcome: `success`, `denied` or `error`; null for all.'),
  date_from: TimestampInput.nullish().describe('Only records from this moment on (UTC, inclusive).'),
  date_to: TimestampInput.nullish().describe('Only records up to this moment (UTC, inclusive).'),
});

const AuditLogQuery = AuditLogFilter.extend({
  limit: z.int().min(1).max(500).default(50).describe('Greatest number of records in the answer.'),
  offset: z.int().min(0).default(0).describe('Number of records to skip.'),
});

const AuditLogExportQuery = AuditLogFilter.extend({
  limit: z.int().min(1).max(50_000).default(10_000).describe('Greatest number of records in the answer.'),
});

const AuditLogEntry = z
  .object({
    id: z.int().describe('Id of the request in the audit log.'),
    /** 0 = the account was deleted; `user_first_name` is the name it had. */
    user_id: z.int().describe('Internal id of the user.'),
    action: z.string().describe('Permission that the request needed.'),
    resource_type: z.string().nullish().describe('Section of the request; null when unknown.'),
    resource_id: z.string().nullish().describe('Id of the record in question; null for none.'),
    details: FreeForm.nullish().describe('Method, path, query and body of the request, without secrets; null for none.'),
    ip_address: z.string().nullish().describe('Address of the client; null when unknown.'),
    user_agent: z.string().nullish().describe('Program of the client; null when unknown.'),
    status: z.string().describe('Outcome of the request: `success`, `denied` (403) or `error` (any other failure).'),
    request_method: z.string().nullish().describe('HTTP method; null when unknown.'),
    request_path: z.string().nullish().describe('Path of the request; null when unknown.'),
    created_at: Timestamp.nullish().describe('When the request was made (UTC).'),
    user_first_name: z.string().nullish().describe('First name of the user; null when unknown.'),
    user_email: z.string().nullish().describe('E-mail address of the user; null for none.'),
  })
  .meta({ id: 'AuditLogEntry' });

const AuditLogListResponse = z
  .object({
    items: AuditLogEntry.array().describe('A page of requests of administrators, newest first.'),
    total: z.int().describe('Number of requests of administrators that match the filters, on all pages.'),
    limit: z.int().describe('Page size that was applied.'),
    offset: z.int().describe('Number of records skipped before this page.'),
  })
  .meta({ id: 'AuditLogListResponse' });

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
