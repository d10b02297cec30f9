import { rublesOf } from '../../../core/money.ts';
import {
  listUserTransactions,
  readUserDetail,
  readUserDetailByMessengerId,
} from '../../../domain/users/detail/read-user-detail.ts';
import type { AdminUserDetail } from '../../../domain/users/detail/types.ts';
import { adminProcedure, router } from '../../trpc.ts';
import { UserDetailResponse, UserTransactionsAnswer } from './detail.schemas.ts';
import { AdminMessengerPath, AdminUserPath, UserTransactionsInput } from './lists.schemas.ts';
import { toSubscriptionInfo, toTransactionItem } from './subscription-info.ts';

const tags: [string] = ['Cabinet Admin Users'];

function toDetail(user: AdminUserDetail) {
  return {
    id: user.id,
    messenger_id: user.messengerId,
    username: user.username,
    first_name: user.firstName,
    last_name: user.lastName,
    full_name: user.fullName,
    status: user.status,
    language: user.language,
    balance_kopeks: user.balanceKopeks,
    balance_rubles: rublesOf(user.balanceKopeks),
    email: user.email,
    email_verified: user.emailVerified,
    created_at: user.createdAt,
    updated_at: user.updatedAt,
    last_activity: user.lastActivity,
    cabinet_last_login: user.cabinetLastLogin,
    subscription: user.subscription && toSubscriptionInfo(user.subscription),
    promo_group: user.promoGroup && {
      id: user.promoGroup.id,
      name: user.promoGroup.name,
      is_default: user.promoGroup.isDefault,
    },
    referral: {
      referral_code: user.referral.code,
      referrals_count: user.referral.count,
      total_earnings_kopeks: user.referral.earningsKopeks,
      commission_percent: user.referral.commissionPercent,
      referred_by_id: user.referral.referredById,
      referred_by_username: user.referral.referredByUsername,
    },
    total_spent_kopeks: user.totalSpentKopeks,
    purchase_count: user.purchaseCount,
    used_promocodes: user.usedPromocodes,
    has_had_paid_subscription: user.hasHadPaidSubscription,
    lifetime_used_traffic_bytes: user.lifetimeUsedTrafficBytes,
    restriction_topup: user.restrictionTopup,
    restriction_subscription: user.restrictionSubscription,
    restriction_reason: user.restrictionReason,
    promo_offer_discount_percent: user.promoOfferPercent,
    promo_offer_discount_source: user.promoOfferSource,
    promo_offer_discount_expires_at: user.promoOfferExpiresAt,
    campaign_name: user.campaign?.name ?? null,
    campaign_id: user.campaign?.id ?? null,
    recent_transactions: user.recentTransactions.map(toTransactionItem),
    vpnpanel_uuid: user.panelUuid,
  };
}

export const userDetailRouter = router({
  get: adminProcedure('users:read')
    .meta({ openapi: { method: 'GET', path: '/cabinet/admin/users/{user_id}', tags, summary: 'Everything about a user' } })
    .input(AdminUserPath)
    .output(UserDetailResponse)
    .query(async ({ ctx, input }) => toDetail(await readUserDetail(ctx.app, input.user_id))),

  getByMessengerId: adminProcedure('users:read')
    .meta({
      openapi: {
        method: 'GET',
        path: '/cabinet/admin/users/by-messenger/{messenger_id}',
        tags,
        summary: 'Everything about the user of a messenger id',
      },
    })
    .input(AdminMessengerPath)
    .output(UserDetailResponse)
    .query(async ({ ctx, input }) => toDetail(await readUserDetailByMessengerId(ctx.app, input.messenger_id))),

  transactions: adminProcedure('users:read')
    .meta({
      openapi: {
        method: 'GET',
        path: '/cabinet/admin/users/{user_id}/transactions',
        tags,
        summary: 'Movements of a user, newest first',
      },
    })
    .input(UserTransactionsInput)
    .output(UserTransactionsAnswer)
    .query(async ({ ctx, input: { user_id, limit, offset, transaction_type: type = null } }) => {
      const page = await listUserTransactions(ctx.app, user_id, { type, limit, offset });
      return { transactions: page.transactions.map(toTransactionItem), total: page.total, offset, limit };
    }),
});
