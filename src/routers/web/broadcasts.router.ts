import {
  broadcastNotRunning,
  captionTooLong,
  createByToken,
  listAllBroadcasts,
  messengerUnavailable,
  stopBroadcast,
  textMissing,
} from '../../domain/broadcasts/broadcasts.ts';
import { broadcastNotFound } from '../../domain/broadcasts/rules.ts';
import type { Broadcast } from '../../domain/broadcasts/types.ts';
import { MESSENGER_TEXT_REFUSALS } from '../../domain/content/chat-texts/chat-menu.ts';
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
    .meta({
      openapi: { method: 'GET', path: '/broadcasts', tags, summary: 'Broadcasts, newest first' },
      description: 'Lists broadcasts of all channels with their progress, newest first.',
    })
    .input(fromWire(WebBroadcastListQuery))
    .output(toWire(BroadcastListResponse))
    .query(async ({ ctx, input }) => {
      const { items, total } = await listAllBroadcasts(ctx.app, input);
      return { items: items.map(withText), total, ...input };
    }),

  create: auditedWebProcedure('broadcasts:send')
    .meta({
      openapi: { method: 'POST', path: '/broadcasts', tags, summary: 'Send a message to a segment of users' },
      description:
        'Sends a message through the messenger to all members of a segment who have not switched off news. The rows of the recipients are written and the messages are sent in the background, at the pace of `MESSENGER_SENDS_PER_SECOND`; each recipient gets the message at most once. Where a process ends while messages are under way, it is unknown of these whether they arrived: they are counted in `unconfirmed_count` and not sent again. With a caption of the file the text is not sent. The call is recorded in the audit log.',
      refuses: [...MESSENGER_TEXT_REFUSALS, captionTooLong, textMissing, messengerUnavailable],
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
    .meta({
      openapi: { method: 'POST', path: '/broadcasts/{broadcast_id}/stop', tags, summary: 'Stop a broadcast' },
      description:
        'Ends a broadcast on all its channels. Messages under way are still sent, none after them; the state is `cancelling` until then. Repeating the call before the end changes nothing. The call is recorded in the audit log.',
      refuses: [broadcastNotRunning, broadcastNotFound],
    })
    .input(fromWire(BroadcastPath))
    .output(toWire(BroadcastResponse))
    .mutation(async ({ ctx, input }) => withText(await stopBroadcast(ctx.app, input.broadcastId))),
});
