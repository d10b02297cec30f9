import { refuse } from '../../../core/errors.ts';
import type { SubscriptionAction } from './types.ts';

/** Sets how many devices may connect (spec 01 section 11.2). */
export const setDeviceLimit: SubscriptionAction = async (_t, _subscription, { deviceLimit }) => {
  if (deviceLimit === null) {
    throw refuse('device_limit_required', 400, 'device_limit parameter is required for set_device_limit action');
  }
  return { changes: { deviceLimit }, message: `Device limit set to ${deviceLimit}` };
};
