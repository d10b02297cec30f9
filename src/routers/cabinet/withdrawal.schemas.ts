import { z } from 'zod';
import { Moment } from '../shared.schemas.ts';

/** Contract group `Cabinet Withdrawal` (spec 03 section 6). */

export const WithdrawalBalanceResponse = z
  .object({
    total_earned: z.int(),
    referral_spent: z.int(),
    withdrawn: z.int(),
    pending: z.int(),
    available_referral: z.int(),
    available_total: z.int(),
    only_referral_mode: z.boolean(),
    min_amount_kopeks: z.int(),
    is_withdrawal_enabled: z.boolean(),
    can_request: z.boolean(),
    cannot_request_reason: z.string().nullish(),
    requisites_text: z.string().default(''),
  })
  .meta({ id: 'WithdrawalBalanceResponse' });

export const WithdrawalCreateRequest = z
  .object({ amount_kopeks: z.int().gt(0).max(10_000_000), payment_details: z.string().trim().min(5).max(1_000) })
  .meta({ id: 'WithdrawalCreateRequest', example: { amount_kopeks: 150000, payment_details: 'Card 2200 0000 0000 0004' } });

export const WithdrawalCreateResponse = z
  .object({ id: z.int(), amount_kopeks: z.int(), status: z.string() })
  .meta({ id: 'WithdrawalCreateResponse' });

export const WithdrawalListResponse = z
  .object({
    items: z.array(
      z
        .object({
          id: z.int(),
          amount_kopeks: z.int(),
          amount_rubles: z.number(),
          status: z.string(),
          payment_details: z.string().nullish(),
          admin_comment: z.string().nullish(),
          created_at: Moment,
          processed_at: Moment.nullish(),
        })
        .meta({ id: 'WithdrawalItemResponse' }),
    ),
    total: z.int(),
  })
  .meta({ id: 'WithdrawalListResponse' });

export const WithdrawalRequestPath = z.object({ request_id: z.int() });
