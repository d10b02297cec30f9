import type { App } from '../../core/app.ts';
import { findTrialTariff } from '../catalog/find-tariff.ts';
import { grantSubscription } from './grant-subscription.ts';
import { trialTerms } from './rules/trial.ts';
import { subscriptionSettingsOf } from './settings.ts';
import type { Subscription } from './types.ts';

/**
 * Starts a free trial of the given length for a locked user without subscription (spec 02 section 4.1, spec 04 section 7.1). The device
 * limit is the fixed one while devices cannot be chosen. In the caller's transaction; the panel follows after commit.
 * @returns null when the user has a subscription already
 */
export async function giveTrial(t: App, userId: number, days: number): Promise<Subscription | null> {
  const { trafficLimitGb, deviceLimit, squads, tariffId } = trialTerms(await findTrialTariff(t), subscriptionSettingsOf(t));
  const forced = t.settings.get('DEVICES_SELECTION_ENABLED') ? 0 : (t.settings.get('DEVICES_SELECTION_DISABLED_AMOUNT') ?? 0);
  return grantSubscription(t, userId, {
    days,
    isTrial: true,
    trafficLimitGb,
    deviceLimit: forced > 0 ? forced : deviceLimit,
    squads,
    tariffId,
  });
}
