import { z } from 'zod';
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
import { adminProcedure, freshAdminProcedure, router } from '../../trpc.ts';
import { fromWire, toWire, withBody } from '../../wire.ts';
import { AdminUserPath } from './lists.schemas.ts';

/** Deletions, resets and switching off, of the contract group `Cabinet Admin Users`. */

const Reason = z.string().max(500).nullish();

const DeleteUserRequest = z
  .object({
    soft_delete: z
      .boolean()
      .default(true)
      .describe('True marks the user deleted; false deletes the row, which fails where others depend on it.'),
    reason: Reason.describe('Why; null when no reason is known or was given.'),
  })
  .meta({ id: 'DeleteUserRequest', example: { soft_delete: true, reason: 'Asked for it in ticket 12' } });

const DeleteUserInput = withBody(AdminUserPath, DeleteUserRequest);

const DeleteUserResponse = z
  .object({
    success: z.boolean().describe('Always true: a refused or failed deletion is answered with an error status.'),
    message: z.string().describe('Sentence for people that describes the outcome. Not for programs.'),
  })
  .meta({ id: 'DeleteUserResponse' });

const FullDeleteUserRequest = z
  .object({
    delete_from_panel: z.boolean().default(true).describe('Whether the user is deleted in the panel too.'),
    reason: Reason.describe('Why; null when no reason is known or was given.'),
  })
  .meta({ id: 'FullDeleteUserRequest', example: { delete_from_panel: true, reason: 'Asked for it in ticket 12' } });

const FullDeleteUserInput = withBody(AdminUserPath, FullDeleteUserRequest);

const FullDeleteUserResponse = z
  .object({
    success: z.boolean().describe('Whether the account was deleted; otherwise nothing was changed in the service.'),
    message: z.string().describe('Sentence for people that describes the outcome. Not for programs.'),
    deleted_from_bot: z.boolean().default(false).describe('Whether the account was deleted in the service.'),
    deleted_from_panel: z.boolean().default(false).describe('Whether the user was deleted or disabled in the panel.'),
    panel_error: z.string().nullish().describe('Why the panel could not be changed; null when it was.'),
  })
  .meta({ id: 'FullDeleteUserResponse' });

const ResetTrialRequest = z
  .object({ reason: Reason.describe('Why; null when no reason is known or was given.') })
  .meta({ id: 'ResetTrialRequest', example: { reason: 'The trial did not connect' } });

const ResetTrialInput = withBody(AdminUserPath, ResetTrialRequest);

const ResetTrialResponse = z
  .object({
    success: z.boolean().describe('Always true: a user who cannot be changed is answered with an error status.'),
    message: z.string().describe('Sentence for people that describes the outcome. Not for programs.'),
    subscription_deleted: z.boolean().default(false).describe('Whether a subscription was deleted.'),
    has_used_trial_reset: z.boolean().default(false).describe('Whether the user can take a trial again.'),
  })
  .meta({ id: 'ResetTrialResponse' });

const ResetSubscriptionRequest = z
  .object({
    deactivate_in_panel: z.boolean().default(true).describe('Whether the user is disabled in the panel too.'),
    reason: Reason.describe('Why; null when no reason is known or was given.'),
  })
  .meta({ id: 'ResetSubscriptionRequest', example: { deactivate_in_panel: true, reason: 'Bought by mistake' } });

const ResetSubscriptionInput = withBody(AdminUserPath, ResetSubscriptionRequest);

const ResetSubscriptionResponse = z
  .object({
    success: z
      .boolean()
      .describe('Always true, also for a user without a subscription; `subscription_deleted` says whether one was deleted.'),
    message: z.string().describe('Sentence for people that describes the outcome. Not for programs.'),
    subscription_deleted: z.boolean().default(false).describe('Whether a subscription was deleted.'),
    panel_deactivated: z.boolean().default(false).describe('Whether the user was disabled in the panel.'),
    panel_error: z.string().nullish().describe('Why the panel could not be changed; null when it was.'),
  })
  .meta({ id: 'ResetSubscriptionResponse' });

const DisableUserRequest = z
  .object({ reason: Reason.describe('Why; null when no reason is known or was given.') })
  .meta({ id: 'DisableUserRequest', example: { reason: 'Chargeback' } });

const DisableUserInput = withBody(AdminUserPath, DisableUserRequest);

const DisableUserResponse = z
  .object({
    success: z
      .boolean()
      .describe('Always true: a refused call is answered with an error status, a failure in the panel stands in `panel_error`.'),
    message: z.string().describe('Sentence for people that describes the outcome. Not for programs.'),
    subscription_deactivated: z.boolean().default(false).describe('Whether a subscription was switched off.'),
    panel_deactivated: z.boolean().default(false).describe('Whether the user was disabled in the panel.'),
    user_blocked: z.boolean().default(false).describe('Whether the user is blocked now.'),
    panel_error: z.string().nullish().describe('Why the panel could not be changed; null when it was.'),
  })
  .meta({ id: 'DisableUserResponse' });

const tags: [string] = ['Cabinet Admin Users'];

export const userRemovalRouter = router({
  delete: freshAdminProcedure('users:delete')
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

  deleteFully: freshAdminProcedure('users:delete')
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
