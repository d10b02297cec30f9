import { z } from 'zod';
import { FreeForm, Moment } from '../shared.schemas.ts';

/** Contract group `promo-offers` (spec 04 section 9.3). */

export const OfferPath = z.object({ offer_id: z.int() });
export const OfferTemplatePath = z.object({ template_id: z.int() });

export const PromoOfferUserInfo = z
  .object({
    id: z.int(),
    messenger_id: z.int().nullish(),
    username: z.string().nullish(),
    first_name: z.string().nullish(),
    last_name: z.string().nullish(),
    full_name: z.string().nullish(),
  })
  .meta({ id: 'PromoOfferUserInfo' });

export const PromoOfferSubscriptionInfo = z
  .object({
    id: z.int(),
    status: z.string(),
    is_trial: z.boolean(),
    start_date: Moment,
    end_date: Moment,
    autopay_enabled: z.boolean(),
  })
  .meta({ id: 'PromoOfferSubscriptionInfo' });

export const PromoOfferResponse = z
  .object({
    id: z.int(),
    user_id: z.int(),
    subscription_id: z.int().nullish(),
    notification_type: z.string(),
    discount_percent: z.int(),
    bonus_amount_kopeks: z.int(),
    expires_at: Moment,
    claimed_at: Moment.nullish(),
    is_active: z.boolean(),
    effect_type: z.string(),
    extra_data: FreeForm.default({}),
    created_at: Moment,
    updated_at: Moment,
    user: PromoOfferUserInfo.nullish(),
    subscription: PromoOfferSubscriptionInfo.nullish(),
  })
  .meta({ id: 'PromoOfferResponse' });

export const PromoOfferListResponse = z
  .object({ items: PromoOfferResponse.array(), total: z.int(), limit: z.int(), offset: z.int() })
  .meta({ id: 'PromoOfferListResponse' });

export const OfferPageQuery = z.object({
  limit: z.int().min(1).max(200).default(50),
  offset: z.int().min(0).default(0),
  user_id: z.int().min(1).nullish(),
});

export const PromoOfferListQuery = OfferPageQuery.extend({
  messenger_id: z.int().min(1).nullish(),
  notification_type: z.string().min(1).nullish(),
  is_active: z.boolean().nullish(),
});

/** The terms of an offer, in the Web API and in the administration. */
export const OfferTermsFields = z.object({
  notification_type: z.string().min(1),
  valid_hours: z.int().min(1),
  discount_percent: z.int().min(0).default(0),
  bonus_amount_kopeks: z.int().min(0).default(0),
  effect_type: z.string().min(1).default('percent_discount'),
  extra_data: FreeForm.default({}),
});

const OFFER_EXAMPLE = { notification_type: 'spring', valid_hours: 24, discount_percent: 15, target: 'all' };

export const PromoOfferCreateRequest = OfferTermsFields.extend({
  user_id: z.int().min(1).nullish(),
  messenger_id: z.int().min(1).nullish(),
  subscription_id: z.int().nullish(),
}).meta({
  id: 'PromoOfferCreateRequest',
  example: { notification_type: 'spring', valid_hours: 24, discount_percent: 15, user_id: 1 },
});

export const PromoOfferBroadcastRequest = OfferTermsFields.extend({
  user_id: z.int().min(1).nullish(),
  messenger_id: z.int().min(1).nullish(),
  subscription_id: z.int().nullish(),
  target: z.string().min(1).nullish(),
}).meta({ id: 'PromoOfferBroadcastRequest', example: OFFER_EXAMPLE });

export const PromoOfferBroadcastResponse = z
  .object({ created_offers: z.int(), user_ids: z.int().array(), target: z.string().nullish() })
  .meta({ id: 'PromoOfferBroadcastResponse' });

export const PromoOfferLogQuery = OfferPageQuery.extend({
  offer_id: z.int().min(1).nullish(),
  action: z.string().min(1).nullish(),
  source: z.string().min(1).nullish(),
});

export const OfferLogOfferFields = z.object({
  id: z.int(),
  notification_type: z.string().nullish(),
  discount_percent: z.int().nullish(),
  bonus_amount_kopeks: z.int().nullish(),
  effect_type: z.string().nullish(),
  expires_at: Moment.nullish(),
  claimed_at: Moment.nullish(),
  is_active: z.boolean().nullish(),
});

export const PromoOfferLogOfferInfo = OfferLogOfferFields.meta({ id: 'PromoOfferLogOfferInfo' });

export const OfferLogFields = z.object({
  id: z.int(),
  user_id: z.int().nullish(),
  offer_id: z.int().nullish(),
  action: z.string(),
  source: z.string().nullish(),
  percent: z.int().nullish(),
  effect_type: z.string().nullish(),
  details: FreeForm.default({}),
  created_at: Moment,
});

export const PromoOfferLogResponse = OfferLogFields.extend({
  user: PromoOfferUserInfo.nullish(),
  offer: PromoOfferLogOfferInfo.nullish(),
}).meta({ id: 'PromoOfferLogResponse' });

export const PromoOfferLogListResponse = z
  .object({ items: PromoOfferLogResponse.array(), total: z.int(), limit: z.int(), offset: z.int() })
  .meta({ id: 'PromoOfferLogListResponse' });

export const OfferTemplateFields = z.object({
  id: z.int(),
  name: z.string(),
  offer_type: z.string(),
  message_text: z.string(),
  button_text: z.string(),
  valid_hours: z.int(),
  discount_percent: z.int(),
  bonus_amount_kopeks: z.int(),
  active_discount_hours: z.int().nullish(),
  test_duration_hours: z.int().nullish(),
  is_active: z.boolean(),
  created_by: z.int().nullish(),
});

export const PromoOfferTemplateResponse = OfferTemplateFields.extend({
  test_squad_uuids: z.string().array(),
  created_at: Moment,
  updated_at: Moment,
}).meta({ id: 'PromoOfferTemplateResponse' });

export const PromoOfferTemplateListResponse = z
  .object({ items: PromoOfferTemplateResponse.array() })
  .meta({ id: 'PromoOfferTemplateListResponse' });

export const OfferTemplateUpdateFields = z.object({
  name: z.string().nullish(),
  message_text: z.string().nullish(),
  button_text: z.string().nullish(),
  valid_hours: z.int().min(1).nullish(),
  discount_percent: z.int().min(0).nullish(),
  bonus_amount_kopeks: z.int().min(0).nullish(),
  active_discount_hours: z.int().min(1).nullish(),
  test_duration_hours: z.int().min(1).nullish(),
  test_squad_uuids: z.string().array().nullish(),
  is_active: z.boolean().nullish(),
});

export const TEMPLATE_EXAMPLE = { valid_hours: 48, discount_percent: 20, is_active: true };

export const PromoOfferTemplateUpdateRequest = OfferTemplateUpdateFields.extend({}).meta({
  id: 'PromoOfferTemplateUpdateRequest',
  example: TEMPLATE_EXAMPLE,
});
