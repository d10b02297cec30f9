import { z } from 'zod';
import { Moment } from '../shared.schemas.ts';

/** Contract group `broadcasts` (spec 05 section 3). */

export const BroadcastPath = z.object({ broadcast_id: z.int() });

export const WebBroadcastListQuery = z.object({
  limit: z.int().min(1).max(200).default(50),
  offset: z.int().min(0).default(0),
});

export const broadcastFields = {
  id: z.int(),
  target_type: z.string(),
  has_media: z.boolean(),
  media_type: z.string().nullish(),
  media_file_id: z.string().nullish(),
  media_caption: z.string().nullish(),
  total_count: z.int(),
  sent_count: z.int(),
  failed_count: z.int(),
  blocked_count: z.int().default(0),
  status: z.string(),
  admin_id: z.int().nullish(),
  admin_name: z.string().nullish(),
  created_at: Moment,
  completed_at: Moment.nullish(),
  repeated_count: z.int(),
  unconfirmed_count: z.int(),
  unsubscribed_count: z.int().describe('Recipients of the mail who switched off news by the link in it.'),
  estimated_end_at: Moment.nullish(),
};

export const BroadcastResponse = z.object({ ...broadcastFields, message_text: z.string() }).meta({ id: 'BroadcastResponse' });

export const BroadcastListResponse = z
  .object({ items: BroadcastResponse.array(), total: z.int(), limit: z.int(), offset: z.int() })
  .meta({ id: 'BroadcastListResponse' });

const mediaFields = {
  type: z.string().regex(/^(photo|video|document)$/),
  file_id: z.string(),
  caption: z.string().nullish(),
};

export const BroadcastMedia = z.object(mediaFields).meta({ id: 'BroadcastMedia' });
export const BroadcastMediaRequest = z.object(mediaFields).meta({ id: 'BroadcastMediaRequest' });

export const BroadcastCreateRequest = z
  .object({
    target: z.string(),
    message_text: z.string().min(1).max(4000),
    selected_buttons: z.string().array().nullable().optional(),
    media: BroadcastMedia.nullish(),
  })
  .meta({
    id: 'BroadcastCreateRequest',
    example: { target: 'all', message_text: 'Maintenance tonight from 2 to 3.', selected_buttons: ['home'], media: null },
  });
