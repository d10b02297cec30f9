import { z } from 'zod';
import { MomentInput } from '../../moment-input.ts';
import { withBody } from '../../wire.ts';
import { UserSubscriptionInfo } from './detail.schemas.ts';
import { AdminUserPath } from './lists.schemas.ts';

/** Changes of the contract group `Cabinet Admin Users` (spec 01 section 11.2). */

export const UpdateBalanceRequest = z
  .object({
    amount_kopeks: z.int().min(-2_000_000_000).max(2_000_000_000),
    description: z.string().max(500).default('Admin balance adjustment'),
    create_transaction: z.boolean().default(true),
  })
  .meta({ id: 'UpdateBalanceRequest' });

export const UpdateBalanceInput = withBody(AdminUserPath, UpdateBalanceRequest);

export const UpdateBalanceResponse = z
  .object({
    success: z.boolean(),
    old_balance_kopeks: z.int(),
    new_balance_kopeks: z.int(),
    message: z.string(),
  })
  .meta({ id: 'UpdateBalanceResponse' });

export const UpdateSubscriptionRequest = z
  .object({
    action: z.string(),
    days: z.int().min(1).max(3650).nullish(),
    end_date: MomentInput.nullish(),
    tariff_id: z.int().nullish(),
    traffic_limit_gb: z.int().min(0).nullish(),
    traffic_used_gb: z.number().min(0).nullish(),
    autopay_enabled: z.boolean().nullish(),
    traffic_gb: z.int().min(1).nullish(),
    traffic_purchase_id: z.int().nullish(),
    is_trial: z.boolean().nullish(),
    device_limit: z.int().min(1).nullish(),
  })
  .meta({ id: 'UpdateSubscriptionRequest', example: { action: 'extend', days: 30 } });

export const UpdateSubscriptionInput = withBody(AdminUserPath, UpdateSubscriptionRequest);

export const UpdateSubscriptionResponse = z
  .object({ success: z.boolean(), message: z.string(), subscription: UserSubscriptionInfo.nullish() })
  .meta({ id: 'UpdateSubscriptionResponse' });

const Reason = z.string().max(500).nullish();

export const UpdateUserStatusRequest = z
  .object({ status: z.enum(['active', 'blocked', 'deleted']), reason: Reason })
  .meta({ id: 'UpdateUserStatusRequest', example: { status: 'blocked', reason: 'Chargeback' } });

export const UpdateUserStatusInput = withBody(AdminUserPath, UpdateUserStatusRequest);

export const BlockUserInput = AdminUserPath.extend({ reason: z.string().nullish() });

export const UpdateUserStatusResponse = z
  .object({ success: z.boolean(), old_status: z.string(), new_status: z.string(), message: z.string() })
  .meta({ id: 'UpdateUserStatusResponse' });

export const UpdateRestrictionsRequest = z
  .object({
    restriction_topup: z.boolean().nullish(),
    restriction_subscription: z.boolean().nullish(),
    restriction_reason: Reason,
  })
  .meta({
    id: 'UpdateRestrictionsRequest',
    example: { restriction_topup: true, restriction_subscription: false, restriction_reason: 'Chargeback' },
  });

export const UpdateRestrictionsInput = withBody(AdminUserPath, UpdateRestrictionsRequest);

export const UpdateRestrictionsResponse = z
  .object({
    success: z.boolean(),
    restriction_topup: z.boolean(),
    restriction_subscription: z.boolean(),
    restriction_reason: z.string().nullish(),
    message: z.string(),
  })
  .meta({ id: 'UpdateRestrictionsResponse' });

export const UpdatePromoGroupRequest = z.object({ promo_group_id: z.int().nullish() }).meta({ id: 'UpdatePromoGroupRequest' });

export const UpdatePromoGroupInput = withBody(AdminUserPath, UpdatePromoGroupRequest);

export const UpdatePromoGroupResponse = z
  .object({
    success: z.boolean(),
    old_promo_group_id: z.int().nullish(),
    new_promo_group_id: z.int().nullish(),
    promo_group_name: z.string().nullish(),
    message: z.string(),
  })
  .meta({ id: 'UpdatePromoGroupResponse' });

export const UpdateReferralCommissionRequest = z
  .object({ commission_percent: z.int().min(0).max(100).nullish() })
  .meta({ id: 'UpdateReferralCommissionRequest' });

export const UpdateReferralCommissionInput = withBody(AdminUserPath, UpdateReferralCommissionRequest);

export const UpdateReferralCommissionResponse = z
  .object({
    success: z.boolean(),
    old_commission_percent: z.number().nullish(),
    new_commission_percent: z.int().nullish(),
    message: z.string(),
  })
  .meta({ id: 'UpdateReferralCommissionResponse' });
