import { rublesOf } from '../../core/money.ts';
import {
  cancelMyWithdrawal,
  listMyWithdrawals,
  readMyWithdrawalBalance,
} from '../../domain/referrals/withdrawals/my-withdrawals.ts';
import { requestWithdrawal } from '../../domain/referrals/withdrawals/request-withdrawal.ts';
import { SuccessResponse } from '../shared.schemas.ts';
import { cabinetProcedure, router } from '../trpc.ts';
import { fromWire, toWire } from '../wire.ts';
import {
  WithdrawalBalanceResponse,
  WithdrawalCreateRequest,
  WithdrawalCreateResponse,
  WithdrawalListResponse,
  WithdrawalRequestPath,
} from './withdrawal.schemas.ts';

const tags: [string] = ['Cabinet Withdrawal'];
const ROOT = '/cabinet/referral/withdrawal';

export const withdrawalRouter = router({
  balance: cabinetProcedure
    .meta({ openapi: { method: 'GET', path: `${ROOT}/balance`, tags, summary: 'What can be withdrawn' } })
    .output(toWire(WithdrawalBalanceResponse))
    .query(async ({ ctx }) => {
      const balance = await readMyWithdrawalBalance(ctx.app, ctx.actor);
      return {
        totalEarned: balance.earnedKopeks,
        referralSpent: balance.referralSpentKopeks,
        withdrawn: balance.withdrawnKopeks,
        pending: balance.pendingKopeks,
        availableReferral: balance.availableReferralKopeks,
        availableTotal: balance.availableTotalKopeks,
        onlyReferralMode: balance.isReferralOnly,
        minAmountKopeks: balance.minAmountKopeks,
        isWithdrawalEnabled: balance.isEnabled,
        canRequest: balance.canRequest,
        cannotRequestReason: balance.refusal,
        requisitesText: balance.requisitesText,
      };
    }),

  create: cabinetProcedure
    .meta({
      openapi: { method: 'POST', path: `${ROOT}/create`, tags, summary: 'Request a withdrawal' },
      idempotent: true,
    })
    .input(fromWire(WithdrawalCreateRequest))
    .output(toWire(WithdrawalCreateResponse))
    .mutation(({ ctx, input }) => requestWithdrawal(ctx.app, ctx.actor, input, ctx.idempotencyKey)),

  history: cabinetProcedure
    .meta({ openapi: { method: 'GET', path: `${ROOT}/history`, tags, summary: 'Own requests, newest first' } })
    .output(toWire(WithdrawalListResponse))
    .query(async ({ ctx }) => {
      const { items, total } = await listMyWithdrawals(ctx.app, ctx.actor);
      return { items: items.map((item) => ({ ...item, amountRubles: rublesOf(item.amountKopeks) })), total };
    }),

  cancel: cabinetProcedure
    .meta({
      openapi: { method: 'POST', path: `${ROOT}/{request_id}/cancel`, tags, summary: 'Cancel a pending request' },
      idempotent: true,
    })
    .input(fromWire(WithdrawalRequestPath))
    .output(SuccessResponse)
    .mutation(({ ctx, input }) => cancelMyWithdrawal(ctx.app, ctx.actor, input.requestId, ctx.idempotencyKey)),
});
