import { z } from 'zod';
import { FreeForm, Moment } from '../shared.schemas.ts';
import {
  OfferLogFields,
  OfferLogOfferFields,
  OfferPageQuery,
  OfferTemplateFields,
  OfferTemplateUpdateFields,
  OfferTermsFields,
  TEMPLATE_EXAMPLE,
} from '../web/promo-offers.schemas.ts';

/** Contract group `Admin Promo Offers` (spec 04 section 9.4). */

const PREFIX = 'CabinetAdminPromoOffersPromoOffer';

const AdminOfferUser = z
  .object({
    id: z.int(),
    messenger_id: z.int().nullish(),
    email: z.string().nullish(),
    username: z.string().nullish(),
    first_name: z.string().nullish(),
    last_name: z.string().nullish(),
    full_name: z.string().nullish(),
  })
  .meta({ id: `${PREFIX}UserInfo` });

export const AdminOfferResponse = z
  .object({
    id: z.int(),
    user_id: z.int(),
    subscription_id: z.int().nullish(),
    notification_type: z.string().nullish(),
    discount_percent: z.int().nullish(),
    bonus_amount_kopeks: z.int().nullish(),
    expires_at: Moment.nullish(),
    claimed_at: Moment.nullish(),
    is_active: z.boolean(),
    effect_type: z.string().nullish(),
    extra_data: FreeForm.default({}),
    created_at: Moment.nullish(),
    updated_at: Moment.nullish(),
    user: AdminOfferUser.nullish(),
  })
  .meta({ id: `${PREFIX}Response` });

export const AdminOfferListResponse = z
  .object({ items: AdminOfferResponse.array(), total: z.int(), limit: z.int(), offset: z.int() })
  .meta({ id: `${PREFIX}ListResponse` });

export const AdminOfferListQuery = OfferPageQuery.extend({ is_active: z.boolean().nullish() });
export const AdminOfferLogQuery = OfferPageQuery.extend({ action: z.string().min(1).nullish() });

export const AdminOfferBroadcastRequest = OfferTermsFields.extend({
  target: z.string().nullish(),
  user_id: z.int().nullish(),
  messenger_id: z.int().nullish(),
  email: z.string().nullish(),
  send_notification: z.boolean().default(false),
  message_text: z.string().nullish(),
  button_text: z.string().nullish(),
}).meta({
  id: `${PREFIX}BroadcastRequest`,
  example: { notification_type: 'spring', valid_hours: 24, discount_percent: 15, target: 'all' },
});

export const AdminOfferBroadcastResponse = z
  .object({
    created_offers: z.int(),
    user_ids: z.int().array(),
    target: z.string().nullish(),
    notifications_sent: z.int().default(0),
    notifications_failed: z.int().default(0),
  })
  .meta({ id: `${PREFIX}BroadcastResponse` });

export const AdminOfferLogResponse = OfferLogFields.extend({
  user: AdminOfferUser.nullish(),
  offer: OfferLogOfferFields.extend({})
    .meta({ id: `${PREFIX}LogOfferInfo` })
    .nullish(),
}).meta({ id: `${PREFIX}LogResponse` });

export const AdminOfferLogListResponse = z
  .object({ items: AdminOfferLogResponse.array(), total: z.int(), limit: z.int(), offset: z.int() })
  .meta({ id: `${PREFIX}LogListResponse` });

export const AdminOfferTemplateResponse = OfferTemplateFields.extend({
  test_squad_uuids: z.string().array().default([]),
  created_at: Moment.nullish(),
  updated_at: Moment.nullish(),
}).meta({ id: `${PREFIX}TemplateResponse` });

export const AdminOfferTemplateListResponse = z
  .object({ items: AdminOfferTemplateResponse.array() })
  .meta({ id: `${PREFIX}TemplateListResponse` });

export const AdminOfferTemplateUpdateRequest = OfferTemplateUpdateFields.extend({}).meta({
  id: `${PREFIX}TemplateUpdateRequest`,
  example: TEMPLATE_EXAMPLE,
});
