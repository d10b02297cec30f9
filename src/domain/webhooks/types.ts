/** Events that a webhook may ask for (spec 00, Credentials). `/ws` carries more. */
export const WEBHOOK_EVENT_TYPES = [
  'user.created',
  'payment.completed',
  'transaction.created',
  'ticket.created',
  'ticket.status_changed',
] as const;

export type WebhookEventType = (typeof WEBHOOK_EVENT_TYPES)[number];

/** An endpoint of someone else that wants to hear one kind of event. The secret never leaves the module. */
export interface Webhook {
  id: number;
  name: string;
  url: string;
  eventType: string;
  isActive: boolean;
  description: string | null;
  createdAt: Date;
  updatedAt: Date;
  lastTriggeredAt: Date | null;
  /** Deliveries that failed at their first attempt. */
  failureCount: number;
  /** Deliveries that arrived, at whichever attempt. */
  successCount: number;
}

/**
 * `pending`: no attempt ended yet. `failed`: the last attempt failed; `nextRetryAt` says when the next one comes, null = never.
 * `success` is final.
 */
export type DeliveryStatus = 'pending' | 'success' | 'failed';

/** One event on its way to one webhook. */
export interface WebhookDelivery {
  id: number;
  webhookId: number;
  eventType: string;
  payload: Record<string, unknown>;
  responseStatus: number | null;
  /** At most 1000 characters and a mark. */
  responseBody: string | null;
  status: DeliveryStatus;
  errorMessage: string | null;
  /** Number of the last attempt; 1 before the first. */
  attemptNumber: number;
  createdAt: Date;
  deliveredAt: Date | null;
  nextRetryAt: Date | null;
}

/** One try of a delivery. */
export interface WebhookAttempt {
  id: number;
  attemptNumber: number;
  responseStatus: number | null;
  responseBody: string | null;
  errorMessage: string | null;
  durationMs: number;
  createdAt: Date;
}

export interface WebhookStats {
  totalWebhooks: number;
  activeWebhooks: number;
  totalDeliveries: number;
  successfulDeliveries: number;
  failedDeliveries: number;
  /** Per cent with two decimals; 0 without deliveries. */
  successRate: number;
}
