import { broadcastOffers } from '../../domain/promo/offers/broadcast-offers.ts';
import {
  effectTypeEmpty,
  filterMismatch,
  notificationTypeEmpty,
  offerNoAudience,
  offerNotFoundWeb,
  offerOneSubscription,
  recipientNotFound,
  subscriptionForeign,
  subscriptionNotFound,
  userMismatch,
  userRequired,
  webTemplateNotFound,
} from '../../domain/promo/offers/errors.ts';
import {
  changeOfferTemplate,
  createOffer,
  listOfferLog,
  listOfferTemplates,
  listPromoOffers,
  readOfferTemplate,
  readPromoOffer,
} from '../../domain/promo/offers/offers.ts';
import { auditedWebProcedure, router, webProcedure } from '../trpc.ts';
import { fromWire, toWire, withBody } from '../wire.ts';
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
    .meta({
      openapi: { method: 'GET', path: '/promo-offers', tags, summary: 'List promo offers, newest first' },
      description: 'Lists promo offers, newest first.',
      refuses: [filterMismatch, recipientNotFound],
    })
    .input(fromWire(PromoOfferListQuery))
    .output(toWire(PromoOfferListResponse))
    .query(async ({ ctx, input }) => ({ ...input, ...(await listPromoOffers(ctx.app, ctx.actor, input)) })),

  create: auditedWebProcedure('promo_offers:create')
    .meta({
      openapi: { method: 'POST', path: '/promo-offers', tags, summary: 'Make an offer to one user' },
      description:
        'Makes an offer to one user. An active unclaimed offer of the same `notification_type` is overwritten. No message is sent.',
      refuses: [
        effectTypeEmpty,
        notificationTypeEmpty,
        userMismatch,
        userRequired,
        subscriptionForeign,
        subscriptionNotFound,
        recipientNotFound,
      ],
    })
    .input(fromWire(PromoOfferCreateRequest))
    .output(toWire(PromoOfferResponse))
    .mutation(({ ctx, input }) => createOffer(ctx.app, ctx.actor, input)),

  broadcast: auditedWebProcedure('promo_offers:send')
    .meta({
      openapi: { method: 'POST', path: '/promo-offers/broadcast', tags, summary: 'Make an offer to a segment of users' },
      description:
        'Makes the same offer to every user of a segment and to a named user. Active unclaimed offers of the same `notification_type` are overwritten. No messages are sent.',
      refuses: [effectTypeEmpty, notificationTypeEmpty, offerNoAudience, offerOneSubscription, recipientNotFound, userMismatch],
    })
    .input(fromWire(PromoOfferBroadcastRequest))
    .output(toWire(PromoOfferBroadcastResponse))
    .mutation(({ ctx, input }) => broadcastOffers(ctx.app, ctx.actor, input)),

  logs: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/promo-offers/logs', tags, summary: 'Log of offers, newest first' },
      description: 'Lists the events of offers and personal discounts: claimed, consumed by a purchase, or disabled.',
    })
    .input(fromWire(PromoOfferLogQuery))
    .output(toWire(PromoOfferLogListResponse))
    .query(async ({ ctx, input }) => ({ ...input, ...(await listOfferLog(ctx.app, ctx.actor, input)) })),

  listTemplates: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/promo-offers/templates', tags, summary: 'List templates of offers' },
      description: 'Lists the templates of offers.',
    })
    .output(toWire(PromoOfferTemplateListResponse))
    .query(async ({ ctx }) => ({ items: await listOfferTemplates(ctx.app) })),

  getTemplate: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/promo-offers/templates/{template_id}', tags, summary: 'A template of offers' },
      description: 'Returns a template.',
      refuses: [webTemplateNotFound],
    })
    .input(fromWire(OfferTemplatePath))
    .output(toWire(PromoOfferTemplateResponse))
    .query(({ ctx, input }) => readOfferTemplate(ctx.app, ctx.actor, input.templateId)),

  updateTemplate: auditedWebProcedure('promo_offers:edit')
    .meta({
      openapi: { method: 'PATCH', path: '/promo-offers/templates/{template_id}', tags, summary: 'Change a template' },
      description: 'Changes a template; null leaves a field unchanged. Offers that were made stay as they are.',
      refuses: [webTemplateNotFound],
    })
    .input(fromWire(withBody(OfferTemplatePath, PromoOfferTemplateUpdateRequest)))
    .output(toWire(PromoOfferTemplateResponse))
    .mutation(({ ctx, input: { templateId, ...changes } }) => changeOfferTemplate(ctx.app, ctx.actor, templateId, changes)),

  get: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/promo-offers/{offer_id}', tags, summary: 'A promo offer' },
      description: 'Returns an offer with its user and subscription.',
      refuses: [offerNotFoundWeb],
    })
    .input(fromWire(OfferPath))
    .output(toWire(PromoOfferResponse))
    .query(({ ctx, input }) => readPromoOffer(ctx.app, ctx.actor, input.offerId)),
});
