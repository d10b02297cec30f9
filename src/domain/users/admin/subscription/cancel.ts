import type { SubscriptionAction } from './types.ts';

/** Ends the subscription now (spec 01 section 11.2). */
export const cancel: SubscriptionAction = async (t) => ({
  changes: { status: 'expired', endDate: t.clock.now() },
  message: 'Subscription cancelled',
});
