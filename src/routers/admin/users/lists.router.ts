import { rublesOf } from '../../../core/money.ts';
import { type AvailableTariffs, listAvailableTariffs } from '../../../domain/users/detail/list-available-tariffs.ts';
import { listUserGifts } from '../../../domain/users/detail/list-user-gifts.ts';
import type { AdminUserItem, AdminUserPage, GiftInfo } from '../../../domain/users/detail/types.ts';
import { listReferralsForAdmin, listUsersForAdmin } from '../../../domain/users/list/list-users.ts';
import { readUsersStats } from '../../../domain/users/stats/read-users-stats.ts';
import { adminProcedure, router } from '../../trpc.ts';
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

function toItem(user: AdminUserItem) {
  return {
    id: user.id,
    messenger_id: user.messengerId,
    username: user.username,
    first_name: user.firstName,
    last_name: user.lastName,
    full_name: user.fullName,
    status: user.status,
    balance_kopeks: user.balanceKopeks,
    balance_rubles: rublesOf(user.balanceKopeks),
    created_at: user.createdAt,
    last_activity: user.lastActivity,
    has_subscription: user.subscription !== null,
    subscription_status: user.subscription?.status ?? null,
    subscription_is_trial: user.subscription?.isTrial ?? false,
    subscription_end_date: user.subscription?.endDate ?? null,
    promo_group_id: user.promoGroup?.id ?? null,
    promo_group_name: user.promoGroup?.name ?? null,
    total_spent_kopeks: user.totalSpentKopeks,
    purchase_count: user.purchaseCount,
    has_restrictions: user.restrictionTopup || user.restrictionSubscription,
    restriction_topup: user.restrictionTopup,
    restriction_subscription: user.restrictionSubscription,
  };
}

const toPage = ({ users, ...page }: AdminUserPage) => ({ users: users.map(toItem), ...page });

function toGift(gift: GiftInfo) {
  return {
    id: gift.id,
    token: gift.token,
    status: gift.status,
    tariff_name: gift.tariffName,
    period_days: gift.periodDays,
    device_limit: gift.deviceLimit,
    amount_kopeks: gift.amountKopeks,
    payment_method: gift.paymentMethod,
    gift_recipient_type: gift.recipientType,
    gift_recipient_value: gift.recipientValue,
    gift_message: gift.message,
    buyer_user_id: gift.buyer?.id ?? null,
    buyer_username: gift.buyer?.username ?? null,
    buyer_full_name: gift.buyer?.fullName ?? null,
    receiver_user_id: gift.receiver?.id ?? null,
    receiver_username: gift.receiver?.username ?? null,
    receiver_full_name: gift.receiver?.fullName ?? null,
    created_at: gift.createdAt,
    paid_at: gift.paidAt,
    delivered_at: gift.deliveredAt,
  };
}

function toTariff({ tariff, isAvailable }: AvailableTariffs['tariffs'][number]) {
  const prices = Object.entries(tariff.periodPrices).map(([days, kopeks]) => ({ days: Number(days), price_kopeks: kopeks }));
  return {
    id: tariff.id,
    name: tariff.name,
    description: tariff.description,
    is_active: tariff.isActive,
    is_trial_available: tariff.isTrialAvailable,
    traffic_limit_gb: tariff.trafficLimitGb,
    device_limit: tariff.deviceLimit,
    tier_level: tariff.tierLevel,
    display_order: tariff.displayOrder,
    period_prices: prices
      .sort((a, b) => a.days - b.days)
      .map((price) => ({ ...price, price_rubles: rublesOf(price.price_kopeks) })),
    is_daily: tariff.isDaily,
    daily_price_kopeks: tariff.dailyPriceKopeks,
    custom_days_enabled: tariff.customDaysEnabled,
    price_per_day_kopeks: tariff.pricePerDayKopeks,
    min_days: tariff.minDays,
    max_days: tariff.maxDays,
    device_price_kopeks: tariff.devicePriceKopeks,
    max_device_limit: tariff.maxDeviceLimit,
    traffic_topup_enabled: tariff.trafficTopupEnabled,
    traffic_topup_packages: tariff.trafficTopupPackages,
    max_topup_traffic_gb: tariff.maxTopupTrafficGb,
    is_available: isAvailable,
    requires_promo_group: tariff.allowedPromoGroupIds.length > 0,
  };
}

export const userListsRouter = router({
  list: adminProcedure('users:read')
    .meta({ openapi: { method: 'GET', path: '/cabinet/admin/users', tags, summary: 'List, search and sort users' } })
    .input(AdminUserListQuery)
    .output(UsersListResponse)
    .query(async ({ ctx, input }) => {
      const { limit, offset, search = null, email = null, status = null, sort_by: sort } = input;
      return toPage(await listUsersForAdmin(ctx.app, { limit, offset, search, email, status, sort }));
    }),

  stats: adminProcedure('users:read')
    .meta({ openapi: { method: 'GET', path: '/cabinet/admin/users/stats', tags, summary: 'Numbers over all users' } })
    .output(UsersStatsResponse)
    .query(async ({ ctx }) => {
      const stats = await readUsersStats(ctx.app);
      return {
        total_users: stats.totalUsers,
        active_users: stats.activeUsers,
        blocked_users: stats.totalUsers - stats.activeUsers,
        deleted_users: stats.deletedUsers,
        new_today: stats.newToday,
        new_week: stats.newWeek,
        new_month: stats.newMonth,
        users_with_subscription: stats.withSubscription,
        users_with_active_subscription: stats.withActiveSubscription,
        users_with_trial: stats.withTrial,
        users_with_expired_subscription: stats.withExpiredSubscription,
        total_balance_kopeks: stats.totalBalanceKopeks,
        total_balance_rubles: rublesOf(stats.totalBalanceKopeks),
        avg_balance_kopeks: stats.activeUsers === 0 ? 0 : Math.trunc(stats.totalBalanceKopeks / stats.activeUsers),
        active_today: stats.activeToday,
        active_week: stats.activeWeek,
        active_month: stats.activeMonth,
      };
    }),

  referrals: adminProcedure('users:read')
    .meta({
      openapi: { method: 'GET', path: '/cabinet/admin/users/{user_id}/referrals', tags, summary: 'Whom a user brought' },
    })
    .input(UserReferralsInput)
    .output(UsersListResponse)
    .query(async ({ ctx, input: { user_id, limit, offset } }) =>
      toPage(await listReferralsForAdmin(ctx.app, user_id, { limit, offset })),
    ),

  gifts: adminProcedure('users:read')
    .meta({
      openapi: { method: 'GET', path: '/cabinet/admin/users/{user_id}/gifts', tags, summary: 'Gifts bought and received' },
    })
    .input(AdminUserPath)
    .output(AdminUserGiftsResponse)
    .query(async ({ ctx, input }) => {
      const gifts = await listUserGifts(ctx.app, input.user_id);
      return {
        sent: gifts.sent.map(toGift),
        received: gifts.received.map(toGift),
        sent_total: gifts.sentTotal,
        received_total: gifts.receivedTotal,
      };
    }),

  availableTariffs: adminProcedure('users:read')
    .meta({
      openapi: {
        method: 'GET',
        path: '/cabinet/admin/users/{user_id}/available-tariffs',
        tags,
        summary: 'Tariffs to give to a user',
      },
    })
    .input(AvailableTariffsInput)
    .output(UserAvailableTariffsResponse)
    .query(async ({ ctx, input }) => {
      const found = await listAvailableTariffs(ctx.app, input.user_id, { includeInactive: input.include_inactive });
      return {
        user_id: found.userId,
        promo_group_id: found.promoGroup?.id ?? null,
        promo_group_name: found.promoGroup?.name ?? null,
        tariffs: found.tariffs.map(toTariff),
        total: found.tariffs.length,
        current_tariff_id: found.current?.id ?? null,
        current_tariff_name: found.current?.name ?? null,
      };
    }),
});
