import type { AdminActor, TokenActor } from '../core/actor.ts';
import type { App } from '../core/app.ts';
import type { Language } from '../domain/messaging/texts.ts';
import {
  deactivateMessage,
  deletePinnedMessage,
  listPinnedMessages,
  readActiveMessage,
  readPinnedMessage,
  updatePinnedMessage,
} from '../domain/pinned-messages/manage-messages.ts';
import { activateMessage, broadcastMessage, unpinMessage } from '../domain/pinned-messages/publish-messages.ts';
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
export function pinnedMessageProcedures({ reading, editing, deleting, base, tag, schemas, ...group }: Group) {
  const tags: [string] = [tag];
  const one = `${base}/{message_id}` as const;
  const { shown } = group;
  const published = async (app: App, answer: PublishedMessage) => ({ ...answer, message: await shown(app, answer.message) });
  const shownOrNull = async (app: App, message: PinnedMessage | null) => message && shown(app, message);
  return {
    list: reading
      .meta({ openapi: { method: 'GET', path: base, tags, summary: 'List pinned messages' } })
      .input(fromWire(PinnedMessageListQuery))
      .output(toWire(schemas.list))
      .query(async ({ ctx, input }) => {
        const { limit, offset } = input;
        return { ...(await shown(ctx.app, await listPinnedMessages(ctx.app, input))), limit, offset };
      }),

    active: reading
      .meta({ openapi: { method: 'GET', path: `${base}/active`, tags, summary: 'The active pinned message' } })
      .output(toWire(schemas.message.nullable()))
      .query(async ({ ctx }) => shownOrNull(ctx.app, await readActiveMessage(ctx.app))),

    get: reading
      .meta({ openapi: { method: 'GET', path: one, tags, summary: 'Read a pinned message' } })
      .input(fromWire(PinnedMessagePath))
      .output(toWire(schemas.message))
      .query(async ({ ctx, input }) => shown(ctx.app, await readPinnedMessage(ctx.app, input.messageId))),

    update: editing
      .meta({ openapi: { method: 'PATCH', path: one, tags, summary: 'Change a pinned message' } })
      .input(fromWire(withBody(PinnedMessagePath, schemas.update)))
      .output(toWire(schemas.message))
      .mutation(async ({ ctx, input: { messageId, media, ...rest } }) => {
        const changes = { ...rest, media: pinnedMedia(media) };
        return shown(ctx.app, await updatePinnedMessage(ctx.app, messageId, changes, await group.languageOf(ctx)));
      }),

    updateSettings: editing
      .meta({
        openapi: { method: 'PATCH', path: `${one}/settings`, tags, summary: 'Change when a pinned message is delivered' },
      })
      .input(fromWire(withBody(PinnedMessagePath, schemas.settings)))
      .output(toWire(schemas.message))
      .mutation(async ({ ctx, input: { messageId, ...flags } }) =>
        shown(ctx.app, await updatePinnedMessage(ctx.app, messageId, flags, null)),
      ),

    activate: editing
      .meta({
        openapi: { method: 'POST', path: `${one}/activate`, tags, summary: 'Make a pinned message the active one' },
        wire: { query: ['broadcast'] },
      })
      .input(fromWire(PinnedMessagePath.extend(PinnedBroadcastQuery.shape)))
      .output(toWire(schemas.broadcast))
      .mutation(async ({ ctx, input: { messageId, broadcast } }) =>
        published(ctx.app, await activateMessage(ctx.app, messageId, { broadcast })),
      ),

    broadcast: editing
      .meta({ openapi: { method: 'POST', path: `${one}/broadcast`, tags, summary: 'Send a pinned message to everyone' } })
      .input(fromWire(PinnedMessagePath))
      .output(toWire(schemas.broadcast))
      .mutation(async ({ ctx, input }) => published(ctx.app, await broadcastMessage(ctx.app, input.messageId))),

    deactivate: editing
      .meta({ openapi: { method: 'POST', path: `${base}/active/deactivate`, tags, summary: 'Deactivate the active message' } })
      .output(toWire(schemas.message.nullable()))
      .mutation(async ({ ctx }) => shownOrNull(ctx.app, await deactivateMessage(ctx.app))),

    unpin: editing
      .meta({ openapi: { method: 'POST', path: `${base}/active/unpin`, tags, summary: 'Unpin the active message everywhere' } })
      .output(toWire(schemas.unpin))
      .mutation(({ ctx }) => unpinMessage(ctx.app)),

    delete: deleting
      .meta({ openapi: { method: 'DELETE', path: one, tags, summary: 'Delete a pinned message' } })
      .input(fromWire(PinnedMessagePath))
      .output(SuccessResponse)
      .mutation(async ({ ctx, input }) => {
        await deletePinnedMessage(ctx.app, input.messageId, { mayBeActive: group.mayDeleteActive });
        return { success: true as const };
      }),
  };
}
