import type { App } from '../../core/app.ts';
import {
  languageOf,
  listEmailFilters,
  listFilters,
  listTariffFilters,
  previewAudience,
  targetUnknown,
} from '../../domain/broadcasts/audiences.ts';
import {
  broadcastConfirmed,
  broadcastNotPaused,
  broadcastNotRunning,
  buttonUnknown,
  captionTooLong,
  contentMissing,
  createMessage,
  listAllBroadcasts,
  mailTitleMissing,
  messengerUnavailable,
  pauseBroadcast,
  readBroadcast,
  resumeBroadcast,
  retryBroadcast,
  sendBroadcast,
  stopBroadcast,
  textMissing,
} from '../../domain/broadcasts/broadcasts.ts';
import { BUTTON_KEYS, broadcastNotFound, buttonLabel } from '../../domain/broadcasts/rules.ts';
import type { Broadcast } from '../../domain/broadcasts/types.ts';
import { MESSENGER_TEXT_REFUSALS } from '../../domain/content/chat-texts/chat-menu.ts';
import { mediaInput } from '../broadcast-input.ts';
import { withFiles } from '../cabinet/signed-files.ts';
import { adminProcedure, router, unaudited } from '../trpc.ts';
import { fromWire, toWire, withBody } from '../wire.ts';
import {
  AdminBroadcastListQuery,
  BroadcastButtonsResponse,
  BroadcastFiltersResponse,
  BroadcastPath,
  BroadcastPreviewRequest,
  BroadcastPreviewResponse,
  BroadcastResumeRequest,
  BroadcastTariffsResponse,
  CabinetBroadcastsBroadcastCreateRequest,
  CabinetBroadcastsBroadcastListResponse,
  CabinetBroadcastsBroadcastResponse,
  CombinedBroadcastCreateRequest,
  EmailFiltersResponse,
  EmailPreviewRequest,
  EmailPreviewResponse,
} from './broadcasts.schemas.ts';

const tags: [string] = ['Cabinet Admin Broadcasts'];
const BASE = '/cabinet/admin/broadcasts';

const answer = async (app: App, broadcast: Broadcast) => withFiles(app, broadcast);

export const adminBroadcastsRouter = router({
  filters: adminProcedure('broadcasts:read')
    .meta({
      openapi: { method: 'GET', path: `${BASE}/filters`, tags, summary: 'Segments of the messenger with their sizes' },
      description:
        'Lists the segments of the messenger with the number of users who would get a message. The numbers are up to 30 seconds old.',
    })
    .output(toWire(BroadcastFiltersResponse))
    .query(({ ctx }) => listFilters(ctx.app, ctx.actor)),

  tariffs: adminProcedure('broadcasts:read')
    .meta({
      openapi: { method: 'GET', path: `${BASE}/tariffs`, tags, summary: 'Active tariffs as segments' },
      description: 'Lists active tariffs as segments. The numbers are up to 30 seconds old.',
    })
    .output(toWire(BroadcastTariffsResponse))
    .query(async ({ ctx }) => ({
      tariffs: (await listTariffFilters(ctx.app)).map(({ tariffId, key, label, count }) => ({
        ...{ id: tariffId, name: label, filterKey: key, activeUsersCount: count },
      })),
    })),

  buttons: adminProcedure('broadcasts:read')
    .meta({
      openapi: { method: 'GET', path: `${BASE}/buttons`, tags, summary: 'Standard buttons' },
      description: 'Lists the standard buttons under a message, with their labels.',
    })
    .output(toWire(BroadcastButtonsResponse))
    .query(async ({ ctx }) => {
      const language = await languageOf(ctx.app, ctx.actor);
      return { buttons: BUTTON_KEYS.map((key) => ({ key, label: buttonLabel(language, key), default: key === 'home' })) };
    }),

  preview: unaudited('Changes nothing.', adminProcedure('broadcasts:read'))
    .meta({
      openapi: { method: 'POST', path: `${BASE}/preview`, tags, summary: 'Who would get a message' },
      description:
        'Returns how many users would get a message to a segment now, and the first of them. Nothing is sent or stored.',
      refuses: [targetUnknown],
    })
    .input(fromWire(BroadcastPreviewRequest))
    .output(toWire(BroadcastPreviewResponse))
    .mutation(({ ctx, input }) => previewAudience(ctx.app, 'messenger', input.target)),

  list: adminProcedure('broadcasts:read')
    .meta({
      openapi: { method: 'GET', path: BASE, tags, summary: 'Broadcasts, newest first' },
      description: 'Lists broadcasts of all channels with their progress, newest first.',
    })
    .input(fromWire(AdminBroadcastListQuery))
    .output(toWire(CabinetBroadcastsBroadcastListResponse))
    .query(async ({ ctx, input }) => withFiles(ctx.app, { ...(await listAllBroadcasts(ctx.app, input)), ...input })),

  create: adminProcedure('broadcasts:create')
    .meta({
      openapi: { method: 'POST', path: BASE, tags, summary: 'Send a message to a segment' },
      description:
        'Sends a message through the messenger to all members of a segment who have not switched off news. Rows of recipients are written and messages are sent in the background, at the pace of `MESSENGER_SENDS_PER_SECOND`; each recipient gets the message once. Administrators receive `broadcast.progress` on `/cabinet/ws`. With a caption of the file the text is not sent.',
      refuses: [...MESSENGER_TEXT_REFUSALS, buttonUnknown, captionTooLong, targetUnknown, textMissing, messengerUnavailable],
      idempotent: true,
    })
    .input(fromWire(CabinetBroadcastsBroadcastCreateRequest))
    .output(toWire(CabinetBroadcastsBroadcastResponse))
    .mutation(async ({ ctx, input: { media, ...request } }) => {
      const draft = { ...request, media: mediaInput(media) };
      return answer(ctx.app, await createMessage(ctx.app, ctx.actor, draft, ctx.idempotencyKey));
    }),

  emailFilters: adminProcedure('broadcasts:read')
    .meta({
      openapi: { method: 'GET', path: `${BASE}/email-filters`, tags, summary: 'Segments of the mail with their sizes' },
      description:
        'Lists the segments of the mail with the number of users who would get one. The numbers are up to 30 seconds old.',
    })
    .output(toWire(EmailFiltersResponse))
    .query(({ ctx }) => listEmailFilters(ctx.app, ctx.actor)),

  emailPreview: unaudited('Changes nothing.', adminProcedure('broadcasts:read'))
    .meta({
      openapi: { method: 'POST', path: `${BASE}/email-preview`, tags, summary: 'Who would get a mail' },
      description: 'Returns how many users would get a mail to a segment now, and the first of them. Nothing is sent or stored.',
      refuses: [targetUnknown],
    })
    .input(fromWire(EmailPreviewRequest))
    .output(toWire(EmailPreviewResponse))
    .mutation(({ ctx, input }) => previewAudience(ctx.app, 'email', input.target)),

  send: adminProcedure('broadcasts:send')
    .meta({
      openapi: { method: 'POST', path: `${BASE}/send`, tags, summary: 'Send a message, a mail or both' },
      description:
        'Sends a message through the messenger, a mail, or both; with both, the mail goes to everyone with a verified address. Mails are sent at the pace of `BROADCAST_MAILS_PER_SECOND`, and `{{user_name}}` and `{{email}}` in subject and content are filled. Files and buttons belong to the message.',
      refuses: [
        ...MESSENGER_TEXT_REFUSALS,
        buttonUnknown,
        captionTooLong,
        contentMissing,
        mailTitleMissing,
        targetUnknown,
        textMissing,
        messengerUnavailable,
      ],
      idempotent: true,
    })
    .input(fromWire(CombinedBroadcastCreateRequest))
    .output(toWire(CabinetBroadcastsBroadcastResponse))
    .mutation(async ({ ctx, input: { media, ...request } }) => {
      const { messageText = null, emailSubject = null, emailHtmlContent = null } = request;
      const draft = { ...request, messageText, emailSubject, emailHtmlContent, media: mediaInput(media) };
      return answer(ctx.app, await sendBroadcast(ctx.app, ctx.actor, draft, ctx.idempotencyKey));
    }),

  get: adminProcedure('broadcasts:read')
    .meta({
      openapi: { method: 'GET', path: `${BASE}/{broadcast_id}`, tags, summary: 'A broadcast' },
      description: 'Returns a broadcast with its progress.',
      refuses: [broadcastNotFound],
    })
    .input(fromWire(BroadcastPath))
    .output(toWire(CabinetBroadcastsBroadcastResponse))
    .query(async ({ ctx, input }) => answer(ctx.app, await readBroadcast(ctx.app, input.broadcastId))),

  stop: adminProcedure('broadcasts:send')
    .meta({
      openapi: { method: 'POST', path: `${BASE}/{broadcast_id}/stop`, tags, summary: 'Stop a broadcast' },
      description:
        'Ends a broadcast on all its channels. Messages under way are still sent, none after them; the state is `cancelling` until then. Repeating the call before the end changes nothing.',
      refuses: [broadcastNotFound],
    })
    .input(fromWire(BroadcastPath))
    .output(toWire(CabinetBroadcastsBroadcastResponse))
    .mutation(async ({ ctx, input }) => answer(ctx.app, await stopBroadcast(ctx.app, input.broadcastId))),

  pause: adminProcedure('broadcasts:send')
    .meta({
      openapi: { method: 'POST', path: `${BASE}/{broadcast_id}/pause`, tags, summary: 'Pause a broadcast' },
      description: 'Holds a broadcast on all its channels until it is resumed or stopped. Messages under way are still sent.',
      refuses: [broadcastNotRunning, broadcastNotFound],
    })
    .input(fromWire(BroadcastPath))
    .output(toWire(CabinetBroadcastsBroadcastResponse))
    .mutation(async ({ ctx, input }) => answer(ctx.app, await pauseBroadcast(ctx.app, input.broadcastId))),

  resume: adminProcedure('broadcasts:send')
    .meta({
      openapi: { method: 'POST', path: `${BASE}/{broadcast_id}/resume`, tags, summary: 'Resume a paused broadcast' },
      description:
        'Continues a paused broadcast. With `retry_unconfirmed` it is also sent again to recipients of whom it is unknown whether they got it, of a running or an ended broadcast too; they may get it twice.',
      refuses: [broadcastConfirmed, broadcastNotPaused, broadcastNotFound],
      wire: { bodyOptional: true },
    })
    .input(fromWire(withBody(BroadcastPath, BroadcastResumeRequest)))
    .output(toWire(CabinetBroadcastsBroadcastResponse))
    .mutation(async ({ ctx, input: { broadcastId, retryUnconfirmed } }) => {
      const resume = retryUnconfirmed ? retryBroadcast : resumeBroadcast;
      return answer(ctx.app, await resume(ctx.app, broadcastId));
    }),
});
