import type { App } from '../../../core/app.ts';
import { readSwitch } from '../../settings/read-switch.ts';

/** The key of the switch, which is changed with the branding of the cabinet (spec 05 section 14). */
export const GIFT_SWITCH = 'CABINET_GIFT_ENABLED';

/** Whether gifts are sold in the cabinet; off until an administrator switches it on (spec 03 section 9). */
export function isGiftEnabled(app: App): Promise<boolean> {
  return readSwitch(app, GIFT_SWITCH);
}
