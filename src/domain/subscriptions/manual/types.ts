import type { App } from '../../../core/app.ts';
import type { Subscription } from '../types.ts';
import type { ManualChange } from './manual-changes.ts';

/** Everything that the body may say; each action takes what it knows and leaves the rest. Null = not given. */
export interface ActionRequest {
  action: string;
  days: number | null;
  endDate: Date | null;
  tariffId: number | null;
  /** GB; 0 = unlimited. */
  trafficLimitGb: number | null;
  trafficUsedGb: number | null;
  autopayEnabled: boolean | null;
  trafficGb: number | null;
  trafficPurchaseId: number | null;
  isTrial: boolean | null;
  deviceLimit: number | null;
}

/** What one action makes of a locked subscription, and how it is told. */
export interface ActionResult extends ManualChange {
  message: string;
}

/** Runs in the transaction that holds the user and the subscription. */
export type SubscriptionAction = (t: App, subscription: Subscription, request: ActionRequest) => Promise<ActionResult>;
