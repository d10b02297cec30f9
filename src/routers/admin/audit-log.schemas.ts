import { z } from 'zod';
import { MomentInput } from '../moment-input.ts';
import { FreeForm, Moment } from '../shared.schemas.ts';

/** Contract group `Admin RBAC Audit Log` (spec 01 section 14). */

const AuditLogFilter = z.object({
  user_id: z.int().nullish(),
  action: z.string().nullish(),
  resource_type: z.string().nullish(),
  status: z.string().nullish(),
  date_from: MomentInput.nullish(),
  date_to: MomentInput.nullish(),
});

export const AuditLogQuery = AuditLogFilter.extend({
  limit: z.int().min(1).max(500).default(50),
  offset: z.int().min(0).default(0),
});

export const AuditLogExportQuery = AuditLogFilter.extend({ limit: z.int().min(1).max(50_000).default(10_000) });

export const AuditLogEntry = z
  .object({
    id: z.int(),
    /** 0 = the account was deleted; `user_first_name` is the name it had. */
    user_id: z.int(),
    action: z.string(),
    resource_type: z.string().nullish(),
    resource_id: z.string().nullish(),
    details: FreeForm.nullish(),
    ip_address: z.string().nullish(),
    user_agent: z.string().nullish(),
    status: z.string(),
    request_method: z.string().nullish(),
    request_path: z.string().nullish(),
    created_at: Moment.nullish(),
    user_first_name: z.string().nullish(),
    user_email: z.string().nullish(),
  })
  .meta({ id: 'AuditLogEntry' });

export const AuditLogListResponse = z
  .object({ items: AuditLogEntry.array(), total: z.int(), limit: z.int(), offset: z.int() })
  .meta({ id: 'AuditLogListResponse' });
