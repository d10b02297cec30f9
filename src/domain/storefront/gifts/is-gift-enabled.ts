import type { App } from '../../../core/app.ts';
import { readSwitch } from '../../settings/read-switch.ts';

/** Whether gifts are sold in the cabinet; off until an administrator switches it on (spec 03 section 9). */
export function isGiftEnabled(app: App): Promise<boolean> {
  return readSwitch(app, 'CABINET_GIFT_ENABLED');
}
