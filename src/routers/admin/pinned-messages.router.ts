import { z } from 'zod';
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
import {
  pinnedChangeFields,
  pinnedDraftFields,
  pinnedMediaType,
  pinnedMessageFields,
  pinnedSettingsFields,
  unpinFields,
} from '../web/pinned-messages.schemas.ts';
import { fromWire, toWire } from '../wire.ts';

/** Contract group `Cabinet Admin Pinned Messages`. */

const CabinetPinnedMessagesPinnedMessageMedia = z
  .object({
    type: pinnedMediaType.describe('Kind of the attached file: `photo` or `video`.'),
    file_id: z.string().min(1).max(255).describe('Id of the file, of an upload or of the messenger; at most 255 characters.'),
  })
  .meta({ id: 'CabinetPinnedMessagesPinnedMessageMedia' });

const media = CabinetPinnedMessagesPinnedMessageMedia.nullish();

const CabinetPinnedMessagesPinnedMessageCreateRequest = z
  .object({
    ...pinnedDraftFields,
    media: media.describe('File of the message, whose caption the text is. Null for none.'),
    broadcast: z.boolean().default(false).describe('Whether it is sent to everyone at once.'),
  })
  .meta({
    id: 'CabinetPinnedMessagesPinnedMessageCreateRequest',
    example: { content: '<b>Maintenance</b> tonight from 2 to 3.', media: null, broadcast: false },
  });

const settingsFields = {
  send_before_menu: pinnedSettingsFields.send_before_menu.describe(
    'For a bot that shows a menu when a chat starts: whether its menu comes after this message, or before it. Such a bot reads it with `GET /pinned-messages/active`. The service shows no menu itself and delivers the message as soon as it receives the start, whatever this is. Null leaves it unchanged.',
  ),
  send_on_every_start: pinnedSettingsFields.send_on_every_start.describe(
    'Whether it is delivered at every start of the chat, or only to those who got another message last; null leaves it unchanged.',
  ),
};

const CabinetPinnedMessagesPinnedMessageUpdateRequest = z
  .object({
    ...pinnedChangeFields,
    ...settingsFields,
    media: media.describe('Another file in the place of the present one. Null leaves it unchanged.'),
  })
  .meta({
    id: 'CabinetPinnedMessagesPinnedMessageUpdateRequest',
    example: { content: '<b>Maintenance</b> tonight from 2 to 3.', send_before_menu: true },
  });

const CabinetPinnedMessagesPinnedMessageSettingsRequest = z
  .object(settingsFields)
  .meta({ id: 'CabinetPinnedMessagesPinnedMessageSettingsRequest' });

const CabinetPinnedMessagesPinnedMessageResponse = z
  .object({
    ...pinnedMessageFields,
  })
  .meta({ id: 'CabinetPinnedMessagesPinnedMessageResponse' });

const CabinetPinnedMessagesPinnedMessageListResponse = z
  .object({
    items: CabinetPinnedMessagesPinnedMessageResponse.array().describe('A page of pinned messages, newest first.'),
    total: z.int().describe('Number of pinned messages that match the filters, on all pages.'),
    limit: z.int().describe('Page size that was applied.'),
    offset: z.int().describe('Number of records skipped before this page.'),
  })
  .meta({ id: 'CabinetPinnedMessagesPinnedMessageListResponse' });

const CabinetPinnedMessagesPinnedMessageBroadcastResponse = z
  .object({
    message: CabinetPinnedMessagesPinnedMessageResponse.describe('The message.'),
    sent_count: z.int().describe('Users who have got it when the answer was made; 0 without a broadcast.'),
    failed_count: z.int().describe('Users who have not got it, or who have blocked the bot.'),
  })
  .meta({ id: 'CabinetPinnedMessagesPinnedMessageBroadcastResponse' });

const CabinetPinnedMessagesPinnedMessageUnpinResponse = z
  .object(unpinFields)
  .meta({ id: 'CabinetPinnedMessagesPinnedMessageUnpinResponse' });

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
