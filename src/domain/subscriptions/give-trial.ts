import type { App } from '../../core/app.ts';
import { grantSubscription } from './grant-subscription.ts';
import { readTrialTerms } from './trial-terms.ts';
import type { Subscription } from './types.ts';

/**
 * Starts a free trial of the given length for a locked user without subscription (spec 02 section 4.1, spec 04 section 7.1). In the caller's transaction; the panel follows after commit.
 * @returns null when the user has a subscription already
 */
export async function grantTrial(t: App, userId: number, days: number): Promise<Subscription | null> {
  const { trafficLimitGb, deviceLimit, squads, tariffId } = await readTrialTerms(t);
  return grantSubscription(t, userId, { days, isTrial: true, trafficLimitGb, deviceLimit, squads, tariffId });
}
