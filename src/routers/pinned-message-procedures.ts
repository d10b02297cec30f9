import type { AdminActor, TokenActor } from '../core/actor.ts';
import type { App } from '../core/app.ts';
import { captionTooLong, MESSENGER_TEXT_REFUSALS } from '../domain/content/chat-texts/chat-menu.ts';
import type { Language } from '../domain/messaging/texts.ts';
import {
  activateMessage,
  broadcastCooldown,
  broadcastMessage,
  deactivateMessage,
  deletePinnedMessage,
  listPinnedMessages,
  pinnedMessageActive,
  readActiveMessage,
  readPinnedMessage,
  unpinMessage,
  updatePinnedMessage,
} from '../domain/pinned-messages/pinned-messages.ts';
import { messageNotFound, nothingToSend } from '../domain/pinned-messages/rules.ts';
import type { PinnedMedia, PinnedMessage, PublishedMessage } from '../domain/pinned-messages/types.ts';
import type { Context } from './context.ts';
import { SuccessResponse } from './shared.schemas.ts';
import type { ProcedureFor, ReaderFor } from './trpc.ts';
import {
  PinnedBroadcastQuery,
  type PinnedMessageBroadcastResponse,
  PinnedMessageListQuery,
  type PinnedMessageListResponse,
  PinnedMessagePath,
  type PinnedMessageResponse,
  type PinnedMessageSettingsRequest,
  type PinnedMessageUnpinResponse,
  type PinnedMessageUpdateRequest,
} from './web/pinned-messages.schemas.ts';
import { fromWire, toWire, withBody } from './wire.ts';

type Editor = ProcedureFor<AdminActor | TokenActor>;

interface Group {
  reading: ReaderFor<AdminActor | TokenActor>;
  editing: Editor;
  deleting: Editor;
  base: `/${string}`;
  tag: string;
  /** Whether an active message may be deleted. */
  mayDeleteActive: boolean;
  /** Last sentence in the description of a change, or empty. */
  recorded: string;
  /** Of refusals; null = Russian. */
  languageOf: (ctx: Context & { actor: AdminActor | TokenActor }) => Promise<Language | null>;
  /** The message, or a list, with ids of files as this reader gets them. */
  shown: <T extends object>(app: App, answer: T) => Promise<T>;
  /** Components of the group, which have the same fields in both groups. */
  schemas: {
    message: typeof PinnedMessageResponse;
    list: typeof PinnedMessageListResponse;
    broadcast: typeof PinnedMessageBroadcastResponse;
    unpin: typeof PinnedMessageUnpinResponse;
    update: typeof PinnedMessageUpdateRequest;
    settings: typeof PinnedMessageSettingsRequest;
  };
}

/** The file of a request as the use cases take it. */
export function pinnedMedia(media: { type: string; fileId: string } | null | undefined): PinnedMedia | null {
  // The schema allows the two kinds only.
  return media ? { type: media.type as PinnedMedia['type'], fileId: media.fileId } : null;
}

/** Pinned messages of the Web API and of the administration, all but the creation (spec 05 section 4). */
export function pinnedMessageProcedures({ reading, editing, deleting, base, tag, schemas, recorded, ...group }: Group) {
  const tags: [string] = [tag];
  const one = `${base}/{message_id}` as const;
  const { shown } = group;
  const published = async (app: App, answer: PublishedMessage) => ({ ...answer, message: await shown(app, answer.message) });
  const shownOrNull = async (app: App, message: PinnedMessage | null) => message && shown(app, message);
  return {
    list: reading
      .meta({
        openapi: { method: 'GET', path: base, tags, summary: 'List pinned messages' },
        description: 'Lists pinned messages, newest first.',
      })
      .input(fromWire(PinnedMessageListQuery))
      .output(toWire(schemas.list))
      .query(async ({ ctx, input }) => {
        const { limit, offset } = input;
        return { ...(await shown(ctx.app, await listPinnedMessages(ctx.app, input))), limit, offset };
      }),

    active: reading
      .meta({
        openapi: { method: 'GET', path: `${base}/active`, tags, summary: 'The active pinned message' },
        description: 'Returns the active message, or null.',
      })
      .output(toWire(schemas.message.nullable()))
      .query(async ({ ctx }) => shownOrNull(ctx.app, await readActiveMessage(ctx.app))),

    get: reading
      .meta({
        openapi: { method: 'GET', path: one, tags, summary: 'Read a pinned message' },
        description: 'Returns a pinned message.',
        refuses: [messageNotFound],
      })
      .input(fromWire(PinnedMessagePath))
      .output(toWire(schemas.message))
      .query(async ({ ctx, input }) => shown(ctx.app, await readPinnedMessage(ctx.app, input.messageId))),

    update: editing
      .meta({
        openapi: { method: 'PATCH', path: one, tags, summary: 'Change a pinned message' },
        description: `Changes the given fields of a message; null leaves a field unchanged, so that a file can be replaced and not removed. Nothing is sent again.${recorded}`,
        refuses: [...MESSENGER_TEXT_REFUSALS, captionTooLong, nothingToSend, messageNotFound],
      })
      .input(fromWire(withBody(PinnedMessagePath, schemas.update)))
      .output(toWire(schemas.message))
      .mutation(async ({ ctx, input: { messageId, media, ...rest } }) => {
        const changes = { ...rest, media: pinnedMedia(media) };
        return shown(ctx.app, await updatePinnedMessage(ctx.app, messageId, changes, await group.languageOf(ctx)));
      }),

    updateSettings: editing
      .meta({
        openapi: { method: 'PATCH', path: `${one}/settings`, tags, summary: 'Change when a pinned message is delivered' },
        description: `Changes when a message is delivered at the start of a chat.${recorded}`,
        refuses: [messageNotFound],
      })
      .input(fromWire(withBody(PinnedMessagePath, schemas.settings)))
      .output(toWire(schemas.message))
      .mutation(async ({ ctx, input: { messageId, ...flags } }) =>
        shown(ctx.app, await updatePinnedMessage(ctx.app, messageId, flags, null)),
      ),

    activate: editing
      .meta({
        openapi: { method: 'POST', path: `${one}/activate`, tags, summary: 'Make a pinned message the active one' },
        description: `Makes a message the active one in the place of the one before; repeating it changes nothing. With \`broadcast\` it goes to every active user of the messenger, without a sound, and is pinned in the place of the pinned message before it; other pins of a chat stay. It is sent in the background at the pace of \`MESSENGER_SENDS_PER_SECOND\`, and the answer has the counts reached after \`PINNED_ANSWER_WAIT_MS\`. A broadcast or unpinning that has not ended is ended by the next one. Administrators receive \`pinned_message.progress\` on \`/cabinet/ws\`. Broadcasts and unpinning are possible once a minute together, in both areas; a call that is refused does not count.${recorded}`,
        refuses: [messageNotFound, broadcastCooldown],
        wire: { query: ['broadcast'] },
      })
      .input(fromWire(PinnedMessagePath.extend(PinnedBroadcastQuery.shape)))
      .output(toWire(schemas.broadcast))
      .mutation(async ({ ctx, input: { messageId, broadcast } }) =>
        published(ctx.app, await activateMessage(ctx.app, messageId, { broadcast })),
      ),

    broadcast: editing
      .meta({
        openapi: { method: 'POST', path: `${one}/broadcast`, tags, summary: 'Send a pinned message to everyone' },
        description: `The message, active or not, goes to every active user of the messenger, without a sound, and is pinned in the place of the pinned message before it; other pins of a chat stay. It is sent in the background at the pace of \`MESSENGER_SENDS_PER_SECOND\`, and the answer has the counts reached after \`PINNED_ANSWER_WAIT_MS\`. A broadcast or unpinning that has not ended is ended by the next one. Administrators receive \`pinned_message.progress\` on \`/cabinet/ws\`. Broadcasts and unpinning are possible once a minute together, in both areas; a call that is refused does not count.${recorded}`,
        refuses: [messageNotFound, broadcastCooldown],
      })
      .input(fromWire(PinnedMessagePath))
      .output(toWire(schemas.broadcast))
      .mutation(async ({ ctx, input }) => published(ctx.app, await broadcastMessage(ctx.app, input.messageId))),

    deactivate: editing
      .meta({
        openapi: { method: 'POST', path: `${base}/active/deactivate`, tags, summary: 'Deactivate the active message' },
        description: `Deactivates the active message and returns it, or null when there is none. The pins in the chats stay.${recorded}`,
      })
      .output(toWire(schemas.message.nullable()))
      .mutation(async ({ ctx }) => shownOrNull(ctx.app, await deactivateMessage(ctx.app))),

    unpin: editing
      .meta({
        openapi: { method: 'POST', path: `${base}/active/unpin`, tags, summary: 'Unpin the active message everywhere' },
        description: `Deactivates the active message and unpins, in each chat, the message that was sent there last, in the background; other pins stay. The answer has the counts reached after \`PINNED_ANSWER_WAIT_MS\`. Without an active message nothing is done. Broadcasts and unpinning are possible once a minute together, in both areas; a call that is refused does not count.${recorded}`,
        refuses: [broadcastCooldown],
      })
      .output(toWire(schemas.unpin))
      .mutation(({ ctx }) => unpinMessage(ctx.app)),

    delete: deleting
      .meta({
        openapi: { method: 'DELETE', path: one, tags, summary: 'Delete a pinned message' },
        description: `Deletes a message${group.mayDeleteActive ? ', also the active one,' : ' that is not active'} and ends its broadcast. The pins in the chats stay.${recorded}`,
        refuses: [messageNotFound, ...(group.mayDeleteActive ? [] : [pinnedMessageActive])],
      })
      .input(fromWire(PinnedMessagePath))
      .output(SuccessResponse)
      .mutation(async ({ ctx, input }) => {
        await deletePinnedMessage(ctx.app, input.messageId, { mayBeActive: group.mayDeleteActive });
        return { success: true as const };
      }),
  };
}
