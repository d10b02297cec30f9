import { rublesOf } from '../../core/money.ts';
import { REQUEST_REFUSALS, withdrawalNotFound, withdrawalNotPending } from '../../domain/referrals/withdrawals/errors.ts';
import {
  cancelMyWithdrawal,
  listMyWithdrawals,
  readMyWithdrawalBalance,
  requestWithdrawal,
} from '../../domain/referrals/withdrawals/my-withdrawals.ts';
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
    .meta({
      openapi: { method: 'GET', path: `${ROOT}/balance`, tags, summary: 'What can be withdrawn' },
      description:
        'Returns what was earned, withdrawn and requested, what can be requested now, and why a request would be refused. While withdrawals are switched off every amount is 0.',
    })
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
      description:
        'Requests a payout. No money moves before an administrator approves: then the amount leaves the balance, if the balance still covers it. What is pending cannot be requested again. The administrators are notified in their chat. Accepts `Idempotency-Key`.',
      refuses: [
        REQUEST_REFUSALS.withdrawal_below_minimum,
        REQUEST_REFUSALS.withdrawal_cooldown,
        REQUEST_REFUSALS.withdrawal_exceeds_available,
        REQUEST_REFUSALS.withdrawal_exceeds_referral,
        REQUEST_REFUSALS.withdrawal_off,
        REQUEST_REFUSALS.withdrawal_pending,
      ],
      idempotent: true,
    })
    .input(fromWire(WithdrawalCreateRequest))
    .output(toWire(WithdrawalCreateResponse))
    .mutation(({ ctx, input }) => requestWithdrawal(ctx.app, ctx.actor, input, ctx.idempotencyKey)),

  history: cabinetProcedure
    .meta({
      openapi: { method: 'GET', path: `${ROOT}/history`, tags, summary: 'Own requests, newest first' },
      description: 'Lists the newest 50 own requests, newest first, with the number of all.',
    })
    .output(toWire(WithdrawalListResponse))
    .query(async ({ ctx }) => {
      const { items, total } = await listMyWithdrawals(ctx.app, ctx.actor);
      return { items: items.map((item) => ({ ...item, amountRubles: rublesOf(item.amountKopeks) })), total };
    }),

  cancel: cabinetProcedure
    .meta({
      openapi: { method: 'POST', path: `${ROOT}/{request_id}/cancel`, tags, summary: 'Cancel a pending request' },
      description: 'Cancels an own request that is still pending. No money moves. Accepts `Idempotency-Key`.',
      refuses: [withdrawalNotPending, withdrawalNotFound],
      idempotent: true,
    })
    .input(fromWire(WithdrawalRequestPath))
    .output(SuccessResponse)
    .mutation(({ ctx, input }) => cancelMyWithdrawal(ctx.app, ctx.actor, input.requestId, ctx.idempotencyKey)),
});
