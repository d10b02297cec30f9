import type { AdminActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { languageOf } from '../../domain/broadcasts/audiences.ts';
import { captionTooLong, MESSENGER_TEXT_REFUSALS } from '../../domain/content/chat-texts/chat-menu.ts';
import { knownLanguage } from '../../domain/messaging/texts.ts';
import { broadcastCooldown, createPinnedMessage } from '../../domain/pinned-messages/pinned-messages.ts';
import { nothingToSend } from '../../domain/pinned-messages/rules.ts';
import { withFiles } from '../cabinet/signed-files.ts';
import { pinnedMedia, pinnedMessageProcedures } from '../pinned-message-procedures.ts';
import { adminProcedure, procedureFor, readerFor, router } from '../trpc.ts';
import { fromWire, toWire } from '../wire.ts';
import {
  CabinetPinnedMessagesPinnedMessageBroadcastResponse,
  CabinetPinnedMessagesPinnedMessageCreateRequest,
  CabinetPinnedMessagesPinnedMessageListResponse,
  CabinetPinnedMessagesPinnedMessageResponse,
  CabinetPinnedMessagesPinnedMessageSettingsRequest,
  CabinetPinnedMessagesPinnedMessageUnpinResponse,
  CabinetPinnedMessagesPinnedMessageUpdateRequest,
} from './pinned-messages.schemas.ts';

const base = '/cabinet/admin/pinned-messages';
const tag = 'Cabinet Admin Pinned Messages';

const readerLanguage = async (app: App, actor: AdminActor) => knownLanguage(await languageOf(app, actor));

export const adminPinnedMessagesRouter = router({
  ...pinnedMessageProcedures({
    ...{ base, tag, mayDeleteActive: false, recorded: '' },
    reading: readerFor(adminProcedure('pinned_messages:read')),
    editing: procedureFor(adminProcedure('pinned_messages:edit')),
    deleting: procedureFor(adminProcedure('pinned_messages:delete')),
    languageOf: async ({ app, actor }) => (actor.kind === 'admin' ? readerLanguage(app, actor) : null),
    shown: withFiles,
    schemas: {
      message: CabinetPinnedMessagesPinnedMessageResponse,
      list: CabinetPinnedMessagesPinnedMessageListResponse,
      broadcast: CabinetPinnedMessagesPinnedMessageBroadcastResponse,
      unpin: CabinetPinnedMessagesPinnedMessageUnpinResponse,
      update: CabinetPinnedMessagesPinnedMessageUpdateRequest,
      settings: CabinetPinnedMessagesPinnedMessageSettingsRequest,
    },
  }),

  create: adminProcedure('pinned_messages:create')
    .meta({
      openapi: { method: 'POST', path: base, tags: [tag], summary: 'Add a pinned message and make it the active one' },
      description:
        'Adds a message, which becomes the active one in the place of the one before. What the messenger would refuse is refused here. With `broadcast` it goes to every active user of the messenger, without a sound, and is pinned in the place of the pinned message before it; other pins of a chat stay. It is sent in the background at the pace of `MESSENGER_SENDS_PER_SECOND`, and the answer has the counts reached after `PINNED_ANSWER_WAIT_MS`. A broadcast or unpinning that has not ended is ended by the next one. Administrators receive `pinned_message.progress` on `/cabinet/ws`. Broadcasts and unpinning are possible once a minute together, in both areas; a call that is refused does not count.',
      refuses: [...MESSENGER_TEXT_REFUSALS, captionTooLong, nothingToSend, broadcastCooldown],
    })
    .input(fromWire(CabinetPinnedMessagesPinnedMessageCreateRequest))
    .output(toWire(CabinetPinnedMessagesPinnedMessageBroadcastResponse))
    .mutation(async ({ ctx, input: { broadcast, media, ...draft } }) => {
      const language = await readerLanguage(ctx.app, ctx.actor);
      const made = await createPinnedMessage(
        ctx.app,
        ctx.actor,
        { ...draft, media: pinnedMedia(media) },
        { broadcast, language },
      );
      return { ...made, message: await withFiles(ctx.app, made.message) };
    }),
});
