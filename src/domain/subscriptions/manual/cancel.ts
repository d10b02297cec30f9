import { ENDED_BY_DECISION } from '../rules/status.ts';
import type { SubscriptionAction } from './types.ts';

/** Ends the subscription now (spec 01 section 11.2); nothing renews it by itself. */
export const cancel: SubscriptionAction = async (t) => ({
  changes: { status: 'expired', endDate: t.clock.now(), ...ENDED_BY_DECISION },
  message: 'Subscription cancelled',
});
