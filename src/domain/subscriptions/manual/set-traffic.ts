import { isPast } from '../rules/status.ts';
import type { SubscriptionAction } from './types.ts';

/**
 * Sets the traffic limit, the used traffic, or both (spec 01 section 11.2). One that had used up its traffic and now has some left
 * goes on; used traffic of 0 is reset on the panel too, which would bring its own number back otherwise.
 */
export const setTraffic: SubscriptionAction = async (t, subscription, request) => {
  const limitGb = request.trafficLimitGb ?? subscription.trafficLimitGb;
  const usedGb = request.trafficUsedGb ?? subscription.trafficUsedGb;
  const hasTraffic = limitGb === 0 || usedGb < limitGb;
  const goesOn = subscription.status === 'limited' && hasTraffic && !isPast(subscription, t.clock.now());
  return {
    changes: { trafficLimitGb: limitGb, trafficUsedGb: usedGb, ...(goesOn ? { status: 'active' } : {}) },
    wishes: { resetTraffic: request.trafficUsedGb === 0 },
    message: 'Traffic settings updated',
  };
};
