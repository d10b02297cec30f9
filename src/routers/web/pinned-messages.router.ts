import { captionTooLong, MESSENGER_TEXT_REFUSALS } from '../../domain/content/chat-texts/chat-menu.ts';
import { broadcastCooldown, createPinnedMessage } from '../../domain/pinned-messages/pinned-messages.ts';
import { nothingToSend } from '../../domain/pinned-messages/rules.ts';
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
    ...{ base, tag, mayDeleteActive: true, recorded: ' The call is recorded in the audit log.' },
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
      description:
        'Adds a message, which becomes the active one in the place of the one before. What the messenger would refuse is refused here. With `broadcast` it goes to every active user of the messenger, without a sound, and is pinned in the place of the pinned message before it; other pins of a chat stay. It is sent in the background at the pace of `MESSENGER_SENDS_PER_SECOND`, and the answer has the counts reached after `PINNED_ANSWER_WAIT_MS`. A broadcast or unpinning that has not ended is ended by the next one. Administrators receive `pinned_message.progress` on `/cabinet/ws`. Broadcasts and unpinning are possible once a minute together, in both areas; a call that is refused does not count. The call is recorded in the audit log.',
      refuses: [...MESSENGER_TEXT_REFUSALS, captionTooLong, nothingToSend, broadcastCooldown],
      wire: { query: ['broadcast'] },
    })
    .input(fromWire(withBody(PinnedBroadcastQuery, PinnedMessageCreateRequest)))
    .output(toWire(PinnedMessageBroadcastResponse))
    .mutation(({ ctx, input: { broadcast, media, ...draft } }) =>
      createPinnedMessage(ctx.app, ctx.actor, { ...draft, media: pinnedMedia(media) }, { broadcast, language: ctx.language }),
    ),
});
