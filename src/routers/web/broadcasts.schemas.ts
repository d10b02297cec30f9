import { z } from 'zod';
import { Timestamp } from '../shared.schemas.ts';

/** Contract group `broadcasts`. */

export const BroadcastPath = z.object({ broadcast_id: z.int().describe('Id of the broadcast.') });

export const WebBroadcastListQuery = z.object({
  limit: z.int().min(1).max(200).default(50).describe('Greatest number of records in the answer.'),
  offset: z.int().min(0).default(0).describe('Number of records to skip.'),
});

export const broadcastFields = {
  id: z.int().describe('Id of the broadcast.'),
  target_type: z.string().describe('Segment, as it was given.'),
  has_media: z.boolean().describe('Whether a file is attached.'),
  media_type: z.string().nullish().describe('Kind of the file: `photo`, `video` or `document`; null without a file.'),
  media_file_id: z.string().nullish().describe('Id of the file, as the upload returned it; null without a file.'),
  media_caption: z.string().nullish().describe('Caption of the file; null for none.'),
  total_count: z.int().describe('Number of recipients; 0 until all of them are known.'),
  sent_count: z.int().describe('Recipients who got it.'),
  failed_count: z.int().describe('Recipients who did not get it, or of whom it is unknown because no answer came.'),
  blocked_count: z.int().default(0).describe('Recipients who have blocked the bot or are not known to the messenger.'),
  status: z
    .string()
    .describe(
      'State of the broadcast: `queued`, `in_progress`, `paused`, `cancelling` (a stop was asked for, messages are still under way), `cancelled`, `completed`, `partial` (some did not get it) or `failed` (no messenger or mail server).',
    ),
  admin_id: z.int().nullish().describe('Id of the administrator who sent it; null for an API token.'),
  admin_name: z.string().nullish().describe('Name of the administrator or of the API token.'),
  created_at: Timestamp.describe('When the broadcast was created (UTC).'),
  completed_at: Timestamp.nullish().describe('When it was finished (UTC); null while it is not.'),
  repeated_count: z
    .int()
    .describe(
      'Recipients who may have got it twice, because it was sent again to unconfirmed ones. They are part of the other counts.',
    ),
  unconfirmed_count: z
    .int()
    .describe(
      'Recipients of whom it is unknown whether they got it, because a process ended while their message was under way. They are not sent it again unless that is asked for with `retry_unconfirmed`.',
    ),
  unsubscribed_count: z.int().describe('Recipients of the mail who switched off news by the link in it.'),
  estimated_end_at: Timestamp.nullish().describe('When it is likely to end (UTC); null while that is unknown.'),
};

export const BroadcastResponse = z
  .object({
    ...broadcastFields,
    message_text: z.string().describe("Text in the messenger's HTML; empty for a broadcast by e-mail only."),
  })
  .meta({ id: 'BroadcastResponse' });

export const BroadcastListResponse = z
  .object({
    items: BroadcastResponse.array().describe('A page of broadcasts of all channels, newest first.'),
    total: z.int().describe('Number of broadcasts of all channels, on all pages.'),
    limit: z.int().describe('Page size that was applied.'),
    offset: z.int().describe('Number of records skipped before this page.'),
  })
  .meta({ id: 'BroadcastListResponse' });

const mediaFields = {
  type: z
    .string()
    .regex(/^(photo|video|document)$/)
    .describe('Kind of the attached file: `photo`, `video` or `document`.'),
  file_id: z.string().describe('Id of the file, of an upload or of the messenger.'),
  caption: z
    .string()
    .nullish()
    .describe("Text under the file in the messenger's HTML, at most 1024 characters; null = the text of the message."),
};

const BroadcastMedia = z.object(mediaFields).meta({ id: 'BroadcastMedia' });
export const BroadcastMediaRequest = z.object(mediaFields).meta({ id: 'BroadcastMediaRequest' });

export const BroadcastCreateRequest = z
  .object({
    target: z
      .string()
      .describe(
        'Segment: `all`, `active`, `trial`, `no`, `expiring`, `expired`, `zero`, `active_zero`, `trial_zero` or one of `custom_…`; in any case.',
      ),
    message_text: z.string().min(1).max(4000).describe("Text in the messenger's HTML. Trimmed."),
    selected_buttons: z
      .string()
      .array()
      .nullable()
      .optional()
      .describe(
        'Standard buttons: `balance`, `referrals`, `promocode`, `connect`, `subscription`, `support`, `home`; an empty list for none. Without the field `home`; null for none.',
      ),
    media: BroadcastMedia.nullish().describe('File of the message; its caption, else the text, is sent under it. Null for none.'),
  })
  .meta({
    id: 'BroadcastCreateRequest',
    example: { target: 'all', message_text: 'Maintenance tonight from 2 to 3.', selected_buttons: ['home'], media: null },
  });
