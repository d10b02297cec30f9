import { rublesOf } from '../../core/money.ts';
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
import { SuccessResponse } from '../shared.schemas.ts';
import { adminProcedure, router } from '../trpc.ts';
import { fromWire, toWire, withBody } from '../wire.ts';
import {
  AdminApproveWithdrawalRequest,
  AdminRejectWithdrawalRequest,
  AdminWithdrawalDetailResponse,
  AdminWithdrawalListResponse,
  WithdrawalListQuery,
  WithdrawalPath,
} from './withdrawals.schemas.ts';

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

  approve: adminProcedure('withdrawals:approve')
    .meta({
      openapi: { method: 'POST', path: `${BASE}/{withdrawal_id}/approve`, tags, summary: 'Approve a pending request' },
      description:
        'Approves a pending request: the amount leaves the balance as a movement of type `withdrawal`, which emits `transaction.created`, and the user is notified in the messenger, else by e-mail. Refused when the balance does not cover the amount. Above the amount of `REFERRAL_WITHDRAWAL_SECOND_APPROVAL_KOPEKS` the first approval is only recorded and the request stays pending until another administrator approves it too. Accepts `Idempotency-Key`.',
      refuses: [
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

  complete: adminProcedure('withdrawals:approve')
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
