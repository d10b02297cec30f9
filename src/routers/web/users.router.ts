import { rublesOf } from '../../core/money.ts';
import { adjustBalance } from '../../domain/users/adjust-balance.ts';
import { giveSubscription, withdrawSubscription } from '../../domain/users/give-subscription.ts';
import { listUsers } from '../../domain/users/list-users.ts';
import { readUser, readUserByMessengerId } from '../../domain/users/read-user.ts';
import { registerUser } from '../../domain/users/register-user.ts';
import type { GroupView, SubscriptionView, UserView } from '../../domain/users/types.ts';
import { updateUser } from '../../domain/users/update-user.ts';
import { router, webProcedure } from '../trpc.ts';
import {
  BalanceUpdateRequest,
  MessengerIdPath,
  UserCreateRequest,
  UserListQuery,
  UserListResponse,
  UserPath,
  UserResponse,
  UserSubscriptionCreateRequest,
  UserUpdateRequest,
} from './users.schemas.ts';

const tags: [string] = ['users'];

function toPromoGroupSummary(group: GroupView) {
  return {
    id: group.id,
    name: group.name,
    server_discount_percent: group.serverDiscountPercent,
    traffic_discount_percent: group.trafficDiscountPercent,
    device_discount_percent: group.deviceDiscountPercent,
    apply_discounts_to_addons: group.applyDiscountsToAddons,
  };
}

function toSubscriptionSummary(subscription: SubscriptionView) {
  return {
    id: subscription.id,
    status: subscription.status,
    actual_status: subscription.actualStatus,
    is_trial: subscription.isTrial,
    start_date: subscription.startDate,
    end_date: subscription.endDate,
    traffic_limit_gb: subscription.trafficLimitGb,
    traffic_used_gb: subscription.trafficUsedGb,
    device_limit: subscription.deviceLimit,
    autopay_enabled: subscription.autopayEnabled,
    autopay_days_before: subscription.autopayDaysBefore,
    subscription_url: subscription.subscriptionUrl,
    subscription_crypto_link: subscription.subscriptionCryptoLink,
    connected_squads: subscription.connectedSquads,
  };
}

function toUserResponse(user: UserView) {
  return {
    id: user.id,
    messenger_id: user.messengerId,
    username: user.username,
    first_name: user.firstName,
    last_name: user.lastName,
    status: user.status,
    language: user.language,
    balance_kopeks: user.balanceKopeks,
    balance_rubles: rublesOf(user.balanceKopeks),
    referral_code: user.referralCode,
    referred_by_id: user.referredById,
    has_had_paid_subscription: user.hasHadPaidSubscription,
    has_made_first_topup: user.hasMadeFirstTopup,
    created_at: user.createdAt,
    updated_at: user.updatedAt,
    last_activity: user.lastActivity,
    promo_group: user.promoGroup && toPromoGroupSummary(user.promoGroup),
    subscription: user.subscription && toSubscriptionSummary(user.subscription),
  };
}

export const usersRouter = router({
  list: webProcedure
    .meta({ openapi: { method: 'GET', path: '/users', tags, summary: 'List and search users, newest first' } })
    .input(UserListQuery)
    .output(UserListResponse)
    .query(async ({ ctx, input }) => {
      const { limit, offset, page = null, per_page: perPage = null, status = null, search = null } = input;
      const found = await listUsers(ctx.app, {
        ...{ limit, offset, page, perPage, status, search },
        promoGroupId: input.promo_group_id ?? null,
      });
      return { items: found.users.map(toUserResponse), total: found.total, limit: found.limit, offset: found.offset };
    }),

  create: webProcedure
    .meta({ openapi: { method: 'POST', path: '/users', tags, summary: 'Create a user' } })
    .input(UserCreateRequest)
    .output(UserResponse)
    .mutation(async ({ ctx, input }) =>
      toUserResponse(
        await registerUser(ctx.app, ctx.actor, {
          messengerId: input.messenger_id ?? null,
          username: input.username ?? null,
          firstName: input.first_name ?? null,
          lastName: input.last_name ?? null,
          language: input.language,
          referredById: input.referred_by_id ?? null,
          promoGroupId: input.promo_group_id ?? null,
        }),
      ),
    ),

  get: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/users/{user_id}', tags, summary: 'One user by messenger id, else by internal id' },
    })
    .input(UserPath)
    .output(UserResponse)
    .query(async ({ ctx, input }) => toUserResponse(await readUser(ctx.app, input.user_id))),

  update: webProcedure
    .meta({
      openapi: { method: 'PATCH', path: '/users/{user_id}', tags, summary: 'Change a user; what is absent or null stays' },
    })
    .input(UserPath.extend(UserUpdateRequest.shape))
    .output(UserResponse)
    .mutation(async ({ ctx, input }) =>
      toUserResponse(
        await updateUser(ctx.app, ctx.actor, input.user_id, {
          username: input.username ?? null,
          firstName: input.first_name ?? null,
          lastName: input.last_name ?? null,
          language: input.language ?? null,
          status: input.status ?? null,
          promoGroupId: input.promo_group_id ?? null,
          referralCode: input.referral_code ?? null,
          hasHadPaidSubscription: input.has_had_paid_subscription ?? null,
          hasMadeFirstTopup: input.has_made_first_topup ?? null,
        }),
      ),
    ),

  getByMessengerId: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/users/by-messenger-id/{messenger_id}', tags, summary: 'One user by messenger id' },
    })
    .input(MessengerIdPath)
    .output(UserResponse)
    .query(async ({ ctx, input }) => toUserResponse(await readUserByMessengerId(ctx.app, input.messenger_id))),

  adjustBalance: webProcedure
    .meta({
      openapi: { method: 'POST', path: '/users/{user_id}/balance', tags, summary: 'Add to a balance, or take from it' },
      idempotent: true,
    })
    .input(UserPath.extend(BalanceUpdateRequest.shape))
    .output(UserResponse)
    .mutation(async ({ ctx, input }) => {
      const { user_id: user, amount_kopeks: amountKopeks, description, create_transaction: isShown } = input;
      const adjustment = { user, amountKopeks, description, isShown };
      return toUserResponse(await adjustBalance(ctx.app, ctx.actor, adjustment, ctx.idempotencyKey));
    }),

  giveSubscription: webProcedure
    .meta({
      openapi: {
        method: 'POST',
        path: '/users/{user_id}/subscription',
        tags,
        summary: 'Give a user a subscription without charging',
      },
    })
    .input(UserPath.extend(UserSubscriptionCreateRequest.shape))
    .output(UserResponse)
    .mutation(async ({ ctx, input }) =>
      toUserResponse(
        await giveSubscription(ctx.app, ctx.actor, input.user_id, {
          isTrial: input.is_trial,
          durationDays: input.duration_days ?? null,
          trafficLimitGb: input.traffic_limit_gb ?? null,
          deviceLimit: input.device_limit ?? null,
          squadUuid: input.squad_uuid ?? null,
          connectedSquads: input.connected_squads ?? null,
          replaceExisting: input.replace_existing,
        }),
      ),
    ),

  withdrawSubscription: webProcedure
    .meta({
      openapi: {
        method: 'DELETE',
        path: '/users/{user_id}/subscription',
        tags,
        summary: "Switch a user's subscription off; it is kept",
      },
    })
    .input(UserPath)
    .output(UserResponse)
    .mutation(async ({ ctx, input }) => toUserResponse(await withdrawSubscription(ctx.app, ctx.actor, input.user_id))),
});
