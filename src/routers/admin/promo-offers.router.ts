import { z } from 'zod';
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
import { FreeForm, Timestamp } from '../shared.schemas.ts';
import { adminProcedure, router } from '../trpc.ts';
import {
  OfferLogFields,
  OfferLogOfferFields,
  OfferPageQuery,
  OfferTemplateFields,
  OfferTemplatePath,
  OfferTemplateUpdateFields,
  OfferTermsFields,
  TEMPLATE_EXAMPLE,
} from '../web/promo-offers.schemas.ts';
import { fromWire, toWire, withBody } from '../wire.ts';

/** Contract group `Admin Promo Offers`. */

const PREFIX = 'CabinetAdminPromoOffersPromoOffer';

const AdminOfferUser = z
  .object({
    id: z.int().describe('Internal id of the user.'),
    messenger_id: z.int().nullish().describe('Id of the user in the messenger; null for an account without messenger.'),
    email: z.string().nullish().describe('E-mail address; null when the account has none.'),
    username: z.string().nullish().describe('User name in the messenger, without `@`; null when the user has none.'),
    first_name: z.string().nullish().describe('First name; null when unknown.'),
    last_name: z.string().nullish().describe('Last name; null when unknown.'),
    full_name: z.string().nullish().describe('First and last name, else the user name, else a text with the id.'),
  })
  .meta({ id: `${PREFIX}UserInfo` });

const AdminOfferResponse = z
  .object({
    id: z.int().describe('Id of the promo offer.'),
    user_id: z.int().describe('Internal id of the user.'),
    subscription_id: z.int().nullish().describe('Id of the subscription; null for none.'),
    notification_type: z
      .string()
      .nullish()
      .describe('Occasion of the offer, up to 50 characters. An unclaimed offer of the same type is replaced.'),
    discount_percent: z.int().nullish().describe('Discount in percent; 0 or null for none.'),
    bonus_amount_kopeks: z.int().nullish().describe('Amount in kopeks for display; it is not credited.'),
    expires_at: Timestamp.nullish().describe('When it stops being valid (UTC); null when it never does.'),
    claimed_at: Timestamp.nullish().describe('When the offer was claimed (UTC); null while it was not.'),
    is_active: z.boolean().describe('Whether the offer is open: neither claimed nor expired.'),
    effect_type: z
      .string()
      .nullish()
      .describe('`percent_discount` (a personal discount) or `test_access` (temporary access to servers).'),
    extra_data: FreeForm.default({}).describe('Further values as free-form object.'),
    created_at: Timestamp.nullish().describe('When the promo offer was created (UTC).'),
    updated_at: Timestamp.nullish().describe('When the offer was last made, claimed or ended (UTC).'),
    user: AdminOfferUser.nullish().describe('The user; null when the account no longer exists.'),
  })
  .meta({ id: `${PREFIX}Response` });

const AdminOfferListResponse = z
  .object({
    items: AdminOfferResponse.array().describe('A page of promo offers, newest first.'),
    total: z.int().describe('Number of promo offers that match the filters, on all pages.'),
    limit: z.int().describe('Page size that was applied.'),
    offset: z.int().describe('Number of records skipped before this page.'),
  })
  .meta({ id: `${PREFIX}ListResponse` });

const AdminOfferListQuery = OfferPageQuery.extend({
  is_active: z.boolean().nullish().describe('Only active records, or only inactive ones.'),
});
const AdminOfferLogQuery = OfferPageQuery.extend({
  user_id: OfferPageQuery.shape.user_id.describe('Only entries of this user (internal id).'),
  action: z.string().min(1).nullish().describe('Only entries with this action.'),
});

const AdminOfferBroadcastRequest = OfferTermsFields.extend({
  target: z
    .string()
    .nullish()
    .describe('Segment of the audience, for example `all`, `active`, `trial`, `expired` or `tariff_{id}`; null for none.'),
  user_id: z.int().nullish().describe('Internal id of one more recipient, beside those of `target`.'),
  messenger_id: z.int().nullish().describe('Messenger id of one more recipient, beside those of `target`.'),
  email: z.string().nullish().describe('E-mail address of one more recipient; used only when `messenger_id` is absent.'),
  send_notification: z.boolean().default(false).describe('Whether the recipients get a message in the messenger.'),
  message_text: z
    .string()
    .nullish()
    .describe(
      'Text of the message; placeholders `{discount_percent}`, `{valid_hours}`, `{active_discount_hours}`, `{test_duration_hours}`, `{server_name}`. Null for the default text.',
    ),
  button_text: z.string().nullish().describe('Text of the button; null for the default one.'),
}).meta({
  id: `${PREFIX}BroadcastRequest`,
  example: { notification_type: 'spring', valid_hours: 24, discount_percent: 15, target: 'all' },
});

const AdminOfferBroadcastResponse = z
  .object({
    created_offers: z.int().describe('Number of offers made.'),
    user_ids: z.int().array().describe('Internal ids of the recipients.'),
    target: z
      .string()
      .nullish()
      .describe('Segment of the audience, for example `all`, `active`, `trial`, `expired` or `tariff_{id}`; null for none.'),
    notifications_sent: z.int().default(0).describe('Number of messages that were sent.'),
    notifications_failed: z.int().default(0).describe('Number of recipients whom no message reached.'),
  })
  .meta({ id: `${PREFIX}BroadcastResponse` });

const AdminOfferLogResponse = OfferLogFields.extend({
  user: AdminOfferUser.nullish().describe('The user; null when the account no longer exists.'),
  offer: OfferLogOfferFields.meta({ id: `${PREFIX}LogOfferInfo` })
    .nullish()
    .describe('The offer; null when it no longer exists.'),
}).meta({ id: `${PREFIX}LogResponse` });

const AdminOfferLogListResponse = z
  .object({
    items: AdminOfferLogResponse.array().describe('A page of events of offers and personal discounts, newest first.'),
    total: z.int().describe('Number of events of offers and personal discounts that match the filters, on all pages.'),
    limit: z.int().describe('Page size that was applied.'),
    offset: z.int().describe('Number of records skipped before this page.'),
  })
  .meta({ id: `${PREFIX}LogListResponse` });

const AdminOfferTemplateResponse = OfferTemplateFields.extend({
  test_squad_uuids: z.string().array().default([]).describe('UUIDs of the servers of test access.'),
  created_at: Timestamp.nullish().describe('When the template of the offer was created (UTC).'),
  updated_at: Timestamp.nullish().describe('When the template of the offer was last changed (UTC).'),
}).meta({ id: `${PREFIX}TemplateResponse` });

const AdminOfferTemplateListResponse = z
  .object({ items: AdminOfferTemplateResponse.array().describe('Templates of offers.') })
  .meta({ id: `${PREFIX}TemplateListResponse` });

const AdminOfferTemplateUpdateRequest = OfferTemplateUpdateFields.meta({
  id: `${PREFIX}TemplateUpdateRequest`,
  example: TEMPLATE_EXAMPLE,
});

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
