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

export const CabinetPinnedMessagesPinnedMessageMedia = z
  .object({ type: pinnedMediaType, file_id: z.string().min(1).max(255) })
  .meta({ id: 'CabinetPinnedMessagesPinnedMessageMedia' });

const media = CabinetPinnedMessagesPinnedMessageMedia.nullish();

export const CabinetPinnedMessagesPinnedMessageCreateRequest = z
  .object({ ...pinnedDraftFields, media, broadcast: z.boolean().default(false) })
  .meta({
    id: 'CabinetPinnedMessagesPinnedMessageCreateRequest',
    example: { content: '<b>Maintenance</b> tonight from 2 to 3.', media: null, broadcast: false },
  });

export const CabinetPinnedMessagesPinnedMessageUpdateRequest = z.object({ ...pinnedChangeFields, media }).meta({
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
    items: CabinetPinnedMessagesPinnedMessageResponse.array(),
    total: z.int(),
    limit: z.int(),
    offset: z.int(),
  })
  .meta({ id: 'CabinetPinnedMessagesPinnedMessageListResponse' });

export const CabinetPinnedMessagesPinnedMessageBroadcastResponse = z
  .object({ message: CabinetPinnedMessagesPinnedMessageResponse, sent_count: z.int(), failed_count: z.int() })
  .meta({ id: 'CabinetPinnedMessagesPinnedMessageBroadcastResponse' });

export const CabinetPinnedMessagesPinnedMessageUnpinResponse = z
  .object(unpinFields)
  .meta({ id: 'CabinetPinnedMessagesPinnedMessageUnpinResponse' });
