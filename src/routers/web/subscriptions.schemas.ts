import { z } from 'zod';
import { Timestamp } from '../shared.schemas.ts';

/** Contract group `subscriptions` (spec 02 section 7). */

const SubscriptionStatusName = z.enum(['trial', 'active', 'expired', 'disabled', 'limited', 'pending']);

export const SubscriptionListQuery = z.object({
  limit: z.int().min(1).max(200).default(50).describe('Greatest number of records in the answer.'),
  offset: z.int().min(0).default(0).describe('Number of records to skip.'),
  status: SubscriptionStatusName.nullish().describe(
    'Only subscriptions with this stored status, for example `active`; null for all.',
  ),
  user_id: z.int().nullish().describe('Only subscriptions of this user (internal id).'),
  is_trial: z.boolean().nullish().describe('Only trials, or only other subscriptions.'),
});

export const SubscriptionPath = z.object({ subscription_id: z.int().describe('Id of the subscription.') });

export const SubscriptionResponse = z
  .object({
    id: z.int().describe('Id of the subscription.'),
    user_id: z.int().describe('Internal id of the user.'),
    status: z
      .string()
      .describe(
        'Stored status of the subscription: `active` (trials included), `pending` (ordered, not paid), `expired` (the end has passed), `limited` (traffic used up), `disabled` (access withdrawn) or `trial` (older trials).',
      ),
    actual_status: z.string().describe('Effective status: the stored one, but `expired` once the end has passed.'),
    is_trial: z.boolean().describe('Whether the subscription is a trial.'),
    start_date: Timestamp.describe('Start of the subscription (UTC).'),
    end_date: Timestamp.describe('End of the subscription (UTC).'),
    traffic_limit_gb: z.int().describe('Traffic limit in GB (1024³ bytes); 0 = unlimited.'),
    traffic_used_gb: z.number().describe('Traffic used since the last reset in GB, as the panel reports it.'),
    device_limit: z.int().describe('Number of devices that may be connected.'),
    autopay_enabled: z.boolean().describe('Whether the subscription is renewed automatically from the balance.'),
    autopay_days_before: z.int().nullish().describe('Days before the end at which automatic renewal starts.'),
    subscription_url: z
      .string()
      .nullish()
      .describe('Link that client apps load the configuration from; null while the panel has not created it.'),
    subscription_crypto_link: z
      .string()
      .nullish()
      .describe('Encrypted form of the link for the Happ app; null when the panel gives none.'),
    connected_squads: z
      .array(z.string())
      .default([])
      .describe('UUIDs of the servers (internal squads of the panel) of the subscription.'),
    created_at: Timestamp.nullish().describe('When the subscription was created (UTC).'),
    updated_at: Timestamp.nullish().describe('When the record was last changed (UTC); null when it never was.'),
  })
  .meta({ id: 'SubscriptionResponse' });

export const SubscriptionCreateRequest = z
  .object({
    user_id: z.int().describe('Internal id of the user.'),
    is_trial: z.boolean().default(false).describe('Whether the subscription is a trial.'),
    duration_days: z.int().nullish().describe('Length in days; the same as `period_days`.'),
    /** The same as `duration_days`; older clients send it (spec 02, reading rules). */
    period_days: z.int().nullish().describe('Length in days; required for a paid subscription unless `duration_days` is given.'),
    traffic_limit_gb: z
      .int()
      .nullish()
      .describe('Traffic limit in GB (1024³ bytes); 0 = unlimited. Null in a request for the default.'),
    device_limit: z.int().nullish().describe('Number of devices that may be connected; null in a request for the default.'),
    squad_uuid: z.string().nullish().describe('UUID of the server (internal squad of the panel); null for none.'),
    connected_squads: z
      .array(z.string())
      .nullish()
      .describe('UUIDs of the servers (internal squads of the panel) of the subscription; null in a request for the default.'),
    replace_existing: z
      .boolean()
      .default(false)
      .describe('Whether an existing subscription is overwritten. False refuses where there is one.'),
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

export const SubscriptionExtendRequest = z
  .object({ days: z.int().gt(0).describe('Days to add to the end.') })
  .meta({ id: 'SubscriptionExtendRequest' });

export const SubscriptionTrafficRequest = z
  .object({ gb: z.int().gt(0).describe('Traffic to add in GB, for 30 days.') })
  .meta({ id: 'SubscriptionTrafficRequest' });

export const SubscriptionDevicesRequest = z
  .object({ devices: z.int().gt(0).describe('Number of devices to add to the limit.') })
  .meta({ id: 'SubscriptionDevicesRequest' });

export const SubscriptionSquadRequest = z
  .object({ squad_uuid: z.string().describe('UUID of the server (internal squad of the panel).') })
  .meta({ id: 'SubscriptionSquadRequest', example: { squad_uuid: '0198a2c4-7b1e-7c3a-9d54-3f2b1c0e8a77' } });

export const SubscriptionSquadPath = SubscriptionPath.extend({
  squad_uuid: z.string().describe('UUID of the internal squad of the panel.'),
});
