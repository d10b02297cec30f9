import { rublesOf } from '../../../core/money.ts';
import { userNotFound } from '../../../domain/identity/errors.ts';
import { type AvailableTariffs, listAvailableTariffs } from '../../../domain/users/account/give-subscription.ts';
import { listUserGifts } from '../../../domain/users/account/read-user.ts';
import { listReferralsForAdmin, listUsersForAdmin } from '../../../domain/users/list/list-users.ts';
import { readUsersStats } from '../../../domain/users/stats/read-users-stats.ts';
import type { AdminUserItem, AdminUserPage } from '../../../domain/users/types.ts';
import { adminProcedure, router } from '../../trpc.ts';
import { fromWire, toWire } from '../../wire.ts';
import {
  AdminUserGiftsResponse,
  AdminUserListQuery,
  AdminUserPath,
  AvailableTariffsInput,
  UserAvailableTariffsResponse,
  UserReferralsInput,
  UsersListResponse,
  UsersStatsResponse,
} from './lists.schemas.ts';

const tags: [string] = ['Cabinet Admin Users'];

const toItem = (user: AdminUserItem) => ({
  ...user,
  balanceRubles: rublesOf(user.balanceKopeks),
  hasSubscription: user.subscriptionStatus !== null,
  hasRestrictions: user.restrictionTopup || user.restrictionSubscription,
});

const toPage = ({ users, ...page }: AdminUserPage) => ({ users: users.map(toItem), ...page });

function toTariff({ tariff, isAvailable }: AvailableTariffs['tariffs'][number]) {
  const prices = Object.entries(tariff.periodPrices).map(([days, priceKopeks]) => ({ days: Number(days), priceKopeks }));
  return {
    ...tariff,
    periodPrices: prices.sort((a, b) => a.days - b.days).map((price) => ({ ...price, priceRubles: rublesOf(price.priceKopeks) })),
    isAvailable,
    requiresPromoGroup: tariff.allowedPromoGroupIds.length > 0,
  };
}

export const userListsRouter = router({
  list: adminProcedure('users:read')
    .meta({
      openapi: { method: 'GET', path: '/cabinet/admin/users', tags, summary: 'List, search and sort users' },
      description:
        'Lists users with subscription, spending and last activity, filtered by text, e-mail address and status, sorted by one of several fields.',
    })
    .input(fromWire(AdminUserListQuery))
    .output(toWire(UsersListResponse))
    .query(async ({ ctx, input }) => toPage(await listUsersForAdmin(ctx.app, input))),

  stats: adminProcedure('users:read')
    .meta({
      openapi: { method: 'GET', path: '/cabinet/admin/users/stats', tags, summary: 'Statistics of all users' },
      description: 'Counts users by status, age, activity and subscription, and sums up their balances.',
    })
    .output(toWire(UsersStatsResponse))
    .query(async ({ ctx }) => {
      const stats = await readUsersStats(ctx.app);
      return { ...stats, totalBalanceRubles: rublesOf(stats.totalBalanceKopeks) };
    }),

  referrals: adminProcedure('users:read')
    .meta({
      openapi: { method: 'GET', path: '/cabinet/admin/users/{user_id}/referrals', tags, summary: 'List referrals of a user' },
      description: 'Lists the referrals of a user, newest first.',
      refuses: [userNotFound],
    })
    .input(fromWire(UserReferralsInput))
    .output(toWire(UsersListResponse))
    .query(async ({ ctx, input: { userId, ...slice } }) => toPage(await listReferralsForAdmin(ctx.app, userId, slice))),

  gifts: adminProcedure('users:read')
    .meta({
      openapi: { method: 'GET', path: '/cabinet/admin/users/{user_id}/gifts', tags, summary: 'Gifts bought and received' },
      description: 'Lists gifts that the user bought and received, newest first, at most 200 of each.',
      refuses: [userNotFound],
    })
    .input(fromWire(AdminUserPath))
    .output(toWire(AdminUserGiftsResponse))
    .query(({ ctx, input }) => listUserGifts(ctx.app, input.userId)),

  availableTariffs: adminProcedure('users:read')
    .meta({
      openapi: {
        method: 'GET',
        path: '/cabinet/admin/users/{user_id}/available-tariffs',
        tags,
        summary: 'List tariffs that can be given to a user',
      },
      description: 'Lists tariffs and marks those that the promo group of the user allows.',
      refuses: [userNotFound],
    })
    .input(fromWire(AvailableTariffsInput))
    .output(toWire(UserAvailableTariffsResponse))
    .query(async ({ ctx, input: { userId, includeInactive } }) => {
      const { promoGroup, tariffs, current } = await listAvailableTariffs(ctx.app, userId, { includeInactive });
      return {
        userId,
        promoGroupId: promoGroup?.id ?? null,
        promoGroupName: promoGroup?.name ?? null,
        tariffs: tariffs.map(toTariff),
        total: tariffs.length,
        currentTariffId: current?.id ?? null,
        currentTariffName: current?.name ?? null,
      };
    }),
});
