import { z } from 'zod';
import { FreeForm, Moment } from '../shared.schemas.ts';

/** Contract group `Cabinet Admin Withdrawals` (spec 03 section 6). */

export const WithdrawalListQuery = z.object({
  status: z.enum(['pending', 'approved', 'rejected', 'completed', 'cancelled']).nullish(),
  offset: z.int().min(0).default(0),
  limit: z.int().min(1).max(100).default(50),
});

export const WithdrawalPath = z.object({ withdrawal_id: z.int() });

const Comment = z.string().max(2_000).nullish();

export const AdminApproveWithdrawalRequest = z
  .object({ comment: Comment })
  .meta({ id: 'AdminApproveWithdrawalRequest', example: { comment: 'Paid on Friday' } });
export const AdminRejectWithdrawalRequest = z
  .object({ comment: Comment })
  .meta({ id: 'AdminRejectWithdrawalRequest', example: { comment: 'The card number is wrong' } });

const RequestFields = {
  id: z.int(),
  user_id: z.int(),
  username: z.string().nullish(),
  first_name: z.string().nullish(),
  messenger_id: z.int().nullish(),
  amount_kopeks: z.int(),
  amount_rubles: z.number(),
  status: z.string(),
  risk_score: z.int().default(0),
  risk_level: z.string().default('low'),
  payment_details: z.string().nullish(),
  admin_comment: z.string().nullish(),
  created_at: Moment,
  processed_at: Moment.nullish(),
};

export const AdminWithdrawalListResponse = z
  .object({
    items: z.array(z.object(RequestFields).meta({ id: 'AdminWithdrawalItem' })),
    total: z.int(),
    pending_count: z.int().default(0),
    pending_total_kopeks: z.int().default(0),
  })
  .meta({ id: 'AdminWithdrawalListResponse' });

export const AdminWithdrawalDetailResponse = z
  .object({
    ...RequestFields,
    risk_analysis: FreeForm.nullish(),
    balance_kopeks: z.int().default(0),
    total_referrals: z.int().default(0),
    total_earnings_kopeks: z.int().default(0),
    referral_debt_kopeks: z.int().optional(),
  })
  .meta({ id: 'AdminWithdrawalDetailResponse' });
