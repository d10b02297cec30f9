import { rublesOf } from '../../core/money.ts';
import { listTransactions } from '../../domain/ledger/transactions.ts';
import { utcDate } from '../shared.schemas.ts';
import { router, webProcedure } from '../trpc.ts';
import { fromWire, toWire } from '../wire.ts';
import { TransactionListQuery, TransactionListResponse } from './transactions.schemas.ts';

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
