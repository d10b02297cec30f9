import { z } from 'zod';
import { FreeForm, Timestamp } from '../shared.schemas.ts';

/** Contract group `logs` (spec 06 section 8). */

export const SystemLogQuery = z.object({
  preview_limit: z.int().min(500).max(20_000).default(4_000).describe('Greatest number of characters in `preview`.'),
});

export const SystemLogPreviewResponse = z
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

export const SystemLogFullResponse = z
  .object({
    path: z.string().describe('The log file as the settings name it.'),
    exists: z.boolean().describe('Whether the file exists.'),
    updated_at: Timestamp.nullish().describe('When the file was last written (UTC).'),
    size_bytes: z.int().describe('Size of the file in bytes.'),
    size_chars: z.int().describe('Size of the file in characters; above 20 MiB the size in bytes.'),
    content: z.string().describe('Text of the file. Bytes that are not UTF-8 are left out.'),
  })
  .meta({ id: 'SystemLogFullResponse' });

export const MonitoringLogQuery = z.object({
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

export const MonitoringLogListResponse = z
  .object({
    total: z.int().min(0).describe('Number of records of scheduled jobs that match the filters, on all pages.'),
    limit: z.int().min(1).describe('Page size that was applied.'),
    offset: z.int().min(0).describe('Number of records skipped before this page.'),
    items: z.array(MonitoringLogEntry).describe('A page of records of scheduled jobs, newest first.'),
  })
  .meta({ id: 'MonitoringLogListResponse' });

export const MonitoringLogTypeListResponse = z
  .object({
    items: z.array(z.string()).default([]).describe('Types of events that occur in the monitoring log, in alphabetical order.'),
  })
  .meta({ id: 'MonitoringLogTypeListResponse' });

export const SupportAuditLogQuery = z.object({
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

export const SupportAuditLogListResponse = z
  .object({
    total: z.int().min(0).describe('Number of actions of support that match the filters, on all pages.'),
    limit: z.int().min(1).describe('Page size that was applied.'),
    offset: z.int().min(0).describe('Number of records skipped before this page.'),
    items: z.array(SupportAuditLogEntry).describe('A page of actions of support, newest first.'),
  })
  .meta({ id: 'SupportAuditLogListResponse' });

export const SupportAuditActionsResponse = z
  .object({ items: z.array(z.string()).default([]).describe('Actions that occur in the log of support, in alphabetical order.') })
  .meta({ id: 'SupportAuditActionsResponse' });
