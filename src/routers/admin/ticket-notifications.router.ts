import { ticketNotificationProcedures } from '../ticket-notification-procedures.ts';
import { adminProcedure, procedureFor, readerFor, router } from '../trpc.ts';

export const adminTicketNotificationsRouter = router(
  ticketNotificationProcedures({
    reading: readerFor(adminProcedure('tickets:read')),
    marking: procedureFor(adminProcedure('tickets:settings')),
    base: '/cabinet/admin/tickets/notifications',
    tag: 'Cabinet Admin Ticket Notifications',
    owner: 'notifications of all administrators',
  }),
);
