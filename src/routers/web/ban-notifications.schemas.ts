import { z } from 'zod';
import { BAN_NOTICE_TYPES } from '../../domain/ban-system/notice-text.ts';

/** Contract group `ban-notifications` (spec 06 section 13). Which fields a type requires is checked in the domain. */

export const BanNotificationRequest = z
  .object({
    notification_type: z.enum(BAN_NOTICE_TYPES),
    user_identifier: z.string(),
    username: z.string(),
    ip_count: z.int().nullish(),
    limit: z.int().nullish(),
    ban_minutes: z.int().nullish(),
    warning_message: z.string().nullish(),
    network_type: z.string().nullish(),
    node_name: z.string().nullish(),
  })
  .meta({
    id: 'BanNotificationRequest',
    example: {
      notification_type: 'punishment',
      user_identifier: '100200300',
      username: 'anna_k',
      ip_count: 5,
      limit: 3,
      ban_minutes: 30,
    },
  });

export const BanNotificationResponse = z
  .object({
    success: z.boolean(),
    message: z.string(),
    messenger_id: z.int().nullish(),
    sent: z.boolean().default(false),
  })
  .meta({ id: 'BanNotificationResponse' });
