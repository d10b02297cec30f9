import { z } from 'zod';
import { BAN_NOTICE_TYPES, banNoticeFields, panelUnavailable, sendBanNotice } from '../../domain/ban-system/ban-notices.ts';
import { auditedWebProcedure, router } from '../trpc.ts';
import { fromWire, toWire } from '../wire.ts';

/** Contract group `ban-notifications`. Which fields a type requires is checked in the domain. */

const BanNotificationRequest = z
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

const BanNotificationResponse = z
  .object({
    success: z.boolean().describe('Whether the message was sent.'),
    message: z.string().describe('Result in Russian.'),
    messenger_id: z.int().nullish().describe('Id of the user in the messenger; null without one.'),
    sent: z.boolean().default(false).describe('The same as `success`.'),
  })
  .meta({ id: 'BanNotificationResponse' });

const tags: [string] = ['ban-notifications'];

export const banNotificationsRouter = router({
  send: auditedWebProcedure('ban_notifications:send')
    .meta({
      openapi: { method: 'POST', path: '/ban-notifications/send', tags, summary: 'Tell a user of a ban' },
      description:
        'Sends a user one message about a ban, its end or a warning: in the messenger before the answer, to users without it by mail and on their sockets. A user who is not found, and a message that cannot be delivered, are answered with 200 and `success` false. Every call sends; nothing is repeated.',
      refuses: [banNoticeFields, panelUnavailable],
    })
    .input(fromWire(BanNotificationRequest))
    .output(toWire(BanNotificationResponse))
    .mutation(async ({ ctx, input }) => {
      const { isSent, message, messengerId } = await sendBanNotice(ctx.app, input);
      return { success: isSent, message, messengerId, sent: isSent };
    }),
});
