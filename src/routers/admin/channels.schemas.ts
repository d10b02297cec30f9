import { z } from 'zod';

/** Contract group `Cabinet Admin Channels` (spec 05 section 13). The forms of `channel_id` and `channel_link` are checked in the domain. */

export const ChannelPath = z.object({
  channel_db_id: z.int().describe('Id of the record of the channel (`id`, not the id of the messenger).'),
});

const identity = {
  channel_link: z
    .string()
    .nullish()
    .describe('Public link of the channel, at most 500 characters. Requests may use `http` or `@name`; null for none.'),
  title: z.string().max(255).nullish().describe('Title of the channel, shown to users; null for none.'),
};

export const ChannelCreateRequest = z
  .object({
    channel_id: z
      .string()
      .describe(
        'Id of the channel in the messenger: `-100` and 10 to 13 digits. The prefix may be left out in requests. Unique.',
      ),
    ...identity,
    disable_trial_on_leave: z
      .boolean()
      .default(true)
      .describe('Whether leaving the channel disables a trial until the user joins again.'),
    disable_paid_on_leave: z
      .boolean()
      .default(false)
      .describe('Whether leaving the channel disables a paid subscription until the user joins again.'),
  })
  .meta({
    id: 'ChannelCreateRequest',
    example: { channel_id: '-1001234567890', channel_link: 'https://example.com/channel', title: 'News' },
  });

export const ChannelUpdateRequest = z
  .object({
    channel_id: z
      .string()
      .nullish()
      .describe(
        'Id of the channel in the messenger: `-100` and 10 to 13 digits. The prefix may be left out in requests. Unique.',
      ),
    ...identity,
    is_active: z.boolean().nullish().describe('Whether it is active; an inactive record remains stored but has no effect.'),
    sort_order: z.int().nullish().describe('Place in the list; smaller numbers come first.'),
    disable_trial_on_leave: z
      .boolean()
      .nullish()
      .describe('Whether leaving the channel disables a trial until the user joins again.'),
    disable_paid_on_leave: z
      .boolean()
      .nullish()
      .describe('Whether leaving the channel disables a paid subscription until the user joins again.'),
  })
  .meta({ id: 'ChannelUpdateRequest', example: { title: 'News', is_active: true } });

export const ChannelResponse = z
  .object({
    id: z.int().describe('Id of the required channel.'),
    channel_id: z
      .string()
      .describe(
        'Id of the channel in the messenger: `-100` and 10 to 13 digits. The prefix may be left out in requests. Unique.',
      ),
    channel_link: z
      .string()
      .nullable()
      .describe('Public link of the channel, at most 500 characters. Requests may use `http` or `@name`; null for none.'),
    title: z.string().nullable().describe('Title of the channel, shown to users; null for none.'),
    is_active: z.boolean().describe('Whether it is active; an inactive record remains stored but has no effect.'),
    sort_order: z.int().describe('Place in the list; smaller numbers come first.'),
    disable_trial_on_leave: z.boolean().describe('Whether leaving the channel disables a trial until the user joins again.'),
    disable_paid_on_leave: z
      .boolean()
      .describe('Whether leaving the channel disables a paid subscription until the user joins again.'),
  })
  .meta({ id: 'ChannelResponse' });

export const ChannelListResponse = z
  .object({
    items: ChannelResponse.array().describe('Required channels, inactive ones included, in the order of display.'),
    total: z.int().describe('Number of required channels, inactive ones included.'),
  })
  .meta({ id: 'ChannelListResponse' });
