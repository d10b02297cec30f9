import { z } from 'zod';
import { rublesOf } from '../../core/money.ts';
import { approverDependent, approverRightsTooNew } from '../../domain/access/independent-approver.ts';
import {
  approveWithdrawal,
  completeWithdrawal,
  listWithdrawals,
  readWithdrawal,
  rejectWithdrawal,
} from '../../domain/referrals/withdrawals/decide.ts';
import {
  decidedWithdrawalNotFound,
  withdrawalBalanceLow,
  withdrawalNotApproved,
  withdrawalNotFound,
  withdrawalProcessed,
  withdrawalSecondApprover,
  withdrawalUserMissing,
} from '../../domain/referrals/withdrawals/errors.ts';
import { FreeForm, SuccessResponse, Timestamp } from '../shared.schemas.ts';
import { adminProcedure, freshAdminProcedure, router } from '../trpc.ts';
import { fromWire, toWire, withBody } from '../wire.ts';

/** Contract group `Cabinet Admin Withdrawals`. */

const WithdrawalListQuery = z.object({
  status: z
    .enum(['pending', 'approved', 'rejected', 'completed', 'cancelled'])
    .nullish()
    .describe('Only requests in this state: `pending`, `approved`, `rejected`, `completed` or `cancelled`.'),
  offset: z.int().min(0).default(0).describe('Number of records to skip.'),
  limit: z.int().min(1).max(100).default(50).describe('Greatest number of records in the answer.'),
});

const WithdrawalPath = z.object({ withdrawal_id: z.int().describe('Id of the withdrawal request.') });

const Comment = z.string().max(2_000).nullish();

const AdminApproveWithdrawalRequest = z
  .object({ comment: Comment.describe('Comment for the other side; null for none.') })
  .meta({ id: 'AdminApproveWithdrawalRequest', example: { comment: 'Paid on Friday' } });
const AdminRejectWithdrawalRequest = z
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

const AdminWithdrawalListResponse = z
  .object({
    items: z
      .array(z.object(RequestFields).meta({ id: 'AdminWithdrawalItem' }))
      .describe('A page of withdrawal requests, newest first.'),
    total: z.int().describe('Number of withdrawal requests that match the filters, on all pages.'),
    pending_count: z.int().default(0).describe('Number of all pending requests, whatever the filter.'),
    pending_total_kopeks: z.int().default(0).describe('Sum of all pending requests, whatever the filter, kopeks.'),
  })
  .meta({ id: 'AdminWithdrawalListResponse' });

const AdminWithdrawalDetailResponse = z
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

const tags: [string] = ['Cabinet Admin Withdrawals'];
const BASE = '/cabinet/admin/withdrawals';

const inRubles = <Row extends { amountKopeks: number }>(row: Row) => ({ ...row, amountRubles: rublesOf(row.amountKopeks) });

export const adminWithdrawalsRouter = router({
  list: adminProcedure('withdrawals:read')
    .meta({
      openapi: { method: 'GET', path: BASE, tags, summary: 'List withdrawal requests, newest first' },
      description: 'Lists withdrawal requests, newest first. The pending requests are counted whatever the filter.',
    })
    .input(fromWire(WithdrawalListQuery))
    .output(toWire(AdminWithdrawalListResponse))
    .query(async ({ ctx, input }) => {
      const found = await listWithdrawals(ctx.app, input);
      return { ...found, items: found.items.map(inRubles) };
    }),

  get: adminProcedure('withdrawals:read')
    .meta({
      openapi: { method: 'GET', path: `${BASE}/{withdrawal_id}`, tags, summary: 'A request with its risk analysis' },
      description:
        'Returns a request with the risk analysis that was made when it was created, and the balance, referrals and rewards of the user now.',
      refuses: [withdrawalNotFound],
    })
    .input(fromWire(WithdrawalPath))
    .output(toWire(AdminWithdrawalDetailResponse))
    .query(async ({ ctx, input }) => inRubles(await readWithdrawal(ctx.app, ctx.actor, input.withdrawalId))),

  approve: freshAdminProcedure('withdrawals:approve')
    .meta({
      openapi: { method: 'POST', path: `${BASE}/{withdrawal_id}/approve`, tags, summary: 'Approve a pending request' },
      description:
        'Approves a pending request: the amount leaves the balance as a movement of type `withdrawal`, which emits `transaction.created`, and the user is notified in the messenger, else by e-mail. Refused when the balance does not cover the amount. Above the amount of `REFERRAL_WITHDRAWAL_SECOND_APPROVAL_KOPEKS` the first approval is only recorded and the request stays pending until another administrator, whose rights do not come from the first, approves it too within `APPROVAL_EXPIRY_HOURS`. Accepts `Idempotency-Key`.',
      refuses: [
        approverDependent,
        approverRightsTooNew,
        withdrawalBalanceLow,
        decidedWithdrawalNotFound,
        withdrawalProcessed,
        withdrawalSecondApprover,
        withdrawalUserMissing,
      ],
      idempotent: true,
    })
    .input(fromWire(withBody(WithdrawalPath, AdminApproveWithdrawalRequest)))
    .output(SuccessResponse)
    .mutation(({ ctx, input: { withdrawalId: id, comment } }) =>
      approveWithdrawal(ctx.app, ctx.actor, { id, comment }, ctx.idempotencyKey),
    ),

  reject: adminProcedure('withdrawals:reject')
    .meta({
      openapi: { method: 'POST', path: `${BASE}/{withdrawal_id}/reject`, tags, summary: 'Reject a pending request' },
      description:
        'Rejects a pending request. No money moves. The user is notified in the messenger, else by e-mail. Accepts `Idempotency-Key`.',
      refuses: [decidedWithdrawalNotFound, withdrawalProcessed],
      idempotent: true,
    })
    .input(fromWire(withBody(WithdrawalPath, AdminRejectWithdrawalRequest)))
    .output(SuccessResponse)
    .mutation(({ ctx, input: { withdrawalId: id, comment } }) =>
      rejectWithdrawal(ctx.app, ctx.actor, { id, comment }, ctx.idempotencyKey),
    ),

  complete: freshAdminProcedure('withdrawals:approve')
    .meta({
      openapi: { method: 'POST', path: `${BASE}/{withdrawal_id}/complete`, tags, summary: 'Record that a request was paid out' },
      description:
        'Records that an approved request was paid out. The balance does not change: the approval has taken the amount from it. Accepts `Idempotency-Key`.',
      refuses: [withdrawalNotApproved, decidedWithdrawalNotFound, withdrawalProcessed],
      idempotent: true,
    })
    .input(fromWire(WithdrawalPath))
    .output(SuccessResponse)
    .mutation(({ ctx, input }) => completeWithdrawal(ctx.app, ctx.actor, input.withdrawalId, ctx.idempotencyKey)),
});
