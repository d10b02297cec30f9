import { z } from 'zod';
import { changeBalance } from '../../../domain/approvals/request-approval.ts';
import { userNotFound } from '../../../domain/identity/errors.ts';
import { TARGET_REFUSALS, targetLevel, targetProtected } from '../../../domain/identity/find-user.ts';
import { ACTION_REFUSES, runSubscriptionAction } from '../../../domain/subscriptions/manual/run-action.ts';
import {
  changeRestrictions,
  changeUserPromoGroup,
  changeUserStatus,
  promoGroupNotFound,
  type StatusChange,
} from '../../../domain/users/account/change-account.ts';
import { insufficientBalance } from '../../../domain/users/account/change-balance.ts';
import { changeReferralCommission } from '../../../domain/users/account/read-user.ts';
import { Timestamp, TimestampInput, utcDate } from '../../shared.schemas.ts';
import { adminProcedure, router } from '../../trpc.ts';
import { fromWire, toWire, withBody } from '../../wire.ts';
import { UserSubscriptionInfo } from './detail.schemas.ts';
import { AdminUserPath } from './lists.schemas.ts';

/** Changes of the contract group `Cabinet Admin Users`. */

const UpdateBalanceRequest = z
  .object({
    amount_kopeks: z
      .int()
      .min(-2_000_000_000)
      .max(2_000_000_000)
      .describe('Kopeks to add; negative to deduct. The balance cannot become negative.'),
    description: z
      .string()
      .max(500)
      .default('Admin balance adjustment')
      .describe('Reason of the change, stored with the movement.'),
    create_transaction: z
      .boolean()
      .default(true)
      .describe('Whether a movement is recorded. False changes the balance without a row in the history of the user.'),
  })
  .meta({ id: 'UpdateBalanceRequest' });

const UpdateBalanceInput = withBody(AdminUserPath, UpdateBalanceRequest);

const UpdateBalanceResponse = z
  .object({
    success: z.boolean().describe('Always true: a deduction beyond the balance is answered with an error status.'),
    old_balance_kopeks: z.int().describe('Balance before the change, kopeks.'),
    new_balance_kopeks: z.int().describe('Balance after the change, kopeks; while the change waits, without what it holds.'),
    message: z.string().describe('Sentence for people that describes the outcome. Not for programs.'),
    approval: z
      .object({
        id: z.int().describe('Id of the approval.'),
        expires_at: Timestamp.describe('Until when it can be approved (UTC).'),
      })
      .nullish()
      .describe('The change waits for a second administrator; null when it was made.'),
  })
  .meta({ id: 'UpdateBalanceResponse' });

const UpdateSubscriptionRequest = z
  .object({
    action: z
      .string()
      .describe(
        '`create`, `extend`, `shorten`, `set_end_date`, `change_tariff`, `set_traffic`, `toggle_autopay`, `cancel`, `activate`, `add_traffic`, `remove_traffic` or `set_device_limit`.',
      ),
    days: z.int().min(1).max(3650).nullish().describe('Number of days, for `create`, `extend` and `shorten`; null otherwise.'),
    end_date: TimestampInput.nullish().describe('New end (UTC), for `set_end_date`; null otherwise.'),
    tariff_id: z.int().nullish().describe('Tariff, for `create` and `change_tariff`; null otherwise.'),
    traffic_limit_gb: z
      .int()
      .min(0)
      .nullish()
      .describe('Limit in GB, 0 = unlimited, for `create` and `set_traffic`; null for the default or unchanged.'),
    traffic_used_gb: z.number().min(0).nullish().describe('Used traffic in GB, for `set_traffic`; null leaves it unchanged.'),
    autopay_enabled: z.boolean().nullish().describe('Automatic renewal, for `toggle_autopay`; null otherwise.'),
    traffic_gb: z.int().min(1).nullish().describe('Traffic in GB, for `add_traffic`; null otherwise.'),
    traffic_purchase_id: z.int().nullish().describe('Id of the package, for `remove_traffic`; null otherwise.'),
    is_trial: z.boolean().nullish().describe('Whether the new subscription is a trial, for `create`; null for no.'),
    device_limit: z.int().min(1).nullish().describe('Device limit, for `create` and `set_device_limit`; null otherwise.'),
  })
  .meta({ id: 'UpdateSubscriptionRequest', example: { action: 'extend', days: 30 } });

const UpdateSubscriptionInput = withBody(AdminUserPath, UpdateSubscriptionRequest);

const UpdateSubscriptionResponse = z
  .object({
    success: z.boolean().describe('Always true: an action that cannot be done is answered with an error status.'),
    message: z.string().describe('Sentence for people that describes the outcome. Not for programs.'),
    subscription: UserSubscriptionInfo.nullish().describe('The subscription; null when there is none.'),
  })
  .meta({ id: 'UpdateSubscriptionResponse' });

const Reason = z.string().max(500).nullish();

const UpdateUserStatusRequest = z
  .object({
    status: z
      .enum(['active', 'blocked', 'deleted'])
      .describe(
        'New status of the account: `active`, `blocked` (by an administrator; every request of the user is refused) or `deleted`.',
      ),
    reason: Reason.describe('Why; null when no reason is known or was given.'),
  })
  .meta({ id: 'UpdateUserStatusRequest', example: { status: 'blocked', reason: 'Chargeback' } });

const UpdateUserStatusInput = withBody(AdminUserPath, UpdateUserStatusRequest);

const BlockUserInput = AdminUserPath.extend({ reason: z.string().nullish().describe('Reason, for the record.') });

const UpdateUserStatusResponse = z
  .object({
    success: z.boolean().describe('Always true, also when the account already had the status.'),
    old_status: z.string().describe('Status before the operation.'),
    new_status: z.string().describe('Status after the operation.'),
    message: z.string().describe('Sentence for people that describes the outcome. Not for programs.'),
  })
  .meta({ id: 'UpdateUserStatusResponse' });

const UpdateRestrictionsRequest = z
  .object({
    restriction_topup: z.boolean().nullish().describe('Whether topping up is forbidden. Null in a request leaves it unchanged.'),
    restriction_subscription: z
      .boolean()
      .nullish()
      .describe('Whether buying and renewing is forbidden. Null in a request leaves it unchanged.'),
    restriction_reason: Reason.describe('Why it is forbidden, up to 500 characters; null for no reason.'),
  })
  .meta({
    id: 'UpdateRestrictionsRequest',
    example: { restriction_topup: true, restriction_subscription: false, restriction_reason: 'Chargeback' },
  });

const UpdateRestrictionsInput = withBody(AdminUserPath, UpdateRestrictionsRequest);

const UpdateRestrictionsResponse = z
  .object({
    success: z.boolean().describe('Always true: restrictions that may not be changed are answered with an error status.'),
    restriction_topup: z.boolean().describe('Whether topping up is forbidden.'),
    restriction_subscription: z.boolean().describe('Whether buying and renewing is forbidden.'),
    restriction_reason: z.string().nullish().describe('Why it is forbidden, up to 500 characters; null for no reason.'),
    message: z.string().describe('Sentence for people that describes the outcome. Not for programs.'),
  })
  .meta({ id: 'UpdateRestrictionsResponse' });

const UpdatePromoGroupRequest = z
  .object({ promo_group_id: z.int().nullish().describe('Id of the promo group; null for none.') })
  .meta({ id: 'UpdatePromoGroupRequest' });

const UpdatePromoGroupInput = withBody(AdminUserPath, UpdatePromoGroupRequest);

const UpdatePromoGroupResponse = z
  .object({
    success: z.boolean().describe('Always true: an unknown promo group is answered with an error status.'),
    old_promo_group_id: z.int().nullish().describe('Primary promo group before; null for none.'),
    new_promo_group_id: z.int().nullish().describe('Primary promo group after; null for none.'),
    promo_group_name: z.string().nullish().describe('Name of the primary promo group; null for none.'),
    message: z.string().describe('Sentence for people that describes the outcome. Not for programs.'),
  })
  .meta({ id: 'UpdatePromoGroupResponse' });

const UpdateReferralCommissionRequest = z
  .object({
    commission_percent: z
      .int()
      .min(0)
      .max(100)
      .nullish()
      .describe('Share of top-ups of referrals that is credited, percent; null for the general one.'),
  })
  .meta({ id: 'UpdateReferralCommissionRequest' });

const UpdateReferralCommissionInput = withBody(AdminUserPath, UpdateReferralCommissionRequest);

const UpdateReferralCommissionResponse = z
  .object({
    success: z.boolean().describe('Always true: a user who cannot be changed is answered with an error status.'),
    old_commission_percent: z
      .number()
      .nullish()
      .describe('Personal commission before the change, percent; null for the general one.'),
    new_commission_percent: z
      .int()
      .nullish()
      .describe('Personal commission after the change, percent; null for the general one.'),
    message: z.string().describe('Sentence for people that describes the outcome. Not for programs.'),
  })
  .meta({ id: 'UpdateReferralCommissionResponse' });

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
        'Adds to the balance of a user, or takes from it when the amount is negative; the balance cannot become negative. Records a movement unless `create_transaction` is false, and emits `payment.completed` or `transaction.created`. Administrators cannot change themselves or those of their own rank or above. Above `APPROVAL_BALANCE_CHANGE_KOPEKS`, alone or with the other changes of the caller within a day, nothing is changed until a second administrator approves (`approval` in the answer); what it would take is held meanwhile. Accepts `Idempotency-Key`.',
      refuses: [...TARGET_REFUSALS, insufficientBalance, userNotFound],
      idempotent: true,
    })
    .input(fromWire(UpdateBalanceInput))
    .output(toWire(UpdateBalanceResponse))
    .mutation(async ({ ctx, input: { userId, amountKopeks, description, createTransaction: isShown } }) => {
      const request = { userId, amountKopeks, description, isShown };
      const change = await changeBalance(ctx.app, ctx.actor, request, ctx.idempotencyKey);
      const { approval } = change;
      const message =
        approval === null ? 'Balance updated successfully' : `Waits for a second administrator: approval ${approval.id}`;
      return { success: true, ...change, message };
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
      refuses: [...TARGET_REFUSALS, ...ACTION_REFUSES, userNotFound],
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
      refuses: [targetLevel, targetProtected, userNotFound],
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
      refuses: [targetLevel, targetProtected, userNotFound],
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
