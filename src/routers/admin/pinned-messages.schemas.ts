import { z } from 'zod';
import {
  pinnedChangeFields,
  pinnedDraftFields,
  pinnedMediaType,
  pinnedMessageFields,
  pinnedSettingsFields,
  unpinFields,
} from '../web/pinned-messages.schemas.ts';

/** Contract group `Cabinet Admin Pinned Messages` (spec 05 section 4). */

const CabinetPinnedMessagesPinnedMessageMedia = z
  .object({
    type: pinnedMediaType.describe('Kind of the attached file: `photo` or `video`.'),
    file_id: z.string().min(1).max(255).describe('Id of the file, of an upload or of the messenger; at most 255 characters.'),
  })
  .meta({ id: 'CabinetPinnedMessagesPinnedMessageMedia' });

const media = CabinetPinnedMessagesPinnedMessageMedia.nullish();

export const CabinetPinnedMessagesPinnedMessageCreateRequest = z
  .object({
    ...pinnedDraftFields,
    media: media.describe('File of the message, whose caption the text is. Null for none.'),
    broadcast: z.boolean().default(false).describe('Whether it is sent to everyone at once.'),
  })
  .meta({
    id: 'CabinetPinnedMessagesPinnedMessageCreateRequest',
    example: { content: '<b>Maintenance</b> tonight from 2 to 3.', media: null, broadcast: false },
  });

export const CabinetPinnedMessagesPinnedMessageUpdateRequest = z
  .object({
    ...pinnedChangeFields,
    media: media.describe('Another file in the place of the present one. Null leaves it unchanged.'),
  })
  .meta({
    id: 'CabinetPinnedMessagesPinnedMessageUpdateRequest',
    example: { content: '<b>Maintenance</b> tonight from 2 to 3.', send_before_menu: true },
  });

export const CabinetPinnedMessagesPinnedMessageSettingsRequest = z
  .object(pinnedSettingsFields)
  .meta({ id: 'CabinetPinnedMessagesPinnedMessageSettingsRequest' });

export const CabinetPinnedMessagesPinnedMessageResponse = z
  .object(pinnedMessageFields)
  .meta({ id: 'CabinetPinnedMessagesPinnedMessageResponse' });

export const CabinetPinnedMessagesPinnedMessageListResponse = z
  .object({
    items: CabinetPinnedMessagesPinnedMessageResponse.array().describe('A page of pinned messages, newest first.'),
    total: z.int().describe('Number of pinned messages that match the filters, on all pages.'),
    limit: z.int().describe('Page size that was applied.'),
    offset: z.int().describe('Number of records skipped before this page.'),
  })
  .meta({ id: 'CabinetPinnedMessagesPinnedMessageListResponse' });

export const CabinetPinnedMessagesPinnedMessageBroadcastResponse = z
  .object({
    message: CabinetPinnedMessagesPinnedMessageResponse.describe('The message.'),
    sent_count: z.int().describe('Users who have got it when the answer was made; 0 without a broadcast.'),
    failed_count: z.int().describe('Users who have not got it, or who have blocked the bot.'),
  })
  .meta({ id: 'CabinetPinnedMessagesPinnedMessageBroadcastResponse' });

export const CabinetPinnedMessagesPinnedMessageUnpinResponse = z
  .object(unpinFields)
  .meta({ id: 'CabinetPinnedMessagesPinnedMessageUnpinResponse' });
