import type { App } from '../../core/app.ts';
import { addMs, MINUTE_MS } from '../../core/clock.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { recordMonitoring } from '../monitoring/record-event.ts';
import { hasAdminChat, remindAdmins } from './notices.ts';
import { claimOverdue } from './repo.ts';

const BATCH = 50;

/**
 * Reminds the administrators' chat of open and pending tickets whose user has waited longer than the answer time, counted from the
 * user's last message, and again after the cool-down (spec 05 section 1.6). The mark and the notice are one transaction, and a ticket
 * is claimed by one process only, so that no reminder is sent twice.
 * @returns the number of reminders
 */
export async function remindOverdueTickets(app: App): Promise<number> {
  const { settings } = app;
  if (!settings.get('SUPPORT_TICKET_SLA_ENABLED') || !hasAdminChat(app) || !app.ports.messenger.isConfigured()) return 0;
  const minutes = Math.max(1, settings.get('SUPPORT_TICKET_SLA_MINUTES'));
  const cooldown = Math.max(1, settings.get('SUPPORT_TICKET_SLA_REMINDER_COOLDOWN_MINUTES'));
  let reminded = 0;
  for (;;) {
    const claimed = await inTransaction(app, async (t) => {
      const now = t.clock.now();
      const [waitingBefore, remindedBefore] = [addMs(now, -minutes * MINUTE_MS), addMs(now, -cooldown * MINUTE_MS)];
      const overdue = await claimOverdue(t.db, { waitingBefore, remindedBefore, now, limit: BATCH });
      for (const ticket of overdue) await remindAdmins(t, ticket);
      return overdue.length;
    });
    reminded += claimed;
    if (claimed < BATCH) break;
  }
  if (reminded > 0) app.log.info({ count: reminded }, 'ticket_sla_reminders_sent');
  await recordMonitoring(app, 'ticket_sla_reminders_sent', { count: reminded });
  return reminded;
}
