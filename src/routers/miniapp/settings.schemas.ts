import { z } from 'zod';
import { INIT_DATA_EXAMPLE, Moment } from '../shared.schemas.ts';
import { InitData, MiniAppConnectedServer } from './tariffs.schemas.ts';

/** Contract group `miniapp`: changes of servers, traffic and devices (spec 02 sections 12.2 and 12.3a). */

const SubscriptionId = z.int().nullish();
const Uuids = z.array(z.string()).nullish();

export const MiniAppSubscriptionSettingsRequest = z
  .object({ initData: InitData, subscription_id: SubscriptionId })
  .meta({ id: 'MiniAppSubscriptionSettingsRequest', example: { initData: INIT_DATA_EXAMPLE } });

export const MiniAppSubscriptionServerOption = z
  .object({
    uuid: z.string(),
    name: z.string().nullish(),
    price_kopeks: z.int().nullish(),
    price_label: z.string().nullish(),
    discount_percent: z.int().nullish(),
    is_connected: z.boolean().default(false),
    is_available: z.boolean().default(true),
    disabled_reason: z.string().nullish(),
  })
  .meta({ id: 'MiniAppSubscriptionServerOption' });

export const MiniAppSubscriptionTrafficOption = z
  .object({
    value: z.int().nullish(),
    label: z.string().nullish(),
    price_kopeks: z.int().nullish(),
    price_label: z.string().nullish(),
    is_current: z.boolean().default(false),
    is_available: z.boolean().default(true),
    description: z.string().nullish(),
  })
  .meta({ id: 'MiniAppSubscriptionTrafficOption' });

export const MiniAppSubscriptionDeviceOption = z
  .object({
    value: z.int(),
    label: z.string().nullish(),
    price_kopeks: z.int().nullish(),
    price_label: z.string().nullish(),
  })
  .meta({ id: 'MiniAppSubscriptionDeviceOption' });

export const MiniAppSubscriptionCurrentSettings = z
  .object({
    servers: z.array(MiniAppConnectedServer).default([]),
    traffic_limit_gb: z.int().nullish(),
    traffic_limit_label: z.string().nullish(),
    device_limit: z.int().default(0),
  })
  .meta({ id: 'MiniAppSubscriptionCurrentSettings' });

export const MiniAppSubscriptionServersSettings = z
  .object({
    available: z.array(MiniAppSubscriptionServerOption).default([]),
    min: z.int().default(0),
    max: z.int().default(0),
    can_update: z.boolean().default(true),
    hint: z.string().nullish(),
  })
  .meta({ id: 'MiniAppSubscriptionServersSettings' });

export const MiniAppSubscriptionTrafficSettings = z
  .object({
    options: z.array(MiniAppSubscriptionTrafficOption).default([]),
    can_update: z.boolean().default(true),
    current_value: z.int().nullish(),
  })
  .meta({ id: 'MiniAppSubscriptionTrafficSettings' });

export const MiniAppSubscriptionDevicesSettings = z
  .object({
    options: z.array(MiniAppSubscriptionDeviceOption).default([]),
    can_update: z.boolean().default(true),
    min: z.int().default(0),
    max: z.int().default(0),
    step: z.int().default(1),
    current: z.int().default(0),
    price_kopeks: z.int().nullish(),
    price_label: z.string().nullish(),
  })
  .meta({ id: 'MiniAppSubscriptionDevicesSettings' });

export const MiniAppSubscriptionBillingContext = z
  .object({ months_remaining: z.int().default(1), period_hint_days: z.int().nullish(), renews_at: Moment.nullish() })
  .meta({ id: 'MiniAppSubscriptionBillingContext' });

export const MiniAppSubscriptionSettings = z
  .object({
    subscription_id: z.int(),
    currency: z.string().default('RUB'),
    current: MiniAppSubscriptionCurrentSettings,
    servers: MiniAppSubscriptionServersSettings,
    traffic: MiniAppSubscriptionTrafficSettings,
    devices: MiniAppSubscriptionDevicesSettings,
    billing: MiniAppSubscriptionBillingContext.nullish(),
  })
  .meta({ id: 'MiniAppSubscriptionSettings' });

export const MiniAppSubscriptionSettingsResponse = z
  .object({ success: z.boolean().default(true), settings: MiniAppSubscriptionSettings })
  .meta({ id: 'MiniAppSubscriptionSettingsResponse' });

/** The lists are merged. */
export const MiniAppSubscriptionServersUpdateRequest = z
  .object({
    initData: InitData,
    subscription_id: SubscriptionId,
    servers: Uuids,
    squads: Uuids,
    server_uuids: Uuids,
    squad_uuids: Uuids,
  })
  .meta({
    id: 'MiniAppSubscriptionServersUpdateRequest',
    example: { initData: INIT_DATA_EXAMPLE, squad_uuids: ['0198a2c4-7b1e-7c3a-9d54-3f2b1c0e8a77'] },
  });

export const MiniAppSubscriptionTrafficUpdateRequest = z
  .object({ initData: InitData, subscription_id: SubscriptionId, traffic: z.int().nullish(), traffic_gb: z.int().nullish() })
  .meta({ id: 'MiniAppSubscriptionTrafficUpdateRequest', example: { initData: INIT_DATA_EXAMPLE, traffic_gb: 250 } });

export const MiniAppSubscriptionDevicesUpdateRequest = z
  .object({ initData: InitData, subscription_id: SubscriptionId, devices: z.int().nullish(), device_limit: z.int().nullish() })
  .meta({ id: 'MiniAppSubscriptionDevicesUpdateRequest', example: { initData: INIT_DATA_EXAMPLE, devices: 3 } });

export const MiniAppSubscriptionUpdateResponse = z
  .object({ success: z.boolean().default(true), message: z.string().nullish() })
  .meta({ id: 'MiniAppSubscriptionUpdateResponse' });
