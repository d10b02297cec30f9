import type { UserActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { refusal } from '../../../core/errors.ts';
import { forgetDevice } from '../connected-devices.ts';

export const invalidHwid = refusal('invalid_hwid', 400, 'Invalid device identifier');
const serviceUnavailable = refusal('service_unavailable', 503, 'VPN panel is not configured');

/**
 * Removes one of the user's own devices, in the order in which the mini-app is refused (spec 02 section 12.2).
 * @returns what the user is told
 * @throws AppError 400 invalid_hwid | 503 service_unavailable | 404 no_subscription | 409 (renamed by the caller) | 502
 */
export async function removeMiniappDevice(app: App, actor: UserActor, hwid: string): Promise<string> {
  if (hwid.trim() === '') throw invalidHwid();
  if (app.ports.panel.configurationError() !== null) throw serviceUnavailable();
  return forgetDevice(app, actor, hwid.trim());
}
