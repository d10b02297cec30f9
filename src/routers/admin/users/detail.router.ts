import { rublesOf } from '../../../core/money.ts';
import { userNotFound } from '../../../domain/identity/errors.ts';
import { listUserTransactions, readUserDetail, readUserDetailByMessengerId } from '../../../domain/users/account/read-user.ts';
import type { AdminUserDetail, TransactionInfo } from '../../../domain/users/types.ts';
import { adminProcedure, router } from '../../trpc.ts';
import { fromWire, toWire } from '../../wire.ts';
import { UserDetailResponse, UserTransactionsAnswer } from './detail.schemas.ts';
import { AdminMessengerPath, AdminUserPath, UserTransactionsInput } from './lists.schemas.ts';

const tags: [string] = ['Cabinet Admin Users'];

const withRubles = (transaction: TransactionInfo) => ({ ...transaction, amountRubles: rublesOf(transaction.amountKopeks) });

const toDetail = (user: AdminUserDetail) => ({
  ...user,
  balanceRubles: rublesOf(user.balanceKopeks),
  recentTransactions: user.recentTransactions.map(withRubles),
});

export const userDetailRouter = router({
  get: adminProcedure('users:read')
    .meta({
      openapi: { method: 'GET', path: '/cabinet/admin/users/{user_id}', tags, summary: 'Everything about a user' },
      description:
        'Returns everything about a user: account, subscription, promo group, referrals, campaign and the newest movements.',
      refuses: [userNotFound],
    })
    .input(fromWire(AdminUserPath))
    .output(toWire(UserDetailResponse))
    .query(async ({ ctx, input }) => toDetail(await readUserDetail(ctx.app, input.userId))),

  getByMessengerId: adminProcedure('users:read')
    .meta({
      openapi: {
        method: 'GET',
        path: '/cabinet/admin/users/by-messenger/{messenger_id}',
        tags,
        summary: 'Everything about the user of a messenger id',
      },
      description: 'Returns everything about the user with this messenger id.',
      refuses: [userNotFound],
    })
    .input(fromWire(AdminMessengerPath))
    .output(toWire(UserDetailResponse))
    .query(async ({ ctx, input }) => toDetail(await readUserDetailByMessengerId(ctx.app, input.messengerId))),

  transactions: adminProcedure('users:read')
    .meta({
      openapi: {
        method: 'GET',
        path: '/cabinet/admin/users/{user_id}/transactions',
        tags,
        summary: 'Movements of a user, newest first',
      },
      description: 'Lists the movements of a user, newest first. Purchases, gifts and withdrawals are negative.',
      refuses: [userNotFound],
    })
    .input(fromWire(UserTransactionsInput))
    .output(toWire(UserTransactionsAnswer))
    .query(async ({ ctx, input: { userId, ...page } }) => {
      const found = await listUserTransactions(ctx.app, userId, page);
      return { ...found, transactions: found.transactions.map(withRubles) };
    }),
});
