import { z } from 'zod';
import { Timestamp } from '../shared.schemas.ts';

/** Contract group `pinned-messages`. Blank texts and ids of files are checked in the domain. */

export const PinnedMessagePath = z.object({ message_id: z.int().describe('Id of the message.') });

export const PinnedMessageListQuery = z.object({
  limit: z.int().min(1).max(100).default(20).describe('Greatest number of records in the answer.'),
  offset: z.int().min(0).default(0).describe('Number of records to skip.'),
  active_only: z.boolean().default(false).describe('Whether only the active message is listed and counted.'),
});

export const PinnedBroadcastQuery = z.object({
  broadcast: z.boolean().default(false).describe('Whether the message is also sent to everyone now.'),
});

export const pinnedMediaType = z.string().regex(/^(photo|video)$/);

const PinnedMessageMedia = z
  .object({
    type: pinnedMediaType.describe('Kind of the attached file: `photo` or `video`.'),
    file_id: z.string().describe('Id of the file, of an upload or of the messenger; at most 255 characters.'),
  })
  .meta({ id: 'PinnedMessageMedia' });

export const pinnedDraftFields = {
  content: z
    .string()
    .min(1)
    .max(4000)
    .describe(
      "Text in the messenger's HTML, at most 4096 characters without tags, under a file 1024. Tags may be entity-escaped; `br` is a line break. Trimmed; blank for a file without a text.",
    ),
  send_before_menu: z
    .boolean()
    .default(true)
    .describe(
      'For a bot that shows a menu when a chat starts: whether its menu comes after this message, or before it. Such a bot reads it with `GET /pinned-messages/active`. The service shows no menu itself and delivers the message as soon as it receives the start, whatever this is.',
    ),
  send_on_every_start: z
    .boolean()
    .default(true)
    .describe('Whether it is delivered at every start of the chat, or only to those who got another message last.'),
};

export const PinnedMessageCreateRequest = z
  .object({
    ...pinnedDraftFields,
    media: PinnedMessageMedia.nullish().describe('File of the message, whose caption the text is. Null for none.'),
  })
  .meta({ id: 'PinnedMessageCreateRequest', example: { content: '<b>Maintenance</b> tonight from 2 to 3.', media: null } });

export const pinnedSettingsFields = {
  send_before_menu: z
    .boolean()
    .nullish()
    .describe(
      'For a bot that shows a menu when a chat starts: whether its menu comes after this message, or before it. Such a bot reads it with `GET /pinned-messages/active`. The service shows no menu itself and delivers the message as soon as it receives the start, whatever this is.',
    ),
  send_on_every_start: z
    .boolean()
    .nullish()
    .describe('Whether it is delivered at every start of the chat, or only to those who got another message last.'),
};

export const pinnedChangeFields = {
  content: z
    .string()
    .max(4000)
    .nullish()
    .describe(
      "Text in the messenger's HTML, at most 4096 characters without tags, under a file 1024. Tags may be entity-escaped; `br` is a line break. Null leaves it unchanged.",
    ),
  ...pinnedSettingsFields,
};

/** With the texts of this group. */
const settingsFields = {
  send_before_menu: pinnedSettingsFields.send_before_menu.describe(
    'For a bot that shows a menu when a chat starts: whether its menu comes after this message, or before it; null leaves it unchanged. Such a bot reads it with `GET /pinned-messages/active`. The service shows no menu itself and delivers the message as soon as it receives the start, whatever this is.',
  ),
  send_on_every_start: pinnedSettingsFields.send_on_every_start.describe(
    'Whether it is delivered at every start of the chat, or only to those who got another message last; null leaves it unchanged.',
  ),
};

export const PinnedMessageUpdateRequest = z
  .object({
    ...pinnedChangeFields,
    ...settingsFields,
    media: PinnedMessageMedia.nullish().describe('Another file in the place of the present one. Null leaves it unchanged.'),
  })
  .meta({
    id: 'PinnedMessageUpdateRequest',
    example: { content: '<b>Maintenance</b> tonight from 2 to 3.', send_before_menu: true },
  });

export const PinnedMessageSettingsRequest = z.object(settingsFields).meta({ id: 'PinnedMessageSettingsRequest' });

export const pinnedMessageFields = {
  id: z.int().describe('Id of the pinned message.'),
  content: z.string().nullable().describe("Text in the messenger's HTML; empty where the file is sent alone."),
  media_type: z.string().nullish().describe('`photo` or `video`; null without a file.'),
  media_file_id: z.string().nullish().describe('Id of the file; null without one.'),
  send_before_menu: z
    .boolean()
    .describe(
      'For a bot that shows a menu when a chat starts: whether its menu comes after this message, or before it. Such a bot reads it with `GET /pinned-messages/active`. The service shows no menu itself and delivers the message as soon as it receives the start, whatever this is.',
    ),
  send_on_every_start: z
    .boolean()
    .describe('Whether it is delivered at every start of the chat, or only to those who got another message last.'),
  is_active: z.boolean().describe('Whether it is the message that is delivered when a chat starts.'),
  created_by: z.int().nullish().describe('Id of the administrator who added it; null for an API token.'),
  created_at: Timestamp.describe('When the pinned message was created (UTC).'),
  updated_at: Timestamp.nullish().describe(
    'When somebody last changed, activated or deactivated the message (UTC); its replacement by another one does not count.',
  ),
};

export const PinnedMessageResponse = z
  .object({
    ...pinnedMessageFields,
  })
  .meta({ id: 'PinnedMessageResponse' });

export const PinnedMessageListResponse = z
  .object({
    items: PinnedMessageResponse.array().describe('A page of pinned messages, newest first.'),
    total: z.int().describe('Number of pinned messages that match the filters, on all pages.'),
    limit: z.int().describe('Page size that was applied.'),
    offset: z.int().describe('Number of records skipped before this page.'),
  })
  .meta({ id: 'PinnedMessageListResponse' });

export const PinnedMessageBroadcastResponse = z
  .object({
    message: PinnedMessageResponse.describe('The message.'),
    sent_count: z.int().describe('Users who have got it when the answer was made; 0 without a broadcast.'),
    failed_count: z.int().describe('Users who have not got it, or who have blocked the bot.'),
  })
  .meta({ id: 'PinnedMessageBroadcastResponse' });

export const unpinFields = {
  unpinned_count: z.int().describe('Chats in which it is unpinned when the answer was made.'),
  failed_count: z.int().describe('Chats in which it could not be unpinned.'),
  was_active: z.boolean().describe('Whether a message was active; without one nothing was unpinned.'),
};

export const PinnedMessageUnpinResponse = z.object(unpinFields).meta({ id: 'PinnedMessageUnpinResponse' });
