import { stopBroadcast } from '../../domain/broadcasts/control-broadcast.ts';
import { createByToken } from '../../domain/broadcasts/create-broadcast.ts';
import { listAllBroadcasts } from '../../domain/broadcasts/read-broadcasts.ts';
import type { Broadcast } from '../../domain/broadcasts/types.ts';
import { mediaInput } from '../broadcast-input.ts';
import { auditedWebProcedure, router, webProcedure } from '../trpc.ts';
import { fromWire, toWire } from '../wire.ts';
import {
  BroadcastCreateRequest,
  BroadcastListResponse,
  BroadcastPath,
  BroadcastResponse,
  WebBroadcastListQuery,
} from './broadcasts.schemas.ts';

const tags: [string] = ['broadcasts'];

/** A broadcast by e-mail only has no text. */
const withText = (broadcast: Broadcast) => ({ ...broadcast, messageText: broadcast.messageText ?? '' });

export const broadcastsRouter = router({
  list: webProcedure
    .meta({ openapi: { method: 'GET', path: '/broadcasts', tags, summary: 'Broadcasts, newest first' } })
    .input(fromWire(WebBroadcastListQuery))
    .output(toWire(BroadcastListResponse))
    .query(async ({ ctx, input }) => {
      const { items, total } = await listAllBroadcasts(ctx.app, input);
      return { items: items.map(withText), total, ...input };
    }),

  create: auditedWebProcedure('broadcasts:send')
    .meta({
      openapi: { method: 'POST', path: '/broadcasts', tags, summary: 'Send a message to a segment of users' },
      idempotent: true,
    })
    .input(fromWire(BroadcastCreateRequest))
    .output(toWire(BroadcastResponse))
    .mutation(async ({ ctx, input }) => {
      const { target, messageText } = input;
      const selectedButtons = input.selectedButtons === undefined ? ['home'] : (input.selectedButtons ?? []);
      const request = { target, messageText, selectedButtons, media: mediaInput(input.media) };
      return withText(await createByToken(ctx.app, ctx.actor, request, ctx.idempotencyKey));
    }),

  stop: auditedWebProcedure('broadcasts:send')
    .meta({ openapi: { method: 'POST', path: '/broadcasts/{broadcast_id}/stop', tags, summary: 'Stop a broadcast' } })
    .input(fromWire(BroadcastPath))
    .output(toWire(BroadcastResponse))
    .mutation(async ({ ctx, input }) => withText(await stopBroadcast(ctx.app, input.broadcastId))),
});
