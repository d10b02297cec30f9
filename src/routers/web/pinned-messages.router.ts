import { createPinnedMessage } from '../../domain/pinned-messages/publish-messages.ts';
import { pinnedMedia, pinnedMessageProcedures } from '../pinned-message-procedures.ts';
import { auditedWebProcedure, procedureFor, readerFor, router, webProcedure } from '../trpc.ts';
import { fromWire, toWire, withBody } from '../wire.ts';
import {
  PinnedBroadcastQuery,
  PinnedMessageBroadcastResponse,
  PinnedMessageCreateRequest,
  PinnedMessageListResponse,
  PinnedMessageResponse,
  PinnedMessageSettingsRequest,
  PinnedMessageUnpinResponse,
  PinnedMessageUpdateRequest,
} from './pinned-messages.schemas.ts';

const base = '/pinned-messages';
const tag = 'pinned-messages';

export const pinnedMessagesRouter = router({
  ...pinnedMessageProcedures({
    ...{ base, tag, mayDeleteActive: true },
    reading: readerFor(webProcedure),
    editing: procedureFor(auditedWebProcedure('pinned_messages:edit')),
    deleting: procedureFor(auditedWebProcedure('pinned_messages:delete')),
    languageOf: async ({ language }) => language,
    shown: async (_app, answer) => answer,
    schemas: {
      message: PinnedMessageResponse,
      list: PinnedMessageListResponse,
      broadcast: PinnedMessageBroadcastResponse,
      unpin: PinnedMessageUnpinResponse,
      update: PinnedMessageUpdateRequest,
      settings: PinnedMessageSettingsRequest,
    },
  }),

  create: auditedWebProcedure('pinned_messages:create')
    .meta({
      openapi: { method: 'POST', path: base, tags: [tag], summary: 'Add a pinned message and make it the active one' },
      wire: { query: ['broadcast'] },
    })
    .input(fromWire(withBody(PinnedBroadcastQuery, PinnedMessageCreateRequest)))
    .output(toWire(PinnedMessageBroadcastResponse))
    .mutation(({ ctx, input: { broadcast, media, ...draft } }) =>
      createPinnedMessage(ctx.app, ctx.actor, { ...draft, media: pinnedMedia(media) }, { broadcast, language: ctx.language }),
    ),
});
