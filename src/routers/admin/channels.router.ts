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
import {
  ChannelCreateRequest,
  ChannelListResponse,
  ChannelPath,
  ChannelResponse,
  ChannelUpdateRequest,
} from './channels.schemas.ts';

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
