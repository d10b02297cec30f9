import type { Subscription } from '../types.ts';
import { autopayPeriod, quoteRenewal, type RenewalInput } from './renewal.ts';
import { daysLeft } from './status.ts';

/** What autopay would do with a subscription that is due: nothing, nothing because no period is for sale, or a renewal at this price. */
export type AutopayPlan =
  | { kind: 'nothing' }
  | { kind: 'no_period' }
  | {
      kind: 'renewal';
      periodDays: number;
      /** Above 0. */
      priceKopeks: number;
    };

/** Period and price of the renewal by autopay (spec 02 section 13), for the job and for what pays it beforehand. */
export function planAutopay(input: RenewalInput & { subscription: Pick<Subscription, 'endDate'> }): AutopayPlan {
  const periodDays = autopayPeriod(input.tariff, input.settings);
  if (periodDays === null) return { kind: 'no_period' };
  // More than a whole period is left: a lead that is longer than the period must not buy one period after the other.
  if (daysLeft(input.subscription, input.now) >= periodDays) return { kind: 'nothing' };
  const quote = quoteRenewal(input, periodDays);
  if (quote.kind === 'refusal' || quote.finalKopeks <= 0) return { kind: 'nothing' };
  return { kind: 'renewal', periodDays, priceKopeks: quote.finalKopeks };
}
