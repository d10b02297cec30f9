import { broadcastOffersAsAdmin } from '../../domain/promo/offers/broadcast-offers.ts';
import {
  adminTemplateNotFound,
  effectTypeEmpty,
  noRecipients,
  notificationTypeEmpty,
  recipientNotFound,
  userMismatch,
} from '../../domain/promo/offers/errors.ts';
import {
  changeOfferTemplate,
  listOfferLog,
  listOfferTemplates,
  listPromoOffers,
  readOfferTemplate,
} from '../../domain/promo/offers/offers.ts';
import { adminProcedure, router } from '../trpc.ts';
import { OfferTemplatePath } from '../web/promo-offers.schemas.ts';
import { fromWire, toWire, withBody } from '../wire.ts';
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
    .meta({
      openapi: { method: 'GET', path: `${BASE}/templates`, tags, summary: 'List templates of offers' },
      description: 'Lists the templates of offers.',
    })
    .output(toWire(AdminOfferTemplateListResponse))
    .query(async ({ ctx }) => ({ items: await listOfferTemplates(ctx.app) })),

  getTemplate: adminProcedure('promo_offers:read')
    .meta({
      openapi: { method: 'GET', path: `${BASE}/templates/{template_id}`, tags, summary: 'A template of offers' },
      description: 'Returns a template.',
      refuses: [adminTemplateNotFound],
    })
    .input(fromWire(OfferTemplatePath))
    .output(toWire(AdminOfferTemplateResponse))
    .query(({ ctx, input }) => readOfferTemplate(ctx.app, ctx.actor, input.templateId)),

  updateTemplate: adminProcedure('promo_offers:edit')
    .meta({
      openapi: { method: 'PATCH', path: `${BASE}/templates/{template_id}`, tags, summary: 'Change a template' },
      description: 'Changes a template; null leaves a field unchanged. Offers that were made stay as they are.',
      refuses: [adminTemplateNotFound],
    })
    .input(fromWire(withBody(OfferTemplatePath, AdminOfferTemplateUpdateRequest)))
    .output(toWire(AdminOfferTemplateResponse))
    .mutation(({ ctx, input: { templateId, ...changes } }) => changeOfferTemplate(ctx.app, ctx.actor, templateId, changes)),

  list: adminProcedure('promo_offers:read')
    .meta({
      openapi: { method: 'GET', path: BASE, tags, summary: 'List promo offers, newest first' },
      description: 'Lists promo offers, newest first.',
    })
    .input(fromWire(AdminOfferListQuery))
    .output(toWire(AdminOfferListResponse))
    .query(async ({ ctx, input }) => ({ ...input, ...(await listPromoOffers(ctx.app, ctx.actor, input)) })),

  broadcast: adminProcedure('promo_offers:send')
    .meta({
      openapi: { method: 'POST', path: `${BASE}/broadcast`, tags, summary: 'Make an offer to a segment of users' },
      description:
        'Makes the same offer to every user of a segment and to a named user, overwriting active unclaimed offers of the same `notification_type`. With `send_notification` each gets a message in the messenger; the counts are those reached when the answer is given.',
      refuses: [effectTypeEmpty, noRecipients, notificationTypeEmpty, userMismatch, recipientNotFound],
    })
    .input(fromWire(AdminOfferBroadcastRequest))
    .output(toWire(AdminOfferBroadcastResponse))
    .mutation(async ({ ctx, input }) => {
      const { sent, failed, ...made } = await broadcastOffersAsAdmin(ctx.app, ctx.actor, input);
      return { ...made, notificationsSent: sent, notificationsFailed: failed };
    }),

  logs: adminProcedure('promo_offers:read')
    .meta({
      openapi: { method: 'GET', path: `${BASE}/logs`, tags, summary: 'Log of offers, newest first' },
      description: 'Lists the events of offers and personal discounts: claimed, consumed by a purchase, or disabled.',
    })
    .input(fromWire(AdminOfferLogQuery))
    .output(toWire(AdminOfferLogListResponse))
    .query(async ({ ctx, input }) => ({ ...input, ...(await listOfferLog(ctx.app, ctx.actor, input)) })),
});
