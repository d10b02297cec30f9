import { z } from 'zod';
import { Moment } from '../shared.schemas.ts';

/** Contract group `Cabinet Admin Servers` (spec 02 section 9). */

export const AdminServerPath = z.object({ server_id: z.int() });

export const AdminServerListQuery = z.object({ include_unavailable: z.boolean().default(true) });

export const ServerListItem = z
  .object({
    id: z.int(),
    squad_uuid: z.string(),
    display_name: z.string(),
    original_name: z.string().nullish(),
    country_code: z.string().nullish(),
    is_available: z.boolean(),
    is_trial_eligible: z.boolean(),
    price_kopeks: z.int(),
    price_rubles: z.number(),
    max_users: z.int().nullish(),
    current_users: z.int(),
    sort_order: z.int(),
    is_full: z.boolean(),
    availability_status: z.string(),
    created_at: Moment,
  })
  .meta({ id: 'ServerListItem' });

export const CabinetServersServerListResponse = z
  .object({ servers: ServerListItem.array(), total: z.int() })
  .meta({ id: 'CabinetServersServerListResponse' });

export const CabinetServersPromoGroupInfo = z
  .object({ id: z.int(), name: z.string(), is_selected: z.boolean() })
  .meta({ id: 'CabinetServersPromoGroupInfo' });

export const ServerDetailResponse = z
  .object({
    id: z.int(),
    squad_uuid: z.string(),
    display_name: z.string(),
    original_name: z.string().nullish(),
    country_code: z.string().nullish(),
    description: z.string().nullish(),
    is_available: z.boolean(),
    is_trial_eligible: z.boolean(),
    price_kopeks: z.int(),
    price_rubles: z.number(),
    max_users: z.int().nullish(),
    current_users: z.int(),
    sort_order: z.int(),
    is_full: z.boolean(),
    availability_status: z.string(),
    promo_groups: CabinetServersPromoGroupInfo.array(),
    active_subscriptions: z.int(),
    tariffs_using: z.string().array(),
    created_at: Moment,
    updated_at: Moment.nullish(),
  })
  .meta({ id: 'ServerDetailResponse' });

export const CabinetServersServerUpdateRequest = z
  .object({
    display_name: z.string().min(1).max(255).nullish(),
    description: z.string().nullish(),
    country_code: z.string().max(5).nullish(),
    is_available: z.boolean().nullish(),
    is_trial_eligible: z.boolean().nullish(),
    price_kopeks: z.int().min(0).nullish(),
    max_users: z.int().min(0).nullish(),
    sort_order: z.int().min(0).nullish(),
    promo_group_ids: z.int().array().nullish(),
  })
  .meta({
    id: 'CabinetServersServerUpdateRequest',
    example: { display_name: 'Netherlands', country_code: 'NL', price_kopeks: 9900, is_available: true },
  });

export const ServerToggleResponse = z
  .object({ id: z.int(), is_available: z.boolean(), message: z.string() })
  .meta({ id: 'ServerToggleResponse' });

export const ServerTrialToggleResponse = z
  .object({ id: z.int(), is_trial_eligible: z.boolean(), message: z.string() })
  .meta({ id: 'ServerTrialToggleResponse' });

export const ServerStatsResponse = z
  .object({
    id: z.int(),
    display_name: z.string(),
    squad_uuid: z.string(),
    current_users: z.int(),
    max_users: z.int().nullable(),
    active_subscriptions: z.int(),
    trial_subscriptions: z.int(),
    usage_percent: z.number().nullish(),
  })
  .meta({ id: 'ServerStatsResponse' });

export const CabinetServersServerSyncResponse = z
  .object({ created: z.int(), updated: z.int(), removed: z.int(), message: z.string() })
  .meta({ id: 'CabinetServersServerSyncResponse' });
