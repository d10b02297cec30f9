import { z } from 'zod';
import { MomentInput } from '../moment-input.ts';
import { Moment } from '../shared.schemas.ts';

/** Contract group `transactions` (spec 03 section 1.2). */

export const TransactionListQuery = z.object({
  limit: z.int().min(1).max(200).default(50),
  offset: z.int().min(0).default(0),
  user_id: z.int().nullish(),
  type: z.string().nullish(),
  payment_method: z.string().nullish(),
  is_completed: z.boolean().nullish(),
  date_from: MomentInput.nullish(),
  date_to: MomentInput.nullish(),
});

export const TransactionResponse = z
  .object({
    id: z.int(),
    user_id: z.int(),
    type: z.string(),
    amount_kopeks: z.int(),
    amount_rubles: z.number(),
    description: z.string().nullish(),
    payment_method: z.string().nullish(),
    external_id: z.string().nullish(),
    is_completed: z.boolean(),
    created_at: Moment,
    completed_at: Moment.nullish(),
  })
  .meta({ id: 'TransactionResponse' });

export const TransactionListResponse = z
  .object({ items: TransactionResponse.array(), total: z.int(), limit: z.int(), offset: z.int() })
  .meta({ id: 'TransactionListResponse' });
