import { z } from 'zod';
import { withBody } from '../../wire.ts';
import { AdminUserPath } from './lists.schemas.ts';

/** Deletions, resets and switching off, of the contract group `Cabinet Admin Users` (spec 01 section 11.2). */

const Reason = z.string().max(500).nullish();

export const DeleteUserRequest = z
  .object({ soft_delete: z.boolean().default(true), reason: Reason })
  .meta({ id: 'DeleteUserRequest', example: { soft_delete: true, reason: 'Asked for it in ticket 12' } });

export const DeleteUserInput = withBody(AdminUserPath, DeleteUserRequest);

export const DeleteUserResponse = z.object({ success: z.boolean(), message: z.string() }).meta({ id: 'DeleteUserResponse' });

export const FullDeleteUserRequest = z
  .object({ delete_from_panel: z.boolean().default(true), reason: Reason })
  .meta({ id: 'FullDeleteUserRequest', example: { delete_from_panel: true, reason: 'Asked for it in ticket 12' } });

export const FullDeleteUserInput = withBody(AdminUserPath, FullDeleteUserRequest);

export const FullDeleteUserResponse = z
  .object({
    success: z.boolean(),
    message: z.string(),
    deleted_from_bot: z.boolean().default(false),
    deleted_from_panel: z.boolean().default(false),
    panel_error: z.string().nullish(),
  })
  .meta({ id: 'FullDeleteUserResponse' });

export const ResetTrialRequest = z
  .object({ reason: Reason })
  .meta({ id: 'ResetTrialRequest', example: { reason: 'The trial did not connect' } });

export const ResetTrialInput = withBody(AdminUserPath, ResetTrialRequest);

export const ResetTrialResponse = z
  .object({
    success: z.boolean(),
    message: z.string(),
    subscription_deleted: z.boolean().default(false),
    has_used_trial_reset: z.boolean().default(false),
  })
  .meta({ id: 'ResetTrialResponse' });

export const ResetSubscriptionRequest = z
  .object({ deactivate_in_panel: z.boolean().default(true), reason: Reason })
  .meta({ id: 'ResetSubscriptionRequest', example: { deactivate_in_panel: true, reason: 'Bought by mistake' } });

export const ResetSubscriptionInput = withBody(AdminUserPath, ResetSubscriptionRequest);

export const ResetSubscriptionResponse = z
  .object({
    success: z.boolean(),
    message: z.string(),
    subscription_deleted: z.boolean().default(false),
    panel_deactivated: z.boolean().default(false),
    panel_error: z.string().nullish(),
  })
  .meta({ id: 'ResetSubscriptionResponse' });

export const DisableUserRequest = z
  .object({ reason: Reason })
  .meta({ id: 'DisableUserRequest', example: { reason: 'Chargeback' } });

export const DisableUserInput = withBody(AdminUserPath, DisableUserRequest);

export const DisableUserResponse = z
  .object({
    success: z.boolean(),
    message: z.string(),
    subscription_deactivated: z.boolean().default(false),
    panel_deactivated: z.boolean().default(false),
    user_blocked: z.boolean().default(false),
    panel_error: z.string().nullish(),
  })
  .meta({ id: 'DisableUserResponse' });
