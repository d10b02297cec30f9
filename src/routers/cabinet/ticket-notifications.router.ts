import { ticketNotificationProcedures } from '../ticket-notification-procedures.ts';
import { cabinetProcedure, procedureFor, readerFor, router } from '../trpc.ts';

export const ticketNotificationsRouter = router(
  ticketNotificationProcedures({
    reading: readerFor(cabinetProcedure),
    marking: procedureFor(cabinetProcedure),
    base: '/cabinet/tickets/notifications',
    tag: 'Cabinet Ticket Notifications',
    owner: 'own notifications',
  }),
);
