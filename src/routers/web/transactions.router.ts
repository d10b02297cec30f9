import { rublesOf } from '../../core/money.ts';
import { listTransactions, type TransactionFilter } from '../../domain/ledger/list-transactions.ts';
import type { TransactionRecord } from '../../domain/ledger/types.ts';
import { utcDate } from '../shared.schemas.ts';
import { router, webProcedure } from '../trpc.ts';
import { TransactionListQuery, TransactionListResponse } from './transactions.schemas.ts';

const tags: [string] = ['transactions'];

export const transactionsRouter = router({
  list: webProcedure
    .meta({ openapi: { method: 'GET', path: '/transactions', tags, summary: 'Movements of money, newest first' } })
    .input(TransactionListQuery)
    .output(TransactionListResponse)
    .query(async ({ ctx, input }) => {
      const { limit, offset } = input;
      const page = await listTransactions(ctx.app, toFilter(input), { limit, offset });
      return { items: page.items.map(toTransactionResponse), total: page.total, limit, offset };
    }),
});

function toFilter(query: TransactionListQuery): TransactionFilter {
  return {
    ...(query.user_id != null && { userId: query.user_id }),
    ...(query.type != null && { type: query.type }),
    ...(query.payment_method != null && { paymentMethod: query.payment_method }),
    ...(query.is_completed != null && { isCompleted: query.is_completed }),
    ...(query.date_from != null && { from: utcDate(query.date_from) }),
    ...(query.date_to != null && { to: utcDate(query.date_to) }),
  };
}

function toTransactionResponse(transaction: TransactionRecord) {
  return {
    id: transaction.id,
    user_id: transaction.userId,
    type: transaction.type,
    amount_kopeks: transaction.amountKopeks,
    amount_rubles: rublesOf(transaction.amountKopeks),
    description: transaction.description,
    payment_method: transaction.paymentMethod,
    external_id: transaction.externalId,
    is_completed: transaction.isCompleted,
    created_at: transaction.createdAt,
    completed_at: transaction.completedAt,
  };
}
