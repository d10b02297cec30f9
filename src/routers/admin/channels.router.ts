import { z } from 'zod';
import {
  channelIdTaken,
  channelNotFound,
  createChannel,
  deleteChannel,
  listChannels,
  toggleChannel,
  updateChannel,
} from '../../domain/safety/channels.ts';
import { SuccessResponse } from '../shared.schemas.ts';
import { adminProcedure, router } from '../trpc.ts';
import { fromWire, toWire, withBody } from '../wire.ts';

/** Contract group `Cabinet Admin Channels`. The forms of `channel_id` and `channel_link` are checked in the domain. */

const ChannelPath = z.object({
  channel_db_id: z.int().describe('Id of the record of the channel (`id`, not the id of the messenger).'),
});

const identity = {
  channel_link: z
    .string()
    .nullish()
    .describe('Public link of the channel, at most 500 characters. Requests may use `http` or `@name`; null for none.'),
  title: z.string().max(255).nullish().describe('Title of the channel, shown to users; null for none.'),
};

const ChannelCreateRequest = z
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

const ChannelUpdateRequest = z
  .object({
    channel_id: z
      .string()
      .nullish()
      .describe(
        'Id of the channel in the messenger: `-100` and 10 to 13 digits. The prefix may be left out in requests. Unique. Absent leaves it unchanged, null is refused.',
      ),
    channel_link: identity.channel_link.describe(
      'Public link of the channel, at most 500 characters; `http` and `@name` are accepted. Null removes it, absent leaves it unchanged.',
    ),
    title: identity.title.describe('Title of the channel, shown to users; null removes it, absent leaves it unchanged.'),
    is_active: z
      .boolean()
      .nullish()
      .describe('Whether users have to be members of the channel. Absent leaves it unchanged, null is refused.'),
    sort_order: z
      .int()
      .nullish()
      .describe('Place in the list; smaller numbers come first. Absent leaves it unchanged, null is refused.'),
    disable_trial_on_leave: z
      .boolean()
      .nullish()
      .describe(
        'Whether leaving the channel disables a trial until the user joins again. Absent leaves it unchanged, null is refused.',
      ),
    disable_paid_on_leave: z
      .boolean()
      .nullish()
      .describe(
        'Whether leaving the channel disables a paid subscription until the user joins again. Absent leaves it unchanged, null is refused.',
      ),
  })
  .meta({ id: 'ChannelUpdateRequest', example: { title: 'News', is_active: true } });

const ChannelResponse = z
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
    is_active: z
      .boolean()
      .describe('Whether users have to be members of the channel; an inactive one is not required of anyone.'),
    sort_order: z.int().describe('Place in the list; smaller numbers come first.'),
    disable_trial_on_leave: z.boolean().describe('Whether leaving the channel disables a trial until the user joins again.'),
    disable_paid_on_leave: z
      .boolean()
      .describe('Whether leaving the channel disables a paid subscription until the user joins again.'),
  })
  .meta({ id: 'ChannelResponse' });

const ChannelListResponse = z
  .object({
    items: ChannelResponse.array().describe('Required channels, inactive ones included, in the order of display.'),
    total: z.int().describe('Number of required channels, inactive ones included.'),
  })
  .meta({ id: 'ChannelListResponse' });

const tags: [string] = ['Cabinet Admin Channels'];
const base = '/cabinet/admin/channel-subscriptions';
const one = `${base}/{channel_db_id}` as const;

export const adminChannelsRouter = router({
  list: adminProcedure('channels:read')
    .meta({
      openapi: { method: 'GET', path: base, tags, summary: 'List the required channels' },
      description: 'Lists all required channels, inactive ones included, in the order of display.',
    })
    .output(toWire(ChannelListResponse))
    .query(async ({ ctx }) => {
      const items = await listChannels(ctx.app);
      return { items, total: items.length };
    }),

  create: adminProcedure('channels:edit')
    .meta({
      openapi: { method: 'POST', path: base, tags, summary: 'Add a required channel' },
      description:
        'Adds an active channel. The messenger is not asked whether it exists; the bot must be an administrator of it to read its members.',
      refuses: [channelIdTaken],
    })
    .input(fromWire(ChannelCreateRequest))
    .output(toWire(ChannelResponse))
    .mutation(({ ctx, input }) => createChannel(ctx.app, ctx.actor, input)),

  update: adminProcedure('channels:edit')
    .meta({
      openapi: { method: 'PATCH', path: one, tags, summary: 'Change a required channel' },
      description:
        'Changes the fields that are sent; null clears the link and the title. With another `channel_id` the known members of the old channel are deleted.',
      refuses: [channelNotFound, channelIdTaken],
    })
    .input(fromWire(withBody(ChannelPath, ChannelUpdateRequest)))
    .output(toWire(ChannelResponse))
    .mutation(({ ctx, input: { channelDbId, ...update } }) => updateChannel(ctx.app, ctx.actor, channelDbId, update)),

  delete: adminProcedure('channels:edit')
    .meta({
      openapi: { method: 'DELETE', path: one, tags, summary: 'Delete a required channel' },
      description:
        'Deletes a channel with its known members. Subscriptions that were disabled because of it are enabled by the next check.',
      refuses: [channelNotFound],
    })
    .input(fromWire(ChannelPath))
    .output(SuccessResponse)
    .mutation(async ({ ctx, input }) => {
      await deleteChannel(ctx.app, ctx.actor, input.channelDbId);
      return { success: true as const };
    }),

  toggle: adminProcedure('channels:edit')
    .meta({
      openapi: { method: 'POST', path: `${one}/toggle`, tags, summary: 'Switch a required channel on or off' },
      description:
        'Activates or deactivates a channel. Users must have joined active channels only. Each call reverses the state.',
      refuses: [channelNotFound],
    })
    .input(fromWire(ChannelPath))
    .output(toWire(ChannelResponse))
    .mutation(({ ctx, input }) => toggleChannel(ctx.app, ctx.actor, input.channelDbId)),
});
