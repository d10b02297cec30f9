import { z } from 'zod';
import { TimestampInput } from '../../shared.schemas.ts';
import { withBody } from '../../wire.ts';
import { UserSubscriptionInfo } from './detail.schemas.ts';
import { AdminUserPath } from './lists.schemas.ts';

/** Changes of the contract group `Cabinet Admin Users` (spec 01 section 11.2). */

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

export const UpdateBalanceInput = withBody(AdminUserPath, UpdateBalanceRequest);

export const UpdateBalanceResponse = z
  .object({
    success: z.boolean().describe('Whether the operation was carried out. False comes with a message that says why.'),
    old_balance_kopeks: z.int().describe('Balance before the change, kopeks.'),
    new_balance_kopeks: z.int().describe('Balance after the change, kopeks.'),
    message: z.string().describe('Sentence for people that describes the outcome. Not for programs.'),
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

export const UpdateSubscriptionInput = withBody(AdminUserPath, UpdateSubscriptionRequest);

export const UpdateSubscriptionResponse = z
  .object({
    success: z.boolean().describe('Whether the operation was carried out. False comes with a message that says why.'),
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

export const UpdateUserStatusInput = withBody(AdminUserPath, UpdateUserStatusRequest);

export const BlockUserInput = AdminUserPath.extend({ reason: z.string().nullish().describe('Reason, for the record.') });

export const UpdateUserStatusResponse = z
  .object({
    success: z.boolean().describe('Whether the operation was carried out. False comes with a message that says why.'),
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

export const UpdateRestrictionsInput = withBody(AdminUserPath, UpdateRestrictionsRequest);

export const UpdateRestrictionsResponse = z
  .object({
    success: z.boolean().describe('Whether the operation was carried out. False comes with a message that says why.'),
    restriction_topup: z.boolean().describe('Whether topping up is forbidden.'),
    restriction_subscription: z.boolean().describe('Whether buying and renewing is forbidden.'),
    restriction_reason: z.string().nullish().describe('Why it is forbidden, up to 500 characters; null for no reason.'),
    message: z.string().describe('Sentence for people that describes the outcome. Not for programs.'),
  })
  .meta({ id: 'UpdateRestrictionsResponse' });

const UpdatePromoGroupRequest = z
  .object({ promo_group_id: z.int().nullish().describe('Id of the promo group; null for none.') })
  .meta({ id: 'UpdatePromoGroupRequest' });

export const UpdatePromoGroupInput = withBody(AdminUserPath, UpdatePromoGroupRequest);

export const UpdatePromoGroupResponse = z
  .object({
    success: z.boolean().describe('Whether the operation was carried out. False comes with a message that says why.'),
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

export const UpdateReferralCommissionInput = withBody(AdminUserPath, UpdateReferralCommissionRequest);

export const UpdateReferralCommissionResponse = z
  .object({
    success: z.boolean().describe('Whether the operation was carried out. False comes with a message that says why.'),
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
