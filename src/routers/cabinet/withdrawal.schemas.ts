import { z } from 'zod';
import { Timestamp } from '../shared.schemas.ts';

/** Contract group `Cabinet Withdrawal` (spec 03 section 6). */

export const WithdrawalBalanceResponse = z
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

export const WithdrawalCreateRequest = z
  .object({
    amount_kopeks: z.int().gt(0).max(10_000_000).describe('Amount to pay out in kopeks, from the minimum to what is available.'),
    payment_details: z.string().trim().min(5).max(1_000).describe('Where the money is to go, for example the number of a card.'),
  })
  .meta({ id: 'WithdrawalCreateRequest', example: { amount_kopeks: 150000, payment_details: 'Card 2200 0000 0000 0004' } });

export const WithdrawalCreateResponse = z
  .object({
    id: z.int().describe('Id of the withdrawal request.'),
    amount_kopeks: z.int().describe('Amount in kopeks (1 ruble = 100 kopeks).'),
    status: z.string().describe('State of the new request, always `pending`: it waits for a decision.'),
  })
  .meta({ id: 'WithdrawalCreateResponse' });

export const WithdrawalListResponse = z
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

export const WithdrawalRequestPath = z.object({ request_id: z.int().describe('Id of the own request.') });
