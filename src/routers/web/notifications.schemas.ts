import { z } from 'zod';
import { literalTexts } from '../../core/zod-structure.ts';
import { MomentInput } from '../moment-input.ts';
import { FreeForm, Moment } from '../shared.schemas.ts';

/** Contract group `notifications`: the dashboard feed of subscription events (spec 05 section 9.2). */

export const SubscriptionEventListQuery = z.object({
  limit: z.int().min(1).max(200).default(50),
  offset: z.int().min(0).default(0),
  /** May be repeated; an event of any of the types matches. */
  event_type: z.array(z.string()).nullish(),
  user_id: z.int().nullish(),
});

export const SubscriptionEventCreate = z
  .object({
    event_type: literalTexts([
      'activation',
      'purchase',
      'renewal',
      'balance_topup',
      'promocode_activation',
      'referral_link_visit',
      'promo_group_change',
    ]),
    user_id: z.int().min(1),
    subscription_id: z.int().min(1).nullish(),
    transaction_id: z.int().min(1).nullish(),
    amount_kopeks: z.int().min(0).nullish(),
    currency: z.string().min(1).max(16).nullish(),
    message: z.string().max(2000).nullish(),
    occurred_at: MomentInput.nullish(),
    extra: FreeForm.default({}),
  })
  .meta({
    id: 'SubscriptionEventCreate',
    example: {
      event_type: 'activation',
      user_id: 1,
      subscription_id: 1,
      amount_kopeks: 49900,
      currency: 'RUB',
      message: 'Paid in the shop',
    },
  });

export const SubscriptionEventResponse = z
  .object({
    id: z.int(),
    event_type: z.string(),
    user_id: z.int(),
    user_full_name: z.string(),
    user_username: z.string().nullish(),
    user_messenger_id: z.int().nullish(),
    subscription_id: z.int().nullish(),
    transaction_id: z.int().nullish(),
    amount_kopeks: z.int().nullish(),
    currency: z.string().nullish(),
    message: z.string().nullish(),
    occurred_at: Moment,
    created_at: Moment,
    extra: FreeForm.default({}),
  })
  .meta({ id: 'SubscriptionEventResponse' });

export const SubscriptionEventListResponse = z
  .object({
    items: z.array(SubscriptionEventResponse),
    total: z.int(),
    limit: z.int(),
    offset: z.int(),
  })
  .meta({ id: 'SubscriptionEventListResponse' });
