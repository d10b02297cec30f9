import { broadcastOffersAsAdmin } from '../../domain/promo/offers/broadcast-offers.ts';
import { listOfferLog, listPromoOffers } from '../../domain/promo/offers/read-offers.ts';
import { changeOfferTemplate, listOfferTemplates, readOfferTemplate } from '../../domain/promo/offers/templates.ts';
import { toLogAnswer, toOfferAnswer, toOfferTerms, toTemplateAnswer, toTemplateChanges } from '../promo-offer-wire.ts';
import { adminProcedure, router } from '../trpc.ts';
import { OfferTemplatePath } from '../web/promo-offers.schemas.ts';
import {
  AdminOfferBroadcastRequest,
  AdminOfferBroadcastResponse,
  AdminOfferListQuery,
  AdminOfferListResponse,
  AdminOfferLogListResponse,
  AdminOfferLogQuery,
  AdminOfferTemplateListResponse,
  AdminOfferTemplateResponse,
  AdminOfferTemplateUpdateRequest,
} from './promo-offers.schemas.ts';

const tags: [string] = ['Admin Promo Offers'];
const BASE = '/cabinet/admin/promo-offers';

export const adminPromoOffersRouter = router({
  listTemplates: adminProcedure('promo_offers:read')
    .meta({ openapi: { method: 'GET', path: `${BASE}/templates`, tags, summary: 'List templates of offers' } })
    .output(AdminOfferTemplateListResponse)
    .query(async ({ ctx }) => ({ items: (await listOfferTemplates(ctx.app)).map(toTemplateAnswer) })),

  getTemplate: adminProcedure('promo_offers:read')
    .meta({ openapi: { method: 'GET', path: `${BASE}/templates/{template_id}`, tags, summary: 'A template of offers' } })
    .input(OfferTemplatePath)
    .output(AdminOfferTemplateResponse)
    .query(async ({ ctx, input }) => toTemplateAnswer(await readOfferTemplate(ctx.app, ctx.actor, input.template_id))),

  updateTemplate: adminProcedure('promo_offers:edit')
    .meta({ openapi: { method: 'PATCH', path: `${BASE}/templates/{template_id}`, tags, summary: 'Change a template' } })
    .input(OfferTemplatePath.extend(AdminOfferTemplateUpdateRequest.shape))
    .output(AdminOfferTemplateResponse)
    .mutation(async ({ ctx, input: { template_id: id, ...input } }) =>
      toTemplateAnswer(await changeOfferTemplate(ctx.app, ctx.actor, id, toTemplateChanges(input))),
    ),

  list: adminProcedure('promo_offers:read')
    .meta({ openapi: { method: 'GET', path: BASE, tags, summary: 'List promo offers, newest first' } })
    .input(AdminOfferListQuery)
    .output(AdminOfferListResponse)
    .query(async ({ ctx, input: { limit, offset, user_id: userId = null, is_active: isActive = null } }) => {
      const filter = { userId, isActive, messengerId: null, notificationType: null, limit, offset };
      const { items, total } = await listPromoOffers(ctx.app, ctx.actor, filter);
      return { items: items.map(toOfferAnswer), total, limit, offset };
    }),

  broadcast: adminProcedure('promo_offers:send')
    .meta({ openapi: { method: 'POST', path: `${BASE}/broadcast`, tags, summary: 'Make an offer to a segment of users' } })
    .input(AdminOfferBroadcastRequest)
    .output(AdminOfferBroadcastResponse)
    .mutation(async ({ ctx, input }) => {
      const { user_id: userId = null, messenger_id: messengerId = null, email = null, target = null } = input;
      const message = input.send_notification
        ? { text: input.message_text ?? null, buttonText: input.button_text ?? null }
        : null;
      const request = { ...toOfferTerms(input), userId, messengerId, email, target, message };
      const made = await broadcastOffersAsAdmin(ctx.app, ctx.actor, request);
      return {
        created_offers: made.createdOffers,
        user_ids: made.userIds,
        target: made.target,
        notifications_sent: made.sent,
        notifications_failed: made.failed,
      };
    }),

  logs: adminProcedure('promo_offers:read')
    .meta({ openapi: { method: 'GET', path: `${BASE}/logs`, tags, summary: 'What became of offers, newest first' } })
    .input(AdminOfferLogQuery)
    .output(AdminOfferLogListResponse)
    .query(async ({ ctx, input: { limit, offset, user_id: userId = null, action = null } }) => {
      const filter = { userId, action, offerId: null, source: null, limit, offset };
      const { items, total } = await listOfferLog(ctx.app, ctx.actor, filter);
      return { items: items.map(toLogAnswer), total, limit, offset };
    }),
});
