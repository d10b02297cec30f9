import { z } from 'zod';
import { withBody } from '../../wire.ts';
import { AdminUserPath } from './lists.schemas.ts';

/** Deletions, resets and switching off, of the contract group `Cabinet Admin Users` (spec 01 section 11.2). */

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

export const DeleteUserInput = withBody(AdminUserPath, DeleteUserRequest);

export const DeleteUserResponse = z
  .object({
    success: z.boolean().describe('Whether the operation was carried out. False comes with a message that says why.'),
    message: z.string().describe('Sentence for people that describes the outcome. Not for programs.'),
  })
  .meta({ id: 'DeleteUserResponse' });

const FullDeleteUserRequest = z
  .object({
    delete_from_panel: z.boolean().default(true).describe('Whether the user is deleted in the panel too.'),
    reason: Reason.describe('Why; null when no reason is known or was given.'),
  })
  .meta({ id: 'FullDeleteUserRequest', example: { delete_from_panel: true, reason: 'Asked for it in ticket 12' } });

export const FullDeleteUserInput = withBody(AdminUserPath, FullDeleteUserRequest);

export const FullDeleteUserResponse = z
  .object({
    success: z.boolean().describe('Whether the operation was carried out. False comes with a message that says why.'),
    message: z.string().describe('Sentence for people that describes the outcome. Not for programs.'),
    deleted_from_bot: z.boolean().default(false).describe('Whether the account was deleted in the service.'),
    deleted_from_panel: z.boolean().default(false).describe('Whether the user was deleted or disabled in the panel.'),
    panel_error: z.string().nullish().describe('Why the panel could not be changed; null when it was.'),
  })
  .meta({ id: 'FullDeleteUserResponse' });

const ResetTrialRequest = z
  .object({ reason: Reason.describe('Why; null when no reason is known or was given.') })
  .meta({ id: 'ResetTrialRequest', example: { reason: 'The trial did not connect' } });

export const ResetTrialInput = withBody(AdminUserPath, ResetTrialRequest);

export const ResetTrialResponse = z
  .object({
    success: z.boolean().describe('Whether the operation was carried out. False comes with a message that says why.'),
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

export const ResetSubscriptionInput = withBody(AdminUserPath, ResetSubscriptionRequest);

export const ResetSubscriptionResponse = z
  .object({
    success: z.boolean().describe('Whether the operation was carried out. False comes with a message that says why.'),
    message: z.string().describe('Sentence for people that describes the outcome. Not for programs.'),
    subscription_deleted: z.boolean().default(false).describe('Whether a subscription was deleted.'),
    panel_deactivated: z.boolean().default(false).describe('Whether the user was disabled in the panel.'),
    panel_error: z.string().nullish().describe('Why the panel could not be changed; null when it was.'),
  })
  .meta({ id: 'ResetSubscriptionResponse' });

const DisableUserRequest = z
  .object({ reason: Reason.describe('Why; null when no reason is known or was given.') })
  .meta({ id: 'DisableUserRequest', example: { reason: 'Chargeback' } });

export const DisableUserInput = withBody(AdminUserPath, DisableUserRequest);

export const DisableUserResponse = z
  .object({
    success: z.boolean().describe('Whether the operation was carried out. False comes with a message that says why.'),
    message: z.string().describe('Sentence for people that describes the outcome. Not for programs.'),
    subscription_deactivated: z.boolean().default(false).describe('Whether a subscription was switched off.'),
    panel_deactivated: z.boolean().default(false).describe('Whether the user was disabled in the panel.'),
    user_blocked: z.boolean().default(false).describe('Whether the user is blocked now.'),
    panel_error: z.string().nullish().describe('Why the panel could not be changed; null when it was.'),
  })
  .meta({ id: 'DisableUserResponse' });
