import { z } from 'zod';
import { BAN_NOTICE_TYPES } from '../../domain/ban-system/ban-notices.ts';

/** Contract group `ban-notifications` (spec 06 section 13). Which fields a type requires is checked in the domain. */

export const BanNotificationRequest = z
  .object({
    notification_type: z.enum(BAN_NOTICE_TYPES).describe('What the message is about.'),
    user_identifier: z.string().describe('Name or UUID of the user in the panel, or a verified e-mail address.'),
    username: z.string().describe('Name of the user in the ban system; it is not shown.'),
    ip_count: z.int().nullish().describe('Number of addresses; required for `punishment`.'),
    limit: z.int().nullish().describe('Limit of addresses; required for `punishment`.'),
    ban_minutes: z
      .int()
      .nullish()
      .describe('Length of the ban in minutes; required for `punishment`, `network_wifi` and `network_mobile`.'),
    warning_message: z.string().nullish().describe('Text of a warning; required for `warning`, not blank.'),
    network_type: z.string().nullish().describe('Name of the network; shown for `network_wifi` and `network_mobile`.'),
    node_name: z.string().nullish().describe('Name of the node; null = not shown.'),
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
    success: z.boolean().describe('Whether the message was sent.'),
    message: z.string().describe('Result in Russian.'),
    messenger_id: z.int().nullish().describe('Id of the user in the messenger; null without one.'),
    sent: z.boolean().default(false).describe('The same as `success`.'),
  })
  .meta({ id: 'BanNotificationResponse' });
