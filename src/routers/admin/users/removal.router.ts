import { userNotFound } from '../../../domain/identity/errors.ts';
import { TARGET_REFUSALS } from '../../../domain/identity/find-user.ts';
import { changeUserStatus } from '../../../domain/users/account/change-account.ts';
import {
  deleteUserRow,
  disableUser,
  eraseUser,
  hasHistory,
  resetSubscription,
  resetTrial,
} from '../../../domain/users/removal.ts';
import { adminProcedure, router } from '../../trpc.ts';
import { fromWire, toWire } from '../../wire.ts';
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
      description:
        'Marks a user deleted, or deletes the row, which is possible only while no other record depends on it. Administrators cannot change themselves or those of their own rank or above.',
      refuses: [...TARGET_REFUSALS, userNotFound, hasHistory],
      wire: { body: ['soft_delete', 'reason'], bodyOptional: true },
    })
    .input(fromWire(DeleteUserInput))
    .output(toWire(DeleteUserResponse))
    .mutation(async ({ ctx, input: { userId, softDelete, reason = null } }) => {
      if (softDelete) await changeUserStatus(ctx.app, ctx.actor, userId, 'deleted', reason);
      else await deleteUserRow(ctx.app, ctx.actor, userId, reason);
      return { success: true, message: softDelete ? 'User marked as deleted' : 'User deleted permanently' };
    }),

  deleteFully: adminProcedure('users:delete')
    .meta({
      openapi: {
        method: 'DELETE',
        path: '/cabinet/admin/users/{user_id}/full',
        tags,
        summary: 'Erase an account; its financial history is retained without personal data',
      },
      description:
        'Deletes an account permanently, on request with the panel user. Movements of money remain without a name, because ledger entries are never deleted. A failure changes nothing in the service. Administrators cannot change themselves or those of their own rank or above.',
      refuses: [...TARGET_REFUSALS, userNotFound],
      wire: { body: ['delete_from_panel', 'reason'], bodyOptional: true },
    })
    .input(fromWire(FullDeleteUserInput))
    .output(toWire(FullDeleteUserResponse))
    .mutation(async ({ ctx, input: { userId, deleteFromPanel: deletesFromPanel, reason = null } }) => {
      const { isErased, panel, isPanelPending } = await eraseUser(ctx.app, ctx.actor, userId, { deletesFromPanel, reason });
      return {
        success: isErased,
        message: isErased
          ? `User fully deleted${isPanelPending ? '; deletion from the panel is pending' : ''}`
          : 'Failed to delete user',
        deletedFromBot: isErased,
        deletedFromPanel: panel.isDone,
        panelError: panel.error,
      };
    }),

  resetTrial: adminProcedure('users:subscription')
    .meta({
      openapi: {
        method: 'POST',
        path: '/cabinet/admin/users/{user_id}/reset-trial',
        tags,
        summary: 'Reset the trial of a user',
      },
      description:
        'Lets a user take a trial again: an unpaid subscription is deleted and disabled in the panel. An active paid subscription remains. Administrators cannot change themselves or those of their own rank or above.',
      refuses: [...TARGET_REFUSALS, userNotFound],
      wire: { bodyOptional: true },
    })
    .input(fromWire(ResetTrialInput))
    .output(toWire(ResetTrialResponse))
    .mutation(async ({ ctx, input: { userId, reason = null } }) => {
      const { isDeleted } = await resetTrial(ctx.app, ctx.actor, userId, reason);
      return {
        success: true,
        message: 'Trial reset successfully',
        subscriptionDeleted: isDeleted,
        hasUsedTrialReset: true,
      };
    }),

  resetSubscription: adminProcedure('users:subscription')
    .meta({
      openapi: {
        method: 'POST',
        path: '/cabinet/admin/users/{user_id}/reset-subscription',
        tags,
        summary: 'Delete the subscription of a user',
      },
      description:
        'Deletes the subscription of a user, paid or not, and on request disables the panel user. Nothing is refunded. Administrators cannot change themselves or those of their own rank or above.',
      refuses: [...TARGET_REFUSALS, userNotFound],
      wire: { bodyOptional: true },
    })
    .input(fromWire(ResetSubscriptionInput))
    .output(toWire(ResetSubscriptionResponse))
    .mutation(async ({ ctx, input: { userId, deactivateInPanel: disablesInPanel, reason = null } }) => {
      const { isDeleted, panel } = await resetSubscription(ctx.app, ctx.actor, userId, { disablesInPanel, reason });
      return {
        success: true,
        message: isDeleted ? 'Subscription reset successfully' : 'User has no subscription to reset',
        subscriptionDeleted: isDeleted,
        panelDeactivated: panel.isDone,
        panelError: panel.error,
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
      description:
        'Blocks a user and disables the subscription, in the service and in the panel. An active paid subscription continues. Administrators cannot change themselves or those of their own rank or above.',
      refuses: [...TARGET_REFUSALS, userNotFound],
      wire: { bodyOptional: true },
    })
    .input(fromWire(DisableUserInput))
    .output(toWire(DisableUserResponse))
    .mutation(async ({ ctx, input: { userId, reason = null } }) => {
      const { isSubscriptionDisabled, panel } = await disableUser(ctx.app, ctx.actor, userId, reason);
      return {
        success: true,
        message: 'User disabled successfully',
        subscriptionDeactivated: isSubscriptionDisabled,
        panelDeactivated: panel.isDone,
        userBlocked: true,
        panelError: panel.error,
      };
    }),
});
