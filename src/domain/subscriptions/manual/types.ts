import type { App } from '../../../core/app.ts';
import type { Changes } from '../../../core/changes.ts';
import type { Subscription } from '../types.ts';
import type { ManualChange } from './manual-changes.ts';

/** What an action can be given; each action reads the fields it needs and ignores the rest. Null or absent = not given. */
export type ActionRequest = { action: string } & Changes<{
  days: number;
  endDate: Date;
  tariffId: number;
  /** GB; 0 = unlimited. */
  trafficLimitGb: number;
  trafficUsedGb: number;
  autopayEnabled: boolean;
  trafficGb: number;
  trafficPurchaseId: number;
  isTrial: boolean;
  deviceLimit: number;
}>;

/** How one action changes a locked subscription, and the sentence of the answer. */
interface ActionResult extends ManualChange {
  message: string;
}

/** Runs in the transaction that has locked the user and the subscription. */
export type SubscriptionAction = (t: App, subscription: Subscription, request: ActionRequest) => Promise<ActionResult>;
