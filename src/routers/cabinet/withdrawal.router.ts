import { z } from 'zod';
import { rublesOf } from '../../core/money.ts';
import { REQUEST_REFUSALS, withdrawalNotFound, withdrawalNotPending } from '../../domain/referrals/withdrawals/errors.ts';
import {
  cancelMyWithdrawal,
  listMyWithdrawals,
  readMyWithdrawalBalance,
  requestWithdrawal,
} from '../../domain/referrals/withdrawals/my-withdrawals.ts';
import { SuccessResponse, Timestamp } from '../shared.schemas.ts';
import { cabinetProcedure, router } from '../trpc.ts';
import { fromWire, toWire } from '../wire.ts';

/** Contract group `Cabinet Withdrawal`. */

const WithdrawalBalanceResponse = z
  .object({
    total_earned: z.int().describe('All referral rewards, kopeks.'),
    referral_spent: z.int().describe('Purchases and withdrawals since the first reward, at most what was earned, kopeks.'),
    withdrawn: z.int().describe('Requests that were approved or paid out, kopeks.'),
    pending: z.int().describe('Requests that wait for a decision, kopeks.'),
    available_referral: z
      .int()
      .describe('Rewards that are neither withdrawn nor requested and are still on the balance, kopeks.'),
    available_total: z.int().describe('Most that can be requested now, kopeks.'),
    only_referral_mode: z.boolean().describe('Whether only rewards can be withdrawn; otherwise the whole balance.'),
    min_amount_kopeks: z.int().describe('Smallest amount of a request in kopeks.'),
    is_withdrawal_enabled: z.boolean().describe('Whether withdrawals are switched on.'),
    can_request: z.boolean().describe('Whether a request can be made now.'),
    cannot_request_reason: z.string().nullish().describe("Why not, in the user's language; null when a request can be made."),
    requisites_text: z.string().default('').describe('Text that asks for the payment details; may be empty.'),
  })
  .meta({ id: 'WithdrawalBalanceResponse' });

const WithdrawalCreateRequest = z
  .object({
    amount_kopeks: z.int().gt(0).max(10_000_000).describe('Amount to pay out in kopeks, from the minimum to what is available.'),
    payment_details: z.string().trim().min(5).max(1_000).describe('Where the money is to go, for example the number of a card.'),
  })
  .meta({ id: 'WithdrawalCreateRequest', example: { amount_kopeks: 150000, payment_details: 'Card 2200 0000 0000 0004' } });

const WithdrawalCreateResponse = z
  .object({
    id: z.int().describe('Id of the withdrawal request.'),
    amount_kopeks: z.int().describe('Amount in kopeks (1 ruble = 100 kopeks).'),
    status: z.string().describe('State of the new request, always `pending`: it waits for a decision.'),
  })
  .meta({ id: 'WithdrawalCreateResponse' });

const WithdrawalListResponse = z
  .object({
    items: z
      .array(
        z
          .object({
            id: z.int().describe('Id of the withdrawal request.'),
            amount_kopeks: z.int().describe('Amount in kopeks (1 ruble = 100 kopeks).'),
            amount_rubles: z.number().describe('Amount in rubles: kopeks / 100, with two decimals.'),
            status: z
              .string()
              .describe(
                'State of the request: `pending` (waits for a decision), `approved` (not paid out yet), `rejected`, `completed` (paid out) or `cancelled` (by the user).',
              ),
            payment_details: z
              .string()
              .nullish()
              .describe('Where the money is to go, as the user wrote it; null when it was deleted with the account.'),
            admin_comment: z.string().nullish().describe('Comment of the administrator; null for none.'),
            created_at: Timestamp.describe('When the user asked for the withdrawal (UTC).'),
            processed_at: Timestamp.nullish().describe(
              'When an administrator last approved, rejected or completed it (UTC); null before.',
            ),
          })
          .meta({ id: 'WithdrawalItemResponse' }),
      )
      .describe('Records of this page.'),
    total: z.int().describe('Number of all records that match the filters, not only of this page.'),
  })
  .meta({ id: 'WithdrawalListResponse' });

const WithdrawalRequestPath = z.object({ request_id: z.int().describe('Id of the own request.') });

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
