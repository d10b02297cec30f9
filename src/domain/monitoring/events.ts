/** The events of the monitoring log and what each says in `data` (spec 06 section 8). */
export interface MonitoringEvents {
  monitoring_cycle_completed: { timestamp: string };
  monitoring_cycle_error: { error: string };
  expired_subscriptions_processed: { count: number };
  expiring_notifications_sent: { days: number; count: number };
  trial_expiring_notifications_sent: { count: number };
  trial_channel_subscription_check: { checked: number; disabled: number; restored: number };
  expired_followups_sent: { day1: number; wave2: number; wave3: number };
  autopayments_processed: { processed: number; failed: number };
  inactive_users_cleanup: { deleted_count: number };
  vpnpanel_sync: { stats: Readonly<Record<string, unknown>> };
  vpnpanel_sync_error: { error: string };
  ticket_sla_reminders_sent: { count: number };
}

export type MonitoringEvent = keyof MonitoringEvents;

/** Fields of `data` that describe the work and do not count it. */
const NO_COUNTERS: ReadonlySet<string> = new Set(['days']);

/** Whether a row is written: not for work that found nothing to do. An event without counters is always written. */
export function isWorthRecording(data: MonitoringEvents[MonitoringEvent]): boolean {
  const counters = Object.entries(data).filter(([key, value]) => typeof value === 'number' && !NO_COUNTERS.has(key));
  return counters.length === 0 || counters.some(([, value]) => value > 0);
}

export function isFailure(event: MonitoringEvent): boolean {
  return event.endsWith('_error');
}
