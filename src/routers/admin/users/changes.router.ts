import { userNotFound } from '../../../domain/identity/errors.ts';
import { TARGET_REFUSALS, targetLevel } from '../../../domain/identity/find-user.ts';
import { subscriptionExists } from '../../../domain/subscriptions/errors.ts';
import {
  daysRequired,
  noSubscription,
  runSubscriptionAction,
  unknownAction,
} from '../../../domain/subscriptions/manual/run-action.ts';
import {
  changeRestrictions,
  changeUserPromoGroup,
  changeUserStatus,
  promoGroupNotFound,
  type StatusChange,
} from '../../../domain/users/account/change-account.ts';
import { changeUserBalance, insufficientBalance } from '../../../domain/users/account/change-balance.ts';
import { changeReferralCommission } from '../../../domain/users/account/read-user.ts';
import { utcDate } from '../../shared.schemas.ts';
import { adminProcedure, router } from '../../trpc.ts';
import { fromWire, toWire } from '../../wire.ts';
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

const tags: [string] = ['Cabinet Admin Users'];

function statusAnswer({ oldStatus, newStatus }: StatusChange) {
  const message = oldStatus === newStatus ? 'Status unchanged' : `Status changed from ${oldStatus} to ${newStatus}`;
  return { success: true, oldStatus, newStatus, message };
}

export const userChangesRouter = router({
  updateBalance: adminProcedure('users:balance')
    .meta({
      openapi: {
        method: 'POST',
        path: '/cabinet/admin/users/{user_id}/balance',
        tags,
        summary: 'Add to a balance or deduct from it',
      },
      description:
        'Adds to the balance of a user, or takes from it when the amount is negative; the balance cannot become negative. Records a movement unless `create_transaction` is false, and emits `payment.completed` or `transaction.created`. Administrators cannot change themselves or those of their own rank or above. Accepts `Idempotency-Key`.',
      refuses: [...TARGET_REFUSALS, insufficientBalance, userNotFound],
      idempotent: true,
    })
    .input(fromWire(UpdateBalanceInput))
    .output(toWire(UpdateBalanceResponse))
    .mutation(async ({ ctx, input: { userId, amountKopeks, description, createTransaction: isShown } }) => {
      const request = { userId, amountKopeks, description, isShown };
      const change = await changeUserBalance(ctx.app, ctx.actor, request, ctx.idempotencyKey);
      return { success: true, ...change, message: 'Balance updated successfully' };
    }),

  updateSubscription: adminProcedure('users:subscription')
    .meta({
      openapi: {
        method: 'POST',
        path: '/cabinet/admin/users/{user_id}/subscription',
        tags,
        summary: 'Change the subscription of a user by hand',
      },
      description:
        'Actions: create, extend, shorten, set_end_date, change_tariff, set_traffic, toggle_autopay, cancel, activate, add_traffic, remove_traffic, set_device_limit.',
      refuses: [...TARGET_REFUSALS, daysRequired, subscriptionExists, unknownAction, noSubscription, userNotFound],
    })
    .input(fromWire(UpdateSubscriptionInput))
    .output(toWire(UpdateSubscriptionResponse))
    .mutation(async ({ ctx, input: { userId, endDate, ...given } }) => {
      const request = { ...given, endDate: endDate ? utcDate(endDate) : null };
      return { success: true, ...(await runSubscriptionAction(ctx.app, ctx.actor, userId, request)) };
    }),

  updateStatus: adminProcedure('users:edit')
    .meta({
      openapi: { method: 'POST', path: '/cabinet/admin/users/{user_id}/status', tags, summary: 'Set the status of a user' },
      description:
        'Sets the status of a user. With any other status than `active` the user is refused in the cabinet immediately. Administrators cannot change themselves or those of their own rank or above.',
      refuses: [targetLevel, userNotFound],
    })
    .input(fromWire(UpdateUserStatusInput))
    .output(toWire(UpdateUserStatusResponse))
    .mutation(async ({ ctx, input: { userId, status, reason = null } }) =>
      statusAnswer(await changeUserStatus(ctx.app, ctx.actor, userId, status, reason)),
    ),

  block: adminProcedure('users:block')
    .meta({
      openapi: { method: 'POST', path: '/cabinet/admin/users/{user_id}/block', tags, summary: 'Block a user' },
      description:
        'Blocks a user: the user is refused in the cabinet immediately. The subscription continues. Administrators cannot change themselves or those of their own rank or above.',
      refuses: [...TARGET_REFUSALS, userNotFound],
      wire: { query: ['reason'] },
    })
    .input(fromWire(BlockUserInput))
    .output(toWire(UpdateUserStatusResponse))
    .mutation(async ({ ctx, input: { userId, reason = null } }) =>
      statusAnswer(await changeUserStatus(ctx.app, ctx.actor, userId, 'blocked', reason)),
    ),

  unblock: adminProcedure('users:block')
    .meta({
      openapi: { method: 'POST', path: '/cabinet/admin/users/{user_id}/unblock', tags, summary: 'Unblock a user' },
      description:
        'Sets the status of a user to `active` again. Administrators cannot change themselves or those of their own rank or above.',
      refuses: [targetLevel, userNotFound],
    })
    .input(fromWire(AdminUserPath))
    .output(toWire(UpdateUserStatusResponse))
    .mutation(async ({ ctx, input }) => statusAnswer(await changeUserStatus(ctx.app, ctx.actor, input.userId, 'active', null))),

  updateRestrictions: adminProcedure('users:edit')
    .meta({
      openapi: {
        method: 'POST',
        path: '/cabinet/admin/users/{user_id}/restrictions',
        tags,
        summary: 'Restrict or allow top-ups and purchases',
      },
      description:
        'Forbids or allows topping up and buying. Null leaves a value unchanged. Administrators cannot change themselves or those of their own rank or above.',
      refuses: [...TARGET_REFUSALS, userNotFound],
    })
    .input(fromWire(UpdateRestrictionsInput))
    .output(toWire(UpdateRestrictionsResponse))
    .mutation(async ({ ctx, input: { userId, ...request } }) => {
      const restrictions = await changeRestrictions(ctx.app, ctx.actor, userId, request);
      return { success: true, ...restrictions, message: 'Restrictions updated successfully' };
    }),

  updatePromoGroup: adminProcedure('users:promo_group')
    .meta({
      openapi: {
        method: 'POST',
        path: '/cabinet/admin/users/{user_id}/promo-group',
        tags,
        summary: 'Put a user into one promo group, or into none',
      },
      description:
        'Puts a user into one promo group in place of all others, or into none. Prices change immediately. Administrators cannot change themselves or those of their own rank or above.',
      refuses: [...TARGET_REFUSALS, promoGroupNotFound, userNotFound],
    })
    .input(fromWire(UpdatePromoGroupInput))
    .output(toWire(UpdatePromoGroupResponse))
    .mutation(async ({ ctx, input: { userId, promoGroupId = null } }) => {
      const change = await changeUserPromoGroup(ctx.app, ctx.actor, userId, promoGroupId);
      const { promoGroupName: name } = change;
      return { success: true, ...change, message: name === null ? 'Promo group removed' : `Promo group changed to ${name}` };
    }),

  updateReferralCommission: adminProcedure('users:referral')
    .meta({
      openapi: {
        method: 'POST',
        path: '/cabinet/admin/users/{user_id}/referral-commission',
        tags,
        summary: 'Set the commission of a user in percent',
      },
      description:
        'Sets the personal commission of a user; null for the general one. Administrators cannot change themselves or those of their own rank or above.',
      refuses: [...TARGET_REFUSALS, userNotFound],
    })
    .input(fromWire(UpdateReferralCommissionInput))
    .output(toWire(UpdateReferralCommissionResponse))
    .mutation(async ({ ctx, input: { userId, commissionPercent: percent = null } }) => {
      const { oldPercent } = await changeReferralCommission(ctx.app, ctx.actor, userId, percent);
      return {
        success: true,
        oldCommissionPercent: oldPercent,
        newCommissionPercent: percent,
        message: percent === null ? 'Referral commission reset to default' : `Referral commission set to ${percent}%`,
      };
    }),
});
