import { banNoticeFields, panelUnavailable, sendBanNotice } from '../../domain/ban-system/ban-notices.ts';
import { auditedWebProcedure, router } from '../trpc.ts';
import { fromWire, toWire } from '../wire.ts';
import { BanNotificationRequest, BanNotificationResponse } from './ban-notifications.schemas.ts';

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
