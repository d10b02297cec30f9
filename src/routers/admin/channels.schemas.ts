import { z } from 'zod';

/** Contract group `Cabinet Admin Channels` (spec 05 section 13). The forms of `channel_id` and `channel_link` are checked in the domain. */

export const ChannelPath = z.object({ channel_db_id: z.int() });

const identity = { channel_link: z.string().nullish(), title: z.string().max(255).nullish() };

export const ChannelCreateRequest = z
  .object({
    channel_id: z.string(),
    ...identity,
    disable_trial_on_leave: z.boolean().default(true),
    disable_paid_on_leave: z.boolean().default(false),
  })
  .meta({
    id: 'ChannelCreateRequest',
    example: { channel_id: '-1001234567890', channel_link: 'https://example.com/channel', title: 'News' },
  });

export const ChannelUpdateRequest = z
  .object({
    channel_id: z.string().nullish(),
    ...identity,
    is_active: z.boolean().nullish(),
    sort_order: z.int().nullish(),
    disable_trial_on_leave: z.boolean().nullish(),
    disable_paid_on_leave: z.boolean().nullish(),
  })
  .meta({ id: 'ChannelUpdateRequest', example: { title: 'News', is_active: true } });

export const ChannelResponse = z
  .object({
    id: z.int(),
    channel_id: z.string(),
    channel_link: z.string().nullable(),
    title: z.string().nullable(),
    is_active: z.boolean(),
    sort_order: z.int(),
    disable_trial_on_leave: z.boolean(),
    disable_paid_on_leave: z.boolean(),
  })
  .meta({ id: 'ChannelResponse' });

export const ChannelListResponse = z
  .object({ items: ChannelResponse.array(), total: z.int() })
  .meta({ id: 'ChannelListResponse' });
