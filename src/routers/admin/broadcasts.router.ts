import type { App } from '../../core/app.ts';
import {
  languageOf,
  listEmailFilters,
  listFilters,
  listTariffFilters,
  previewAudience,
} from '../../domain/broadcasts/audiences.ts';
import { pauseBroadcast, resumeBroadcast, retryBroadcast, stopBroadcast } from '../../domain/broadcasts/control-broadcast.ts';
import { createMessage, sendBroadcast } from '../../domain/broadcasts/create-broadcast.ts';
import { buttonLabel } from '../../domain/broadcasts/keyboard.ts';
import { listAllBroadcasts, readBroadcast } from '../../domain/broadcasts/read-broadcasts.ts';
import { BUTTON_KEYS } from '../../domain/broadcasts/rules.ts';
import type { Broadcast } from '../../domain/broadcasts/types.ts';
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
    .meta({ openapi: { method: 'GET', path: `${BASE}/filters`, tags, summary: 'Segments of the messenger with their sizes' } })
    .output(toWire(BroadcastFiltersResponse))
    .query(({ ctx }) => listFilters(ctx.app, ctx.actor)),

  tariffs: adminProcedure('broadcasts:read')
    .meta({ openapi: { method: 'GET', path: `${BASE}/tariffs`, tags, summary: 'Active tariffs as segments' } })
    .output(toWire(BroadcastTariffsResponse))
    .query(async ({ ctx }) => ({
      tariffs: (await listTariffFilters(ctx.app)).map(({ tariffId, key, label, count }) => ({
        ...{ id: tariffId, name: label, filterKey: key, activeUsersCount: count },
      })),
    })),

  buttons: adminProcedure('broadcasts:read')
    .meta({ openapi: { method: 'GET', path: `${BASE}/buttons`, tags, summary: 'Standard buttons' } })
    .output(toWire(BroadcastButtonsResponse))
    .query(async ({ ctx }) => {
      const language = await languageOf(ctx.app, ctx.actor);
      return { buttons: BUTTON_KEYS.map((key) => ({ key, label: buttonLabel(language, key), default: key === 'home' })) };
    }),

  preview: unaudited('Changes nothing.', adminProcedure('broadcasts:read'))
    .meta({ openapi: { method: 'POST', path: `${BASE}/preview`, tags, summary: 'Who would get a message' } })
    .input(fromWire(BroadcastPreviewRequest))
    .output(toWire(BroadcastPreviewResponse))
    .mutation(({ ctx, input }) => previewAudience(ctx.app, 'messenger', input.target)),

  list: adminProcedure('broadcasts:read')
    .meta({ openapi: { method: 'GET', path: BASE, tags, summary: 'Broadcasts, newest first' } })
    .input(fromWire(AdminBroadcastListQuery))
    .output(toWire(CabinetBroadcastsBroadcastListResponse))
    .query(async ({ ctx, input }) => withFiles(ctx.app, { ...(await listAllBroadcasts(ctx.app, input)), ...input })),

  create: adminProcedure('broadcasts:create')
    .meta({ openapi: { method: 'POST', path: BASE, tags, summary: 'Send a message to a segment' }, idempotent: true })
    .input(fromWire(CabinetBroadcastsBroadcastCreateRequest))
    .output(toWire(CabinetBroadcastsBroadcastResponse))
    .mutation(async ({ ctx, input: { media, ...request } }) => {
      const draft = { ...request, media: mediaInput(media) };
      return answer(ctx.app, await createMessage(ctx.app, ctx.actor, draft, ctx.idempotencyKey));
    }),

  emailFilters: adminProcedure('broadcasts:read')
    .meta({ openapi: { method: 'GET', path: `${BASE}/email-filters`, tags, summary: 'Segments of the mail with their sizes' } })
    .output(toWire(EmailFiltersResponse))
    .query(({ ctx }) => listEmailFilters(ctx.app, ctx.actor)),

  emailPreview: unaudited('Changes nothing.', adminProcedure('broadcasts:read'))
    .meta({ openapi: { method: 'POST', path: `${BASE}/email-preview`, tags, summary: 'Who would get a mail' } })
    .input(fromWire(EmailPreviewRequest))
    .output(toWire(EmailPreviewResponse))
    .mutation(({ ctx, input }) => previewAudience(ctx.app, 'email', input.target)),

  send: adminProcedure('broadcasts:send')
    .meta({
      openapi: { method: 'POST', path: `${BASE}/send`, tags, summary: 'Send a message, a mail or both' },
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
    .meta({ openapi: { method: 'GET', path: `${BASE}/{broadcast_id}`, tags, summary: 'A broadcast' } })
    .input(fromWire(BroadcastPath))
    .output(toWire(CabinetBroadcastsBroadcastResponse))
    .query(async ({ ctx, input }) => answer(ctx.app, await readBroadcast(ctx.app, input.broadcastId))),

  stop: adminProcedure('broadcasts:send')
    .meta({ openapi: { method: 'POST', path: `${BASE}/{broadcast_id}/stop`, tags, summary: 'Stop a broadcast' } })
    .input(fromWire(BroadcastPath))
    .output(toWire(CabinetBroadcastsBroadcastResponse))
    .mutation(async ({ ctx, input }) => answer(ctx.app, await stopBroadcast(ctx.app, input.broadcastId))),

  pause: adminProcedure('broadcasts:send')
    .meta({ openapi: { method: 'POST', path: `${BASE}/{broadcast_id}/pause`, tags, summary: 'Pause a broadcast' } })
    .input(fromWire(BroadcastPath))
    .output(toWire(CabinetBroadcastsBroadcastResponse))
    .mutation(async ({ ctx, input }) => answer(ctx.app, await pauseBroadcast(ctx.app, input.broadcastId))),

  resume: adminProcedure('broadcasts:send')
    .meta({
      openapi: { method: 'POST', path: `${BASE}/{broadcast_id}/resume`, tags, summary: 'Resume a paused broadcast' },
      wire: { bodyOptional: true },
    })
    .input(fromWire(withBody(BroadcastPath, BroadcastResumeRequest)))
    .output(toWire(CabinetBroadcastsBroadcastResponse))
    .mutation(async ({ ctx, input: { broadcastId, retryUnconfirmed } }) => {
      const resume = retryUnconfirmed ? retryBroadcast : resumeBroadcast;
      return answer(ctx.app, await resume(ctx.app, broadcastId));
    }),
});
