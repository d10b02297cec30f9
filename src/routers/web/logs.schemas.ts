import { z } from 'zod';
import { FreeForm, Moment } from '../shared.schemas.ts';

/** Contract group `logs` (spec 06 section 8). */

export const SystemLogQuery = z.object({ preview_limit: z.int().min(500).max(20_000).default(4_000) });

export const SystemLogPreviewResponse = z
  .object({
    path: z.string(),
    exists: z.boolean(),
    updated_at: Moment.nullish(),
    size_bytes: z.int().min(0),
    size_chars: z.int().min(0),
    preview: z.string().default(''),
    preview_chars: z.int().min(0),
    preview_truncated: z.boolean(),
    download_url: z.string().nullish(),
  })
  .meta({ id: 'SystemLogPreviewResponse' });

export const SystemLogFullResponse = z
  .object({
    path: z.string(),
    exists: z.boolean(),
    updated_at: Moment.nullish(),
    size_bytes: z.int(),
    size_chars: z.int(),
    content: z.string(),
  })
  .meta({ id: 'SystemLogFullResponse' });

export const MonitoringLogQuery = z.object({
  limit: z.int().min(1).max(200).default(50),
  offset: z.int().min(0).default(0),
  event_type: z.string().max(100).nullish(),
});

export const MonitoringLogEntry = z
  .object({
    id: z.int(),
    event_type: z.string(),
    message: z.string(),
    data: FreeForm.nullish(),
    is_success: z.boolean(),
    created_at: Moment,
  })
  .meta({ id: 'MonitoringLogEntry' });

export const MonitoringLogListResponse = z
  .object({ total: z.int().min(0), limit: z.int().min(1), offset: z.int().min(0), items: z.array(MonitoringLogEntry) })
  .meta({ id: 'MonitoringLogListResponse' });

export const MonitoringLogTypeListResponse = z
  .object({ items: z.array(z.string()).default([]) })
  .meta({ id: 'MonitoringLogTypeListResponse' });

export const SupportAuditLogQuery = z.object({
  limit: z.int().min(1).max(200).default(50),
  offset: z.int().min(0).default(0),
  action: z.string().max(50).nullish(),
});

export const SupportAuditLogEntry = z
  .object({
    id: z.int(),
    actor_user_id: z.int().nullable(),
    actor_messenger_id: z.int().nullish(),
    is_moderator: z.boolean(),
    action: z.string(),
    ticket_id: z.int().nullable(),
    target_user_id: z.int().nullable(),
    details: FreeForm.nullish(),
    created_at: Moment,
  })
  .meta({ id: 'SupportAuditLogEntry' });

export const SupportAuditLogListResponse = z
  .object({ total: z.int().min(0), limit: z.int().min(1), offset: z.int().min(0), items: z.array(SupportAuditLogEntry) })
  .meta({ id: 'SupportAuditLogListResponse' });

export const SupportAuditActionsResponse = z
  .object({ items: z.array(z.string()).default([]) })
  .meta({ id: 'SupportAuditActionsResponse' });
