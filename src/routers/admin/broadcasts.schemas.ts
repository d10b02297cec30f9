import { z } from 'zod';
import { BroadcastMediaRequest, BroadcastPath, broadcastFields } from '../web/broadcasts.schemas.ts';

/** Contract group `Cabinet Admin Broadcasts` (spec 05 section 3). */

export { BroadcastPath };

export const AdminBroadcastListQuery = z.object({
  limit: z.int().min(1).max(100).default(20),
  offset: z.int().min(0).default(0),
});

export const CabinetBroadcastsBroadcastResponse = z
  .object({
    ...broadcastFields,
    message_text: z.string().nullish(),
    progress_percent: z.number().default(0),
    channel: z.string().default('messenger'),
    email_subject: z.string().nullish(),
    email_html_content: z.string().nullish(),
  })
  .meta({ id: 'CabinetBroadcastsBroadcastResponse' });

export const CabinetBroadcastsBroadcastListResponse = z
  .object({ items: CabinetBroadcastsBroadcastResponse.array(), total: z.int(), limit: z.int(), offset: z.int() })
  .meta({ id: 'CabinetBroadcastsBroadcastListResponse' });

/** Beside the contract (spec 10 O14). */
export const BroadcastResumeRequest = z
  .object({ retry_unconfirmed: z.boolean().default(false) })
  .meta({ id: 'BroadcastResumeRequest', example: { retry_unconfirmed: false } });

export const BroadcastFilter = z
  .object({ key: z.string(), label: z.string(), count: z.int().nullish(), group: z.string().nullish() })
  .meta({ id: 'BroadcastFilter' });

export const TariffFilter = z
  .object({ key: z.string(), label: z.string(), tariff_id: z.int(), count: z.int() })
  .meta({ id: 'TariffFilter' });

export const BroadcastFiltersResponse = z
  .object({
    filters: BroadcastFilter.array(),
    tariff_filters: TariffFilter.array(),
    custom_filters: BroadcastFilter.array(),
  })
  .meta({ id: 'BroadcastFiltersResponse' });

export const TariffForBroadcast = z
  .object({ id: z.int(), name: z.string(), filter_key: z.string(), active_users_count: z.int() })
  .meta({ id: 'TariffForBroadcast' });

export const BroadcastTariffsResponse = z
  .object({ tariffs: TariffForBroadcast.array() })
  .meta({ id: 'BroadcastTariffsResponse' });

export const BroadcastButton = z
  .object({ key: z.string(), label: z.string(), default: z.boolean().default(false) })
  .meta({ id: 'BroadcastButton' });

export const BroadcastButtonsResponse = z.object({ buttons: BroadcastButton.array() }).meta({ id: 'BroadcastButtonsResponse' });

export const EmailFilterItem = z
  .object({ key: z.string(), label: z.string(), count: z.int(), group: z.string().nullish() })
  .meta({ id: 'EmailFilterItem' });

export const EmailFiltersResponse = z
  .object({ filters: EmailFilterItem.array(), total_with_email: z.int() })
  .meta({ id: 'EmailFiltersResponse' });

export const BroadcastPreviewRequest = z
  .object({ target: z.string() })
  .meta({ id: 'BroadcastPreviewRequest', example: { target: 'all' } });

export const EmailPreviewRequest = z
  .object({ target: z.string() })
  .meta({ id: 'EmailPreviewRequest', example: { target: 'all_email' } });

export const BroadcastSampleRecipient = z.object({ user_id: z.int(), name: z.string() }).meta({ id: 'BroadcastSampleRecipient' });

const previewFields = { target: z.string(), count: z.int(), sample: BroadcastSampleRecipient.array() };

export const BroadcastPreviewResponse = z.object(previewFields).meta({ id: 'BroadcastPreviewResponse' });
export const EmailPreviewResponse = z.object(previewFields).meta({ id: 'EmailPreviewResponse' });

/** Longest data of a button in the messenger. */
const MAX_CALLBACK_BYTES = 64;
const LINK = /^(?:https|tg):\/\//;

export const CustomBroadcastButton = z
  .object({
    label: z.string().min(1).max(64),
    action_type: z.enum(['callback', 'url']).default('callback'),
    action_value: z.string().min(1).max(256),
  })
  .superRefine(({ action_type: type, action_value: value }, check) => {
    const refuse = (why: string) => check.addIssue({ code: 'custom', path: ['action_value'], message: why, input: value });
    if (type === 'url' && !LINK.test(value)) refuse('URL must start with https:// or tg://');
    if (type === 'callback' && Buffer.byteLength(value) > MAX_CALLBACK_BYTES) refuse('Callback data must be at most 64 bytes');
  })
  .meta({ id: 'CustomBroadcastButton' });

const messageFields = {
  selected_buttons: z.string().array().default(['home']),
  custom_buttons: CustomBroadcastButton.array().max(10).default([]),
  media: BroadcastMediaRequest.nullish(),
};

const example = { selected_buttons: ['home'], custom_buttons: [], media: null };

export const CabinetBroadcastsBroadcastCreateRequest = z
  .object({ target: z.string(), message_text: z.string().min(1).max(4000), ...messageFields })
  .meta({
    id: 'CabinetBroadcastsBroadcastCreateRequest',
    example: { target: 'all', message_text: 'Maintenance tonight from 2 to 3.', ...example },
  });

export const CombinedBroadcastCreateRequest = z
  .object({
    channel: z.enum(['messenger', 'email', 'both']),
    target: z.string(),
    message_text: z.string().max(4000).nullish(),
    ...messageFields,
    email_subject: z.string().max(255).nullish(),
    email_html_content: z.string().max(100_000).nullish(),
  })
  .meta({
    id: 'CombinedBroadcastCreateRequest',
    example: {
      ...{ channel: 'email', target: 'all_email', message_text: null, ...example },
      ...{ email_subject: 'Maintenance tonight', email_html_content: '<p>Hello {{user_name}}, …</p>' },
    },
  });
