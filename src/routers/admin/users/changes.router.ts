import { runSubscriptionAction } from '../../../domain/subscriptions/manual/run-action.ts';
import { changeUserBalance } from '../../../domain/users/changes/change-balance.ts';
import { changeReferralCommission } from '../../../domain/users/changes/change-commission.ts';
import { changeUserPromoGroup } from '../../../domain/users/changes/change-promo-group.ts';
import { changeRestrictions } from '../../../domain/users/changes/change-restrictions.ts';
import { changeUserStatus, type StatusChange } from '../../../domain/users/changes/change-status.ts';
import { utcDate } from '../../shared.schemas.ts';
import { adminProcedure, router } from '../../trpc.ts';
import {
  BlockUserInput,
  UpdateBalanceInput,
  UpdateBalanceResponse,
  UpdatePromoGroupInput,
  UpdatePromoGroupResponse,
  UpdateReferralCommissionInput,
  UpdateReferralCommissionResponse,
  UpdateRestrictionsInput,
  UpdateRestrictionsResponse,
  UpdateSubscriptionInput,
  UpdateSubscriptionResponse,
  UpdateUserStatusInput,
  UpdateUserStatusResponse,
} from './changes.schemas.ts';
import { AdminUserPath } from './lists.schemas.ts';
import { toSubscriptionInfo } from './subscription-info.ts';

const tags: [string] = ['Cabinet Admin Users'];

function toStatusAnswer({ oldStatus, newStatus }: StatusChange) {
  const message = oldStatus === newStatus ? 'Status unchanged' : `Status changed from ${oldStatus} to ${newStatus}`;
  return { success: true, old_status: oldStatus, new_status: newStatus, message };
}

export const userChangesRouter = router({
  updateBalance: adminProcedure('users:balance')
    .meta({
      openapi: {
        method: 'POST',
        path: '/cabinet/admin/users/{user_id}/balance',
        tags,
        summary: 'Add to a balance, or take from it',
      },
      idempotent: true,
    })
    .input(UpdateBalanceInput)
    .output(UpdateBalanceResponse)
    .mutation(async ({ ctx, input }) => {
      const { user_id: userId, amount_kopeks: amountKopeks, description, create_transaction: isShown } = input;
      const request = { userId, amountKopeks, description, isShown };
      const { oldKopeks, newKopeks } = await changeUserBalance(ctx.app, ctx.actor, request, ctx.idempotencyKey);
      const balances = { old_balance_kopeks: oldKopeks, new_balance_kopeks: newKopeks };
      return { success: true, ...balances, message: 'Balance updated successfully' };
    }),

  updateSubscription: adminProcedure('users:subscription')
    .meta({
      openapi: {
        method: 'POST',
        path: '/cabinet/admin/users/{user_id}/subscription',
        tags,
        summary: 'Change the subscription of a user by hand',
        description:
          'Actions: create, extend, shorten, set_end_date, change_tariff, set_traffic, toggle_autopay, cancel, activate, add_traffic, remove_traffic, set_device_limit.',
      },
    })
    .input(UpdateSubscriptionInput)
    .output(UpdateSubscriptionResponse)
    .mutation(async ({ ctx, input }) => {
      const { message, subscription } = await runSubscriptionAction(ctx.app, ctx.actor, input.user_id, {
        action: input.action,
        days: input.days ?? null,
        endDate: input.end_date ? utcDate(input.end_date) : null,
        tariffId: input.tariff_id ?? null,
        trafficLimitGb: input.traffic_limit_gb ?? null,
        trafficUsedGb: input.traffic_used_gb ?? null,
        autopayEnabled: input.autopay_enabled ?? null,
        trafficGb: input.traffic_gb ?? null,
        trafficPurchaseId: input.traffic_purchase_id ?? null,
        isTrial: input.is_trial ?? null,
        deviceLimit: input.device_limit ?? null,
      });
      return { success: true, message, subscription: toSubscriptionInfo(subscription) };
    }),

  updateStatus: adminProcedure('users:edit')
    .meta({
      openapi: { method: 'POST', path: '/cabinet/admin/users/{user_id}/status', tags, summary: 'Set the status of a user' },
    })
    .input(UpdateUserStatusInput)
    .output(UpdateUserStatusResponse)
    .mutation(async ({ ctx, input: { user_id, status, reason = null } }) =>
      toStatusAnswer(await changeUserStatus(ctx.app, ctx.actor, user_id, status, reason)),
    ),

  block: adminProcedure('users:block')
    .meta({
      openapi: { method: 'POST', path: '/cabinet/admin/users/{user_id}/block', tags, summary: 'Block a user' },
      wire: { query: ['reason'] },
    })
    .input(BlockUserInput)
    .output(UpdateUserStatusResponse)
    .mutation(async ({ ctx, input: { user_id, reason = null } }) =>
      toStatusAnswer(await changeUserStatus(ctx.app, ctx.actor, user_id, 'blocked', reason)),
    ),

  unblock: adminProcedure('users:block')
    .meta({ openapi: { method: 'POST', path: '/cabinet/admin/users/{user_id}/unblock', tags, summary: 'Unblock a user' } })
    .input(AdminUserPath)
    .output(UpdateUserStatusResponse)
    .mutation(async ({ ctx, input }) =>
      toStatusAnswer(await changeUserStatus(ctx.app, ctx.actor, input.user_id, 'active', null)),
    ),

  updateRestrictions: adminProcedure('users:edit')
    .meta({
      openapi: {
        method: 'POST',
        path: '/cabinet/admin/users/{user_id}/restrictions',
        tags,
        summary: 'Forbid or allow topping up and buying',
      },
    })
    .input(UpdateRestrictionsInput)
    .output(UpdateRestrictionsResponse)
    .mutation(async ({ ctx, input }) => {
      const saved = await changeRestrictions(ctx.app, ctx.actor, input.user_id, {
        topup: input.restriction_topup ?? null,
        subscription: input.restriction_subscription ?? null,
        reason: input.restriction_reason ?? null,
      });
      return {
        success: true,
        restriction_topup: saved.restrictionTopup,
        restriction_subscription: saved.restrictionSubscription,
        restriction_reason: saved.restrictionReason,
        message: 'Restrictions updated successfully',
      };
    }),

  updatePromoGroup: adminProcedure('users:promo_group')
    .meta({
      openapi: {
        method: 'POST',
        path: '/cabinet/admin/users/{user_id}/promo-group',
        tags,
        summary: 'Put a user into one promo group, or into none',
      },
    })
    .input(UpdatePromoGroupInput)
    .output(UpdatePromoGroupResponse)
    .mutation(async ({ ctx, input }) => {
      const groupId = input.promo_group_id ?? null;
      const change = await changeUserPromoGroup(ctx.app, ctx.actor, input.user_id, groupId);
      return {
        success: true,
        old_promo_group_id: change.oldGroupId,
        new_promo_group_id: change.newGroupId,
        promo_group_name: change.groupName,
        message: change.groupName === null ? 'Promo group removed' : `Promo group changed to ${change.groupName}`,
      };
    }),

  updateReferralCommission: adminProcedure('users:referral')
    .meta({
      openapi: {
        method: 'POST',
        path: '/cabinet/admin/users/{user_id}/referral-commission',
        tags,
        summary: 'Set what a user earns of his referrals, percent',
      },
    })
    .input(UpdateReferralCommissionInput)
    .output(UpdateReferralCommissionResponse)
    .mutation(async ({ ctx, input }) => {
      const percent = input.commission_percent ?? null;
      const { oldPercent } = await changeReferralCommission(ctx.app, ctx.actor, input.user_id, percent);
      return {
        success: true,
        old_commission_percent: oldPercent,
        new_commission_percent: percent,
        message: percent === null ? 'Referral commission reset to default' : `Referral commission set to ${percent}%`,
      };
    }),
});
