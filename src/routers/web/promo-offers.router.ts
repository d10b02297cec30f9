import { broadcastOffers } from '../../domain/promo/offers/broadcast-offers.ts';
import { createOffer } from '../../domain/promo/offers/create-offer.ts';
import { listOfferLog, listPromoOffers, readPromoOffer } from '../../domain/promo/offers/read-offers.ts';
import { changeOfferTemplate, listOfferTemplates, readOfferTemplate } from '../../domain/promo/offers/templates.ts';
import { toLogAnswer, toOfferAnswer, toOfferTerms, toTemplateAnswer, toTemplateChanges } from '../promo-offer-wire.ts';
import { auditedWebProcedure, router, webProcedure } from '../trpc.ts';
import {
  OfferPath,
  OfferTemplatePath,
  PromoOfferBroadcastRequest,
  PromoOfferBroadcastResponse,
  PromoOfferCreateRequest,
  PromoOfferListQuery,
  PromoOfferListResponse,
  PromoOfferLogListResponse,
  PromoOfferLogQuery,
  PromoOfferResponse,
  PromoOfferTemplateListResponse,
  PromoOfferTemplateResponse,
  PromoOfferTemplateUpdateRequest,
} from './promo-offers.schemas.ts';

const tags: [string] = ['promo-offers'];

export const promoOffersRouter = router({
  list: webProcedure
    .meta({ openapi: { method: 'GET', path: '/promo-offers', tags, summary: 'List promo offers, newest first' } })
    .input(PromoOfferListQuery)
    .output(PromoOfferListResponse)
    .query(async ({ ctx, input: { limit, offset, ...by } }) => {
      const { items, total } = await listPromoOffers(ctx.app, ctx.actor, {
        userId: by.user_id ?? null,
        messengerId: by.messenger_id ?? null,
        notificationType: by.notification_type ?? null,
        isActive: by.is_active ?? null,
        limit,
        offset,
      });
      return { items: items.map(toOfferAnswer), total, limit, offset };
    }),

  create: webProcedure
    .meta({ openapi: { method: 'POST', path: '/promo-offers', tags, summary: 'Make an offer to one user' } })
    .input(PromoOfferCreateRequest)
    .output(PromoOfferResponse)
    .mutation(async ({ ctx, input }) => {
      const { user_id: userId = null, messenger_id: messengerId = null, subscription_id: subscriptionId = null } = input;
      return toOfferAnswer(
        await createOffer(ctx.app, ctx.actor, { ...toOfferTerms(input), userId, messengerId, subscriptionId }),
      );
    }),

  broadcast: auditedWebProcedure('promo_offers:send')
    .meta({ openapi: { method: 'POST', path: '/promo-offers/broadcast', tags, summary: 'Make an offer to a segment of users' } })
    .input(PromoOfferBroadcastRequest)
    .output(PromoOfferBroadcastResponse)
    .mutation(async ({ ctx, input }) => {
      const { user_id: userId = null, messenger_id: messengerId = null, subscription_id: subscriptionId = null } = input;
      const request = { ...toOfferTerms(input), userId, messengerId, subscriptionId, target: input.target ?? null };
      const { createdOffers, userIds, target } = await broadcastOffers(ctx.app, ctx.actor, request);
      return { created_offers: createdOffers, user_ids: userIds, target };
    }),

  logs: webProcedure
    .meta({ openapi: { method: 'GET', path: '/promo-offers/logs', tags, summary: 'What became of offers, newest first' } })
    .input(PromoOfferLogQuery)
    .output(PromoOfferLogListResponse)
    .query(async ({ ctx, input: { limit, offset, ...by } }) => {
      const { items, total } = await listOfferLog(ctx.app, ctx.actor, {
        userId: by.user_id ?? null,
        offerId: by.offer_id ?? null,
        action: by.action ?? null,
        source: by.source ?? null,
        limit,
        offset,
      });
      return { items: items.map(toLogAnswer), total, limit, offset };
    }),

  listTemplates: webProcedure
    .meta({ openapi: { method: 'GET', path: '/promo-offers/templates', tags, summary: 'List templates of offers' } })
    .output(PromoOfferTemplateListResponse)
    .query(async ({ ctx }) => ({ items: (await listOfferTemplates(ctx.app)).map(toTemplateAnswer) })),

  getTemplate: webProcedure
    .meta({ openapi: { method: 'GET', path: '/promo-offers/templates/{template_id}', tags, summary: 'A template of offers' } })
    .input(OfferTemplatePath)
    .output(PromoOfferTemplateResponse)
    .query(async ({ ctx, input }) => toTemplateAnswer(await readOfferTemplate(ctx.app, ctx.actor, input.template_id))),

  updateTemplate: auditedWebProcedure('promo_offers:edit')
    .meta({ openapi: { method: 'PATCH', path: '/promo-offers/templates/{template_id}', tags, summary: 'Change a template' } })
    .input(OfferTemplatePath.extend(PromoOfferTemplateUpdateRequest.shape))
    .output(PromoOfferTemplateResponse)
    .mutation(async ({ ctx, input: { template_id: id, ...input } }) =>
      toTemplateAnswer(await changeOfferTemplate(ctx.app, ctx.actor, id, toTemplateChanges(input))),
    ),

  get: webProcedure
    .meta({ openapi: { method: 'GET', path: '/promo-offers/{offer_id}', tags, summary: 'A promo offer' } })
    .input(OfferPath)
    .output(PromoOfferResponse)
    .query(async ({ ctx, input }) => toOfferAnswer(await readPromoOffer(ctx.app, ctx.actor, input.offer_id))),
});
