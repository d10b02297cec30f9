import { z } from 'zod';
import { FreeForm, Timestamp } from '../shared.schemas.ts';

/** Contract group `promo-offers`. */

export const OfferPath = z.object({ offer_id: z.int().describe('Id of the offer.') });
export const OfferTemplatePath = z.object({ template_id: z.int().describe('Id of the template.') });

const PromoOfferUserInfo = z
  .object({
    id: z.int().describe('Internal id of the user.'),
    messenger_id: z.int().nullish().describe('Id of the user in the messenger; null for an account without messenger.'),
    username: z.string().nullish().describe('User name in the messenger, without `@`; null when the user has none.'),
    first_name: z.string().nullish().describe('First name; null when unknown.'),
    last_name: z.string().nullish().describe('Last name; null when unknown.'),
    full_name: z.string().nullish().describe('First and last name, else the user name, else a text with the id.'),
  })
  .meta({ id: 'PromoOfferUserInfo' });

const PromoOfferSubscriptionInfo = z
  .object({
    id: z.int().describe('Id of the subscription.'),
    status: z
      .string()
      .describe(
        "Stored status of the recipient's subscription: `active` (trials included), `pending` (ordered, not paid), `expired` (the end has passed), `limited` (traffic used up), `disabled` (access withdrawn) or `trial` (older trials).",
      ),
    is_trial: z.boolean().describe('Whether the subscription is a trial.'),
    start_date: Timestamp.describe('Start of the subscription (UTC).'),
    end_date: Timestamp.describe('End of the subscription (UTC).'),
    autopay_enabled: z.boolean().describe('Whether the subscription is renewed automatically from the balance.'),
  })
  .meta({ id: 'PromoOfferSubscriptionInfo' });

export const PromoOfferResponse = z
  .object({
    id: z.int().describe('Id of the promo offer.'),
    user_id: z.int().describe('Internal id of the user.'),
    subscription_id: z.int().nullish().describe('Id of the subscription; null for none.'),
    notification_type: z
      .string()
      .describe('Occasion of the offer, up to 50 characters. An unclaimed offer of the same type is replaced.'),
    discount_percent: z.int().describe('Discount in percent; 0 for none.'),
    bonus_amount_kopeks: z.int().describe('Amount in kopeks for display; it is not credited.'),
    expires_at: Timestamp.describe('When it stops being valid (UTC).'),
    claimed_at: Timestamp.nullish().describe('When the offer was claimed (UTC); null while it was not.'),
    is_active: z.boolean().describe('Whether the offer is open: false once it was claimed or has expired.'),
    effect_type: z.string().describe('`percent_discount` (a personal discount) or `test_access` (temporary access to servers).'),
    extra_data: FreeForm.default({}).describe('Further values as free-form object.'),
    created_at: Timestamp.describe('When the promo offer was created (UTC).'),
    updated_at: Timestamp.describe('When the offer was last replaced, claimed or ended (UTC).'),
    user: PromoOfferUserInfo.nullish().describe('The user; null when the account no longer exists.'),
    subscription: PromoOfferSubscriptionInfo.nullish().describe('The subscription; null when there is none.'),
  })
  .meta({ id: 'PromoOfferResponse' });

export const PromoOfferListResponse = z
  .object({
    items: PromoOfferResponse.array().describe('A page of promo offers, newest first.'),
    total: z.int().describe('Number of promo offers that match the filters, on all pages.'),
    limit: z.int().describe('Page size that was applied.'),
    offset: z.int().describe('Number of records skipped before this page.'),
  })
  .meta({ id: 'PromoOfferListResponse' });

export const OfferPageQuery = z.object({
  limit: z.int().min(1).max(200).default(50).describe('Greatest number of records in the answer.'),
  offset: z.int().min(0).default(0).describe('Number of records to skip.'),
  user_id: z.int().min(1).nullish().describe('Only offers to this user (internal id).'),
});

export const PromoOfferListQuery = OfferPageQuery.extend({
  messenger_id: z.int().min(1).nullish().describe('Only offers to the user with this messenger id.'),
  notification_type: z.string().min(1).nullish().describe('Only offers of this occasion.'),
  is_active: z.boolean().nullish().describe('Only active records, or only inactive ones.'),
});

/** The terms of an offer, in the Web API and in the administration. */
export const OfferTermsFields = z.object({
  notification_type: z
    .string()
    .min(1)
    .describe('Occasion of the offer, up to 50 characters. An unclaimed offer of the same type is replaced.'),
  valid_hours: z.int().min(1).describe('Hours in which the offer can be claimed.'),
  discount_percent: z.int().min(0).default(0).describe('Discount in percent; 0 for none.'),
  bonus_amount_kopeks: z.int().min(0).default(0).describe('Amount in kopeks for display; it is not credited.'),
  effect_type: z
    .string()
    .min(1)
    .default('percent_discount')
    .describe('`percent_discount` (a personal discount) or `test_access` (temporary access to servers).'),
  extra_data: FreeForm.default({}).describe('Further values as free-form object.'),
});

const OFFER_EXAMPLE = { notification_type: 'spring', valid_hours: 24, discount_percent: 15, target: 'all' };

export const PromoOfferCreateRequest = OfferTermsFields.extend({
  user_id: z
    .int()
    .min(1)
    .nullish()
    .describe('Internal id of the user who gets the offer; may be left out when `messenger_id` is given.'),
  messenger_id: z
    .int()
    .min(1)
    .nullish()
    .describe('Messenger id of the user who gets the offer; may be left out when `user_id` is given.'),
  subscription_id: z.int().nullish().describe('Id of the subscription; null for none.'),
}).meta({
  id: 'PromoOfferCreateRequest',
  example: { notification_type: 'spring', valid_hours: 24, discount_percent: 15, user_id: 1 },
});

export const PromoOfferBroadcastRequest = OfferTermsFields.extend({
  user_id: z.int().min(1).nullish().describe('Internal id of one more recipient, beside those of `target`.'),
  messenger_id: z.int().min(1).nullish().describe('Messenger id of one more recipient, beside those of `target`.'),
  subscription_id: z.int().nullish().describe('Id of the subscription; null for none.'),
  target: z
    .string()
    .min(1)
    .nullish()
    .describe('Segment of the audience, for example `all`, `active`, `trial`, `expired` or `tariff_{id}`; null for none.'),
}).meta({ id: 'PromoOfferBroadcastRequest', example: OFFER_EXAMPLE });

export const PromoOfferBroadcastResponse = z
  .object({
    created_offers: z.int().describe('Number of offers made.'),
    user_ids: z.int().array().describe('Internal ids of the recipients.'),
    target: z
      .string()
      .nullish()
      .describe('Segment of the audience, for example `all`, `active`, `trial`, `expired` or `tariff_{id}`; null for none.'),
  })
  .meta({ id: 'PromoOfferBroadcastResponse' });

export const PromoOfferLogQuery = OfferPageQuery.extend({
  user_id: OfferPageQuery.shape.user_id.describe('Only entries of this user (internal id).'),
  offer_id: z.int().min(1).nullish().describe('Only entries of this offer.'),
  action: z.string().min(1).nullish().describe('Only entries with this action.'),
  source: z.string().min(1).nullish().describe('Only entries with this source.'),
});

export const OfferLogOfferFields = z.object({
  id: z.int().describe('Id of the promo offer.'),
  notification_type: z
    .string()
    .nullish()
    .describe('Occasion of the offer, up to 50 characters. An unclaimed offer of the same type is replaced.'),
  discount_percent: z.int().nullish().describe('Discount in percent; 0 or null for none.'),
  bonus_amount_kopeks: z.int().nullish().describe('Amount in kopeks for display; it is not credited.'),
  effect_type: z
    .string()
    .nullish()
    .describe('`percent_discount` (a personal discount) or `test_access` (temporary access to servers).'),
  expires_at: Timestamp.nullish().describe('When it stops being valid (UTC); null when it never does.'),
  claimed_at: Timestamp.nullish().describe('When the offer was claimed (UTC); null while it was not.'),
  is_active: z.boolean().nullish().describe('Whether the offer is still open: false once it was claimed or has expired.'),
});

const PromoOfferLogOfferInfo = OfferLogOfferFields.meta({ id: 'PromoOfferLogOfferInfo' });

export const OfferLogFields = z.object({
  id: z.int().describe('Id of the event of the offer.'),
  user_id: z.int().nullish().describe('Internal id of the user; null where no user is known.'),
  offer_id: z.int().nullish().describe('Id of the offer; null when it no longer exists.'),
  action: z.string().describe('`claimed`, `consumed` or `disabled`.'),
  source: z.string().nullish().describe('Where it came from; null when unknown.'),
  percent: z.int().nullish().describe('Discount in percent; null when the entry has none.'),
  effect_type: z
    .string()
    .nullish()
    .describe('`percent_discount` (a personal discount) or `test_access` (temporary access to servers).'),
  details: FreeForm.default({}).describe('Further facts of the record as free-form object; its keys depend on the action.'),
  created_at: Timestamp.describe('When the event happened (UTC).'),
});

const PromoOfferLogResponse = OfferLogFields.extend({
  user: PromoOfferUserInfo.nullish().describe('The user; null when the account no longer exists.'),
  offer: PromoOfferLogOfferInfo.nullish().describe('The offer; null when it no longer exists.'),
}).meta({ id: 'PromoOfferLogResponse' });

export const PromoOfferLogListResponse = z
  .object({
    items: PromoOfferLogResponse.array().describe('A page of events of offers and personal discounts, newest first.'),
    total: z.int().describe('Number of events of offers and personal discounts that match the filters, on all pages.'),
    limit: z.int().describe('Page size that was applied.'),
    offset: z.int().describe('Number of records skipped before this page.'),
  })
  .meta({ id: 'PromoOfferLogListResponse' });

export const OfferTemplateFields = z.object({
  id: z.int().describe('Id of the template of the offer.'),
  name: z.string().describe('Name of the template, for administrators.'),
  offer_type: z.string().describe('Kind of the template: `test_access`, `extend_discount` or `purchase_discount`.'),
  message_text: z.string().describe('Text of the message.'),
  button_text: z.string().describe('Text of the button.'),
  valid_hours: z.int().describe('Hours in which the offer can be claimed.'),
  discount_percent: z.int().describe('Discount in percent; 0 for none.'),
  bonus_amount_kopeks: z.int().describe('Amount in kopeks for display; it is not credited.'),
  active_discount_hours: z.int().nullish().describe('Hours for which a claimed discount is valid; null for no end.'),
  test_duration_hours: z.int().nullish().describe('Hours of test access; null for the default of 24.'),
  is_active: z.boolean().describe('A mark for administrators: the service uses inactive templates like active ones.'),
  created_by: z.int().nullish().describe('Who created the record: id of the user, or name of the API token; null when unknown.'),
});

export const PromoOfferTemplateResponse = OfferTemplateFields.extend({
  test_squad_uuids: z.string().array().describe('UUIDs of the servers of test access.'),
  created_at: Timestamp.describe('When the template of the offer was created (UTC).'),
  updated_at: Timestamp.describe('When the template was last changed (UTC).'),
}).meta({ id: 'PromoOfferTemplateResponse' });

export const PromoOfferTemplateListResponse = z
  .object({ items: PromoOfferTemplateResponse.array().describe('Templates of offers.') })
  .meta({ id: 'PromoOfferTemplateListResponse' });

export const OfferTemplateUpdateFields = z.object({
  name: z.string().nullish().describe('New name of the template; null leaves it unchanged.'),
  message_text: z.string().nullish().describe('New text of the message; null leaves it unchanged.'),
  button_text: z.string().nullish().describe('New text of the button; null leaves it unchanged.'),
  valid_hours: z.int().min(1).nullish().describe('Hours in which the offer can be claimed; null leaves them unchanged.'),
  discount_percent: z.int().min(0).nullish().describe('Discount in percent; 0 for none, null leaves it unchanged.'),
  bonus_amount_kopeks: z
    .int()
    .min(0)
    .nullish()
    .describe('Amount in kopeks for display; it is not credited. Null leaves it unchanged.'),
  active_discount_hours: z
    .int()
    .min(1)
    .nullish()
    .describe('Hours for which a claimed discount is valid; null leaves them unchanged.'),
  test_duration_hours: z.int().min(1).nullish().describe('Hours of test access; null leaves them unchanged.'),
  test_squad_uuids: z
    .string()
    .array()
    .nullish()
    .describe('UUIDs of the servers of test access. They replace the stored ones; null leaves them unchanged.'),
  is_active: z
    .boolean()
    .nullish()
    .describe('A mark for administrators, without effect in the service; null leaves it unchanged.'),
});

export const TEMPLATE_EXAMPLE = { valid_hours: 48, discount_percent: 20, is_active: true };

export const PromoOfferTemplateUpdateRequest = OfferTemplateUpdateFields.meta({
  id: 'PromoOfferTemplateUpdateRequest',
  example: TEMPLATE_EXAMPLE,
});
