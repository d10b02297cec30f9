import type { Rows } from '../../core/db/columns.ts';

/** Events that a webhook may subscribe to (spec 00, Credentials). `/ws` carries more. */
export const WEBHOOK_EVENT_TYPES = [
  'user.created',
  'payment.completed',
  'transaction.created',
  'ticket.created',
  'ticket.status_changed',
  'audit.day_closed',
] as const;

export type WebhookEventType = (typeof WEBHOOK_EVENT_TYPES)[number];

/**
 * A receiver of one kind of event, without its secret, which never leaves the module. `failureCount` counts deliveries that failed at
 * their first attempt, `successCount` those that arrived at any attempt.
 */
export type Webhook = Omit<Rows['Webhook'], 'secret' | 'failingSince' | 'hasClientWords'>;

/** One event for one webhook. `attemptNumber` is the number of the last attempt, 1 before the first. */
export type WebhookDelivery = Omit<Rows['WebhookDelivery'], 'eventId' | 'claimedUntil'>;

export type WebhookAttempt = Omit<Rows['WebhookAttempt'], 'deliveryId'>;

/** Counters over everything that is stored. */
export interface WebhookStats {
  totalWebhooks: number;
  activeWebhooks: number;
  totalDeliveries: number;
  successfulDeliveries: number;
  failedDeliveries: number;
  /** Per cent with two decimals; 0 without deliveries. */
  successRate: number;
}
