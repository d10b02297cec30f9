import { refuse } from '../../../core/errors.ts';
import type { SubscriptionAction } from './types.ts';

/** Switches renewal from the balance on or off; the panel does not know of it (spec 01 section 11.2). */
export const toggleAutopay: SubscriptionAction = async (_t, _subscription, { autopayEnabled }) => {
  if (autopayEnabled === null) throw refuse('autopay_required', 400, 'autopay_enabled parameter is required');
  return {
    changes: { autopayEnabled },
    staysLocal: true,
    message: `Autopay ${autopayEnabled ? 'enabled' : 'disabled'}`,
  };
};
