import { changeUserStatus } from '../../../domain/users/changes/change-status.ts';
import { deleteUserRow } from '../../../domain/users/removal/delete-user.ts';
import { disableUser } from '../../../domain/users/removal/disable-user.ts';
import { eraseUser } from '../../../domain/users/removal/erase-user.ts';
import { resetSubscription, resetTrial } from '../../../domain/users/removal/reset-subscription.ts';
import { adminProcedure, router } from '../../trpc.ts';
import {
  DeleteUserInput,
  DeleteUserResponse,
  DisableUserInput,
  DisableUserResponse,
  FullDeleteUserInput,
  FullDeleteUserResponse,
  ResetSubscriptionInput,
  ResetSubscriptionResponse,
  ResetTrialInput,
  ResetTrialResponse,
} from './removal.schemas.ts';

const tags: [string] = ['Cabinet Admin Users'];

export const userRemovalRouter = router({
  delete: adminProcedure('users:delete')
    .meta({
      openapi: {
        method: 'DELETE',
        path: '/cabinet/admin/users/{user_id}',
        tags,
        summary: 'Mark a user deleted, or delete the row',
      },
      wire: { body: ['soft_delete', 'reason'], bodyOptional: true },
    })
    .input(DeleteUserInput)
    .output(DeleteUserResponse)
    .mutation(async ({ ctx, input: { user_id, soft_delete, reason = null } }) => {
      if (soft_delete) await changeUserStatus(ctx.app, ctx.actor, user_id, 'deleted', reason);
      else await deleteUserRow(ctx.app, ctx.actor, user_id, reason);
      return { success: true, message: soft_delete ? 'User marked as deleted' : 'User deleted permanently' };
    }),

  deleteFully: adminProcedure('users:delete')
    .meta({
      openapi: {
        method: 'DELETE',
        path: '/cabinet/admin/users/{user_id}/full',
        tags,
        summary: 'End an account for good; the financial history stays, without a name',
      },
      wire: { body: ['delete_from_panel', 'reason'], bodyOptional: true },
    })
    .input(FullDeleteUserInput)
    .output(FullDeleteUserResponse)
    .mutation(async ({ ctx, input: { user_id, delete_from_panel: deletesFromPanel, reason = null } }) => {
      const { isErased, panel } = await eraseUser(ctx.app, ctx.actor, user_id, { deletesFromPanel, reason });
      return {
        success: isErased,
        message: isErased ? 'User fully deleted' : 'Failed to delete user',
        deleted_from_bot: isErased,
        deleted_from_panel: panel.isDone,
        panel_error: panel.error,
      };
    }),

  resetTrial: adminProcedure('users:subscription')
    .meta({
      openapi: {
        method: 'POST',
        path: '/cabinet/admin/users/{user_id}/reset-trial',
        tags,
        summary: 'Let a user take a trial again',
      },
      wire: { bodyOptional: true },
    })
    .input(ResetTrialInput)
    .output(ResetTrialResponse)
    .mutation(async ({ ctx, input: { user_id, reason = null } }) => {
      const { isDeleted } = await resetTrial(ctx.app, ctx.actor, user_id, reason);
      return {
        success: true,
        message: 'Trial reset successfully',
        subscription_deleted: isDeleted,
        has_used_trial_reset: true,
      };
    }),

  resetSubscription: adminProcedure('users:subscription')
    .meta({
      openapi: {
        method: 'POST',
        path: '/cabinet/admin/users/{user_id}/reset-subscription',
        tags,
        summary: 'Take the subscription of a user away',
      },
      wire: { bodyOptional: true },
    })
    .input(ResetSubscriptionInput)
    .output(ResetSubscriptionResponse)
    .mutation(async ({ ctx, input: { user_id, deactivate_in_panel: disablesInPanel, reason = null } }) => {
      const { isDeleted, panel } = await resetSubscription(ctx.app, ctx.actor, user_id, { disablesInPanel, reason });
      return {
        success: true,
        message: isDeleted ? 'Subscription reset successfully' : 'User has no subscription to reset',
        subscription_deleted: isDeleted,
        panel_deactivated: panel.isDone,
        panel_error: panel.error,
      };
    }),

  disable: adminProcedure('users:block')
    .meta({
      openapi: {
        method: 'POST',
        path: '/cabinet/admin/users/{user_id}/disable',
        tags,
        summary: 'Block a user and switch an unpaid subscription off',
      },
      wire: { bodyOptional: true },
    })
    .input(DisableUserInput)
    .output(DisableUserResponse)
    .mutation(async ({ ctx, input: { user_id, reason = null } }) => {
      const { isSubscriptionDisabled, panel } = await disableUser(ctx.app, ctx.actor, user_id, reason);
      return {
        success: true,
        message: 'User disabled successfully',
        subscription_deactivated: isSubscriptionDisabled,
        panel_deactivated: panel.isDone,
        user_blocked: true,
        panel_error: panel.error,
      };
    }),
});
