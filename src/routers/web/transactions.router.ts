import { z } from 'zod';
import { rublesOf } from '../../core/money.ts';
import { listTransactions } from '../../domain/ledger/transactions.ts';
import { Timestamp, TimestampInput, utcDate } from '../shared.schemas.ts';
import { router, webProcedure } from '../trpc.ts';
import { fromWire, toWire } from '../wire.ts';

/** Contract group `transactions`. */

const TransactionListQuery = z.object({
  limit: z.int().min(1).max(200).default(50).describe('Greatest number of records in the answer.'),
  offset: z.int().min(0).default(0).describe('Number of records to skip.'),
  user_id: z.int().nullish().describe('Only movements of this user (internal id).'),
  type: z.string().nullish().describe('Only movements of exactly this type, for example `subscription_payment`; null for all.'),
  payment_method: z.string().nullish().describe('Only movements with this payment method.'),
  is_completed: z.boolean().nullish().describe('Only completed movements, or only open ones.'),
  date_from: TimestampInput.nullish().describe('Only records from this moment on (UTC, inclusive).'),
  date_to: TimestampInput.nullish().describe('Only records up to this moment (UTC, inclusive).'),
});

const TransactionResponse = z
  .object({
    id: z.int().describe('Id of the movement.'),
    user_id: z.int().describe('Internal id of the user.'),
    type: z
      .string()
      .describe(
        'Kind of movement: `deposit` (top-up), `withdrawal` (payout of referral earnings), `subscription_payment` (purchase or renewal), `refund`, `referral_reward`, `poll_reward` or `gift_payment` (gift bought from the balance).',
      ),
    amount_kopeks: z.int().describe('Amount in kopeks, signed: positive adds to the balance, negative takes from it.'),
    amount_rubles: z.number().describe('Amount in rubles: kopeks / 100, with two decimals.'),
    description: z.string().nullish().describe('What the movement was for; null when nothing was recorded.'),
    payment_method: z.string().nullish().describe('How it was paid: id of a provider, `balance` or `manual`; null for bonuses.'),
    external_id: z.string().nullish().describe('Id of the payment at the provider; null for movements without one.'),
    is_completed: z.boolean().describe('Whether it is finished.'),
    created_at: Timestamp.describe('When the movement was recorded (UTC).'),
    completed_at: Timestamp.nullish().describe('When it was finished (UTC); null while it is not.'),
  })
  .meta({ id: 'TransactionResponse' });

const TransactionListResponse = z
  .object({
    items: TransactionResponse.array().describe('A page of movements of money of all users, newest first.'),
    total: z.int().describe('Number of movements of money of all users that match the filters, on all pages.'),
    limit: z.int().describe('Page size that was applied.'),
    offset: z.int().describe('Number of records skipped before this page.'),
  })
  .meta({ id: 'TransactionListResponse' });

const tags: [string] = ['transactions'];

export const transactionsRouter = router({
  list: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/transactions', tags, summary: 'List movements of money, newest first' },
      description:
        'Lists movements of money of all users, newest first. Amounts are signed as they are stored. All filters are combined.',
    })
    .input(fromWire(TransactionListQuery))
    .output(toWire(TransactionListResponse))
    .query(async ({ ctx, input }) => {
      const { limit, offset, dateFrom, dateTo, ...equalities } = input;
      const filter = {
        ...equalities,
        from: dateFrom == null ? null : utcDate(dateFrom),
        to: dateTo == null ? null : utcDate(dateTo),
      };
      const { items, total } = await listTransactions(ctx.app, filter, { limit, offset });
      return { items: items.map((item) => ({ ...item, amountRubles: rublesOf(item.amountKopeks) })), total, limit, offset };
    }),
});
