import { z } from 'zod';
import { Moment } from '../shared.schemas.ts';

/** Contract group `Cabinet Notifications` (spec 05 section 9.1). The last two answers are untyped there. */

export const NotificationSettingsResponse = z
  .object({
    subscription_expiry_enabled: z.boolean().default(true),
    subscription_expiry_days: z.int().default(3),
    traffic_warning_enabled: z.boolean().default(true),
    traffic_warning_percent: z.int().default(80),
    balance_low_enabled: z.boolean().default(true),
    balance_low_threshold: z.int().default(100),
    news_enabled: z.boolean().default(true),
    promo_offers_enabled: z.boolean().default(true),
  })
  .meta({ id: 'NotificationSettingsResponse' });

export const NotificationSettingsUpdate = z
  .object({
    subscription_expiry_enabled: z.boolean().nullish(),
    subscription_expiry_days: z.int().min(1).max(30).nullish(),
    traffic_warning_enabled: z.boolean().nullish(),
    traffic_warning_percent: z.int().min(50).max(99).nullish(),
    balance_low_enabled: z.boolean().nullish(),
    balance_low_threshold: z.int().min(0).nullish(),
    news_enabled: z.boolean().nullish(),
    promo_offers_enabled: z.boolean().nullish(),
  })
  .meta({ id: 'NotificationSettingsUpdate' });

export const NotificationHistoryQuery = z.object({
  limit: z.int().min(1).max(100).default(20),
  offset: z.int().min(0).default(0),
});

export const TestNotificationResponse = z.object({ success: z.literal(true), message: z.string() });

export const NotificationHistoryResponse = z.object({
  notifications: z
    .object({
      id: z.int(),
      type: z.string(),
      message: z.string(),
      amount_kopeks: z.int().nullable(),
      formatted_amount: z.string().nullable(),
      created_at: Moment,
    })
    .array(),
  total: z.int(),
  limit: z.int(),
  offset: z.int(),
});
