import { z } from 'zod';
import { Moment } from '../shared.schemas.ts';

/** Contract group `subscriptions` (spec 02 section 7). */

export const SubscriptionStatusName = z.enum(['trial', 'active', 'expired', 'disabled', 'limited', 'pending']);

export const SubscriptionListQuery = z.object({
  limit: z.int().min(1).max(200).default(50),
  offset: z.int().min(0).default(0),
  status: SubscriptionStatusName.nullish(),
  user_id: z.int().nullish(),
  is_trial: z.boolean().nullish(),
});

export const SubscriptionPath = z.object({ subscription_id: z.int() });

export const SubscriptionResponse = z
  .object({
    id: z.int(),
    user_id: z.int(),
    status: z.string(),
    actual_status: z.string(),
    is_trial: z.boolean(),
    start_date: Moment,
    end_date: Moment,
    traffic_limit_gb: z.int(),
    traffic_used_gb: z.number(),
    device_limit: z.int(),
    autopay_enabled: z.boolean(),
    autopay_days_before: z.int().nullish(),
    subscription_url: z.string().nullish(),
    subscription_crypto_link: z.string().nullish(),
    connected_squads: z.array(z.string()).default([]),
    created_at: Moment.nullish(),
    updated_at: Moment.nullish(),
  })
  .meta({ id: 'SubscriptionResponse' });

export const SubscriptionCreateRequest = z
  .object({
    user_id: z.int(),
    is_trial: z.boolean().default(false),
    duration_days: z.int().nullish(),
    /** The same as `duration_days`; older clients send it (spec 02, reading rules). */
    period_days: z.int().nullish(),
    traffic_limit_gb: z.int().nullish(),
    device_limit: z.int().nullish(),
    squad_uuid: z.string().nullish(),
    connected_squads: z.array(z.string()).nullish(),
    replace_existing: z.boolean().default(false),
  })
  .meta({
    id: 'SubscriptionCreateRequest',
    example: {
      user_id: 1,
      duration_days: 30,
      traffic_limit_gb: 100,
      device_limit: 2,
      squad_uuid: '0198a2c4-7b1e-7c3a-9d54-3f2b1c0e8a77',
    },
  });

export const SubscriptionExtendRequest = z.object({ days: z.int().gt(0) }).meta({ id: 'SubscriptionExtendRequest' });

export const SubscriptionTrafficRequest = z.object({ gb: z.int().gt(0) }).meta({ id: 'SubscriptionTrafficRequest' });

export const SubscriptionDevicesRequest = z.object({ devices: z.int().gt(0) }).meta({ id: 'SubscriptionDevicesRequest' });

export const SubscriptionSquadRequest = z
  .object({ squad_uuid: z.string() })
  .meta({ id: 'SubscriptionSquadRequest', example: { squad_uuid: '0198a2c4-7b1e-7c3a-9d54-3f2b1c0e8a77' } });

export const SubscriptionSquadPath = SubscriptionPath.extend({ squad_uuid: z.string() });
