import { ticketNotificationProcedures } from '../ticket-notification-procedures.ts';
import { cabinetProcedure, procedureFor, router } from '../trpc.ts';

export const ticketNotificationsRouter = router(
  ticketNotificationProcedures({
    reading: procedureFor(cabinetProcedure),
    marking: procedureFor(cabinetProcedure),
    base: '/cabinet/tickets/notifications',
    tag: 'Cabinet Ticket Notifications',
    owner: 'own notifications',
  }),
);
