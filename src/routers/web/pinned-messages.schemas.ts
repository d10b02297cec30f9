import { z } from 'zod';
import { Moment } from '../shared.schemas.ts';

/** Contract group `pinned-messages` (spec 05 section 4). Blank texts and ids of files are checked in the domain. */

export const PinnedMessagePath = z.object({ message_id: z.int() });

export const PinnedMessageListQuery = z.object({
  limit: z.int().min(1).max(100).default(20),
  offset: z.int().min(0).default(0),
  active_only: z.boolean().default(false),
});

export const PinnedBroadcastQuery = z.object({ broadcast: z.boolean().default(false) });

export const pinnedMediaType = z.string().regex(/^(photo|video)$/);

export const PinnedMessageMedia = z.object({ type: pinnedMediaType, file_id: z.string() }).meta({ id: 'PinnedMessageMedia' });

export const pinnedDraftFields = {
  content: z.string().min(1).max(4000),
  send_before_menu: z.boolean().default(true),
  send_on_every_start: z.boolean().default(true),
};

export const PinnedMessageCreateRequest = z
  .object({ ...pinnedDraftFields, media: PinnedMessageMedia.nullish() })
  .meta({ id: 'PinnedMessageCreateRequest', example: { content: '<b>Maintenance</b> tonight from 2 to 3.', media: null } });

export const pinnedSettingsFields = { send_before_menu: z.boolean().nullish(), send_on_every_start: z.boolean().nullish() };

export const pinnedChangeFields = { content: z.string().max(4000).nullish(), ...pinnedSettingsFields };

export const PinnedMessageUpdateRequest = z.object({ ...pinnedChangeFields, media: PinnedMessageMedia.nullish() }).meta({
  id: 'PinnedMessageUpdateRequest',
  example: { content: '<b>Maintenance</b> tonight from 2 to 3.', send_before_menu: true },
});

export const PinnedMessageSettingsRequest = z.object(pinnedSettingsFields).meta({ id: 'PinnedMessageSettingsRequest' });

export const pinnedMessageFields = {
  id: z.int(),
  content: z.string().nullable(),
  media_type: z.string().nullish(),
  media_file_id: z.string().nullish(),
  send_before_menu: z.boolean(),
  send_on_every_start: z.boolean(),
  is_active: z.boolean(),
  created_by: z.int().nullish(),
  created_at: Moment,
  updated_at: Moment.nullish(),
};

export const PinnedMessageResponse = z.object(pinnedMessageFields).meta({ id: 'PinnedMessageResponse' });

export const PinnedMessageListResponse = z
  .object({ items: PinnedMessageResponse.array(), total: z.int(), limit: z.int(), offset: z.int() })
  .meta({ id: 'PinnedMessageListResponse' });

export const PinnedMessageBroadcastResponse = z
  .object({ message: PinnedMessageResponse, sent_count: z.int(), failed_count: z.int() })
  .meta({ id: 'PinnedMessageBroadcastResponse' });

export const unpinFields = { unpinned_count: z.int(), failed_count: z.int(), was_active: z.boolean() };

export const PinnedMessageUnpinResponse = z.object(unpinFields).meta({ id: 'PinnedMessageUnpinResponse' });
