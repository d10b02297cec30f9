import { z } from 'zod';
import { FreeForm, Timestamp } from '../shared.schemas.ts';

/** Contract group `Cabinet Admin Withdrawals` (spec 03 section 6). */

export const WithdrawalListQuery = z.object({
  status: z
    .enum(['pending', 'approved', 'rejected', 'completed', 'cancelled'])
    .nullish()
    .describe('Only requests in this state: `pending`, `approved`, `rejected`, `completed` or `cancelled`.'),
  offset: z.int().min(0).default(0).describe('Number of records to skip.'),
  limit: z.int().min(1).max(100).default(50).describe('Greatest number of records in the answer.'),
});

export const WithdrawalPath = z.object({ withdrawal_id: z.int().describe('Id of the withdrawal request.') });

const Comment = z.string().max(2_000).nullish();

export const AdminApproveWithdrawalRequest = z
  .object({ comment: Comment.describe('Comment for the other side; null for none.') })
  .meta({ id: 'AdminApproveWithdrawalRequest', example: { comment: 'Paid on Friday' } });
export const AdminRejectWithdrawalRequest = z
  .object({ comment: Comment.describe('Comment for the other side; null for none.') })
  .meta({ id: 'AdminRejectWithdrawalRequest', example: { comment: 'The card number is wrong' } });

const RequestFields = {
  id: z.int().describe('Id of the withdrawal request.'),
  user_id: z.int().describe('Internal id of the user.'),
  username: z.string().nullish().describe('User name in the messenger, without `@`; null when the user has none.'),
  first_name: z.string().nullish().describe('First name; null when unknown.'),
  messenger_id: z.int().nullish().describe('Id of the user in the messenger; null for an account without messenger.'),
  amount_kopeks: z.int().describe('Amount in kopeks (1 ruble = 100 kopeks).'),
  amount_rubles: z.number().describe('Amount in rubles: kopeks / 100, with two decimals.'),
  status: z
    .string()
    .describe(
      'State of the request: `pending` (waits for a decision), `approved` (not paid out yet), `rejected`, `completed` (paid out) or `cancelled` (by the user).',
    ),
  risk_score: z.int().default(0).describe('How suspicious the request is, 0 to 100.'),
  risk_level: z.string().default('low').describe('`low`, `medium` (30 and above), `high` (50) or `critical` (70).'),
  payment_details: z
    .string()
    .nullish()
    .describe('Where the money is to go, as the user wrote it; null when it was deleted with the account.'),
  admin_comment: z.string().nullish().describe('Comment of the administrator; null for none.'),
  created_at: Timestamp.describe('When the user asked for the withdrawal (UTC).'),
  processed_at: Timestamp.nullish().describe('When an administrator last approved, rejected or completed it (UTC); null before.'),
};

export const AdminWithdrawalListResponse = z
  .object({
    items: z
      .array(z.object(RequestFields).meta({ id: 'AdminWithdrawalItem' }))
      .describe('A page of withdrawal requests, newest first.'),
    total: z.int().describe('Number of withdrawal requests that match the filters, on all pages.'),
    pending_count: z.int().default(0).describe('Number of all pending requests, whatever the filter.'),
    pending_total_kopeks: z.int().default(0).describe('Sum of all pending requests, whatever the filter, kopeks.'),
  })
  .meta({ id: 'AdminWithdrawalListResponse' });

export const AdminWithdrawalDetailResponse = z
  .object({
    ...RequestFields,
    risk_analysis: FreeForm.nullish().describe(
      'Score, level, recommendation, flags and the numbers behind them, at the time of the request; null when there is none.',
    ),
    balance_kopeks: z.int().default(0).describe('What the user can spend now, without what pending requests hold, kopeks.'),
    total_referrals: z.int().default(0).describe('Number of all referrals.'),
    total_earnings_kopeks: z.int().default(0).describe('All rewards in kopeks.'),
    referral_debt_kopeks: z
      .int()
      .optional()
      .describe(
        'Rewards that were taken back with their payments after they had been spent or withdrawn, kopeks; later rewards pay it first.',
      ),
  })
  .meta({ id: 'AdminWithdrawalDetailResponse' });
