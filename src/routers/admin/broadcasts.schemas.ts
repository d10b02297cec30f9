import { z } from 'zod';
import { BroadcastMediaRequest, BroadcastPath, broadcastFields } from '../web/broadcasts.schemas.ts';

/** Contract group `Cabinet Admin Broadcasts`. */

export { BroadcastPath };

export const AdminBroadcastListQuery = z.object({
  limit: z.int().min(1).max(100).default(20).describe('Greatest number of records in the answer.'),
  offset: z.int().min(0).default(0).describe('Number of records to skip.'),
});

export const CabinetBroadcastsBroadcastResponse = z
  .object({
    ...broadcastFields,
    message_text: z.string().nullish().describe("Text in the messenger's HTML; null for a broadcast by e-mail without one."),
    progress_percent: z.number().default(0).describe('How much of the time of the package has passed, 0 to 100, one decimal.'),
    channel: z.string().default('messenger').describe('`messenger`, `email` or `both`.'),
    email_subject: z
      .string()
      .nullish()
      .describe('Subject of the mail, where `{{user_name}}` and `{{email}}` are filled; null without a mail.'),
    email_html_content: z
      .string()
      .nullish()
      .describe('HTML of the mail, where `{{user_name}}` and `{{email}}` are filled; null without a mail.'),
  })
  .meta({ id: 'CabinetBroadcastsBroadcastResponse' });

export const CabinetBroadcastsBroadcastListResponse = z
  .object({
    items: CabinetBroadcastsBroadcastResponse.array().describe('A page of broadcasts of all channels, newest first.'),
    total: z.int().describe('Number of broadcasts of all channels, on all pages.'),
    limit: z.int().describe('Page size that was applied.'),
    offset: z.int().describe('Number of records skipped before this page.'),
  })
  .meta({ id: 'CabinetBroadcastsBroadcastListResponse' });

/** Beside the contract (spec 10 O14). */
export const BroadcastResumeRequest = z
  .object({
    retry_unconfirmed: z
      .boolean()
      .default(false)
      .describe(
        'Whether it is sent again to unconfirmed recipients, who may get it twice; also of a broadcast that runs or has ended.',
      ),
  })
  .meta({ id: 'BroadcastResumeRequest', example: { retry_unconfirmed: false } });

const BroadcastFilter = z
  .object({
    key: z.string().describe('Name of the segment, for `target`.'),
    label: z.string().describe("Name in the administrator's language."),
    count: z.int().nullish().describe('Number of users in the segment who would get the message; null when it is not counted.'),
    group: z.string().nullish().describe('`basic`, `subscription`, `traffic`, `registration`, `activity` or `source`.'),
  })
  .meta({ id: 'BroadcastFilter' });

const TariffFilter = z
  .object({
    key: z.string().describe('Name of the segment, for `target`: `tariff_<id>`.'),
    label: z.string().describe('Name of the tariff.'),
    tariff_id: z.int().describe('Id of the tariff.'),
    count: z.int().describe('Number of users with a subscription to the tariff who would get the message.'),
  })
  .meta({ id: 'TariffFilter' });

export const BroadcastFiltersResponse = z
  .object({
    filters: BroadcastFilter.array().describe('Segments by subscription and traffic.'),
    tariff_filters: TariffFilter.array().describe('Active tariffs as segments, by name.'),
    custom_filters: BroadcastFilter.array().describe('Segments by registration, activity and source.'),
  })
  .meta({ id: 'BroadcastFiltersResponse' });

const TariffForBroadcast = z
  .object({
    id: z.int().describe('Id of the tariff.'),
    name: z.string().describe('Name of the tariff whose users can be selected.'),
    filter_key: z.string().describe('Name of the segment, for `target`: `tariff_<id>`.'),
    active_users_count: z.int().describe('Number of users who would get it.'),
  })
  .meta({ id: 'TariffForBroadcast' });

export const BroadcastTariffsResponse = z
  .object({ tariffs: TariffForBroadcast.array().describe('Tariffs in the order of display.') })
  .meta({ id: 'BroadcastTariffsResponse' });

const BroadcastButton = z
  .object({
    key: z.string().describe('Key, for `selected_buttons`.'),
    label: z.string().describe("Label in the administrator's language; a recipient sees it in their own."),
    default: z.boolean().default(false).describe('Whether a client should select it at first.'),
  })
  .meta({ id: 'BroadcastButton' });

export const BroadcastButtonsResponse = z
  .object({ buttons: BroadcastButton.array().describe('Buttons by id.') })
  .meta({ id: 'BroadcastButtonsResponse' });

const EmailFilterItem = z
  .object({
    key: z.string().describe('Name of the segment, for `target`.'),
    label: z.string().describe("Name in the administrator's language."),
    count: z.int().describe('Number of users in the segment who would get the mail.'),
    group: z.string().nullish().describe('`basic`, `auth_type` or `subscription`.'),
  })
  .meta({ id: 'EmailFilterItem' });

export const EmailFiltersResponse = z
  .object({
    filters: EmailFilterItem.array().describe('Segments of the mail.'),
    total_with_email: z.int().describe('Number of users who would get a mail to everyone.'),
  })
  .meta({ id: 'EmailFiltersResponse' });

export const BroadcastPreviewRequest = z
  .object({
    target: z
      .string()
      .describe(
        'Segment: `all`, `active`, `trial`, `no`, `expiring`, `expired`, `zero`, `active_zero`, `trial_zero` or one of `custom_…`, or `tariff_<id>`.',
      ),
  })
  .meta({ id: 'BroadcastPreviewRequest', example: { target: 'all' } });

export const EmailPreviewRequest = z
  .object({
    target: z.string().describe('Segment: `all_email`, `email_only`, `messenger_with_email`, `active_email` or `expired_email`.'),
  })
  .meta({ id: 'EmailPreviewRequest', example: { target: 'all_email' } });

const BroadcastSampleRecipient = z
  .object({
    user_id: z.int().describe('Internal id of the user.'),
    name: z.string().describe('Name, else username, address or number.'),
  })
  .meta({ id: 'BroadcastSampleRecipient' });

const previewFields = {
  target: z.string().describe('The segment.'),
  count: z.int().describe('Number of users in the segment who would get the message or mail now.'),
  sample: BroadcastSampleRecipient.array().describe('The first recipients, ten at most.'),
};

export const BroadcastPreviewResponse = z.object(previewFields).meta({ id: 'BroadcastPreviewResponse' });
export const EmailPreviewResponse = z.object(previewFields).meta({ id: 'EmailPreviewResponse' });

/** Longest data of a button in the messenger. */
const MAX_CALLBACK_BYTES = 64;
const LINK = /^(?:https|tg):\/\//;

const CustomBroadcastButton = z
  .object({
    label: z.string().min(1).max(64).describe('Text on the button.'),
    action_type: z.enum(['callback', 'url']).default('callback').describe('`callback` or `url`.'),
    action_value: z
      .string()
      .min(1)
      .max(256)
      .describe('Data of a callback, at most 64 bytes; or a link that begins with `https://` or `tg://`.'),
  })
  .superRefine(({ action_type: type, action_value: value }, check) => {
    const refuse = (why: string) => check.addIssue({ code: 'custom', path: ['action_value'], message: why, input: value });
    if (type === 'url' && !LINK.test(value)) refuse('URL must start with https:// or tg://');
    if (type === 'callback' && Buffer.byteLength(value) > MAX_CALLBACK_BYTES) refuse('Callback data must be at most 64 bytes');
  })
  .meta({ id: 'CustomBroadcastButton' });

const messageFields = {
  selected_buttons: z
    .string()
    .array()
    .default(['home'])
    .describe(
      'Standard buttons: `balance`, `referrals`, `promocode`, `connect`, `subscription`, `support`, `home`; an empty list for none.',
    ),
  custom_buttons: CustomBroadcastButton.array()
    .max(10)
    .default([])
    .describe('Further buttons, each in a row of its own below the standard ones.'),
  media: BroadcastMediaRequest.nullish().describe(
    'File of the message; its caption, else the text, is sent under it. Null for none.',
  ),
};

const example = { selected_buttons: ['home'], custom_buttons: [], media: null };

export const CabinetBroadcastsBroadcastCreateRequest = z
  .object({
    target: z
      .string()
      .describe(
        'Segment: `all`, `active`, `trial`, `no`, `expiring`, `expired`, `zero`, `active_zero`, `trial_zero` or one of `custom_…`, or `tariff_<id>`.',
      ),
    message_text: z.string().min(1).max(4000).describe("Text in the messenger's HTML. Trimmed."),
    ...messageFields,
  })
  .meta({
    id: 'CabinetBroadcastsBroadcastCreateRequest',
    example: { target: 'all', message_text: 'Maintenance tonight from 2 to 3.', ...example },
  });

export const CombinedBroadcastCreateRequest = z
  .object({
    channel: z.enum(['messenger', 'email', 'both']).describe('`messenger`, `email` or `both`.'),
    target: z
      .string()
      .describe('Segment of the messenger, or with channel `email` of the mail; with `both` the mail goes to `all_email`.'),
    message_text: z
      .string()
      .max(4000)
      .nullish()
      .describe("Text in the messenger's HTML, required unless the channel is `email`. Trimmed."),
    ...messageFields,
    email_subject: z
      .string()
      .max(255)
      .nullish()
      .describe('Subject of the mail, where `{{user_name}}` and `{{email}}` are filled; null without a mail.'),
    email_html_content: z
      .string()
      .max(100_000)
      .nullish()
      .describe('HTML of the mail, where `{{user_name}}` and `{{email}}` are filled; null without a mail.'),
  })
  .meta({
    id: 'CombinedBroadcastCreateRequest',
    example: {
      ...{ channel: 'email', target: 'all_email', message_text: null, ...example },
      ...{ email_subject: 'Maintenance tonight', email_html_content: '<p>Hello {{user_name}}, …</p>' },
    },
  });
