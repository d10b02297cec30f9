import { z } from 'zod';
import { FreeForm, Timestamp, TimestampInput } from '../shared.schemas.ts';

/** Contract group `Admin RBAC Audit Log` (spec 01 section 14). */

const AuditLogFilter = z.object({
  user_id: z.int().nullish().describe('Only requests of this user (internal id).'),
  action: z.string().nullish().describe('Only entries whose action contains this text.'),
  resource_type: z.string().nullish().describe('Only entries of this section.'),
  status: z.string().nullish().describe('Only requests with this outcome: `success`, `denied` or `error`; null for all.'),
  date_from: TimestampInput.nullish().describe('Only records from this moment on (UTC, inclusive).'),
  date_to: TimestampInput.nullish().describe('Only records up to this moment (UTC, inclusive).'),
});

export const AuditLogQuery = AuditLogFilter.extend({
  limit: z.int().min(1).max(500).default(50).describe('Greatest number of records in the answer.'),
  offset: z.int().min(0).default(0).describe('Number of records to skip.'),
});

export const AuditLogExportQuery = AuditLogFilter.extend({
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

export const AuditLogListResponse = z
  .object({
    items: AuditLogEntry.array().describe('A page of requests of administrators, newest first.'),
    total: z.int().describe('Number of requests of administrators that match the filters, on all pages.'),
    limit: z.int().describe('Page size that was applied.'),
    offset: z.int().describe('Number of records skipped before this page.'),
  })
  .meta({ id: 'AuditLogListResponse' });
