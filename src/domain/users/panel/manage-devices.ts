import type { AdminActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { refusal } from '../../../core/errors.ts';
import { guardTarget } from '../../identity/guard-target.ts';
import { requireUser } from '../../identity/require-user.ts';
import type { PanelDevice } from '../../provisioning/panel-objects.ts';
import { isPanelError } from '../../provisioning/ports.ts';
import { readUserSubscription } from '../../subscriptions/manual/manual-changes.ts';

export const noPanelAccount = refusal('no_panel_account', 400, 'User has no panel account');

export interface UserDevices {
  devices: PanelDevice[];
  /** 0 without a subscription. */
  deviceLimit: number;
}

/** Devices of a user at the panel; none when it does not answer (spec 01 section 11.1). @throws AppError 404 */
export async function listUserDevices(app: App, userId: number): Promise<UserDevices> {
  const user = await requireUser(app, userId);
  const deviceLimit = (await readUserSubscription(app, user.id))?.subscription.deviceLimit ?? 0;
  if (user.vpnpanelUuid === null) return { devices: [], deviceLimit };
  try {
    return { devices: await app.ports.panel.listDevices(user.vpnpanelUuid), deviceLimit };
  } catch (error) {
    if (!isPanelError(error)) throw error;
    return { devices: [], deviceLimit };
  }
}

export interface DeviceRemoval {
  success: boolean;
  message: string;
}

/**
 * Deletes one device (spec 01 section 11.2). A refusal or failure of the panel is returned, not thrown.
 * @throws AppError 404 'User not found' | 403 | 400 'User has no panel account'
 */
export async function removeUserDevice(app: App, actor: AdminActor, userId: number, hwid: string): Promise<DeviceRemoval> {
  const panelUuid = await linkedPanelUser(app, actor, userId);
  try {
    await app.ports.panel.deleteDevice(panelUuid, hwid);
  } catch (error) {
    if (!isPanelError(error)) throw error;
    return { success: false, message: `Failed to delete device: ${error.message}` };
  }
  app.audit?.record({ before: { hwid }, after: null });
  return { success: true, message: 'Device deleted successfully' };
}

/**
 * Deletes all devices, one call each (spec 01 section 11.2).
 * @throws AppError 404 'User not found' | 403 | 400 'User has no panel account'
 */
export async function resetUserDevices(
  app: App,
  actor: AdminActor,
  userId: number,
): Promise<DeviceRemoval & { deletedCount: number }> {
  const panelUuid = await linkedPanelUser(app, actor, userId);
  const { panel } = app.ports;
  let deletedCount = 0;
  let devices: PanelDevice[];
  try {
    devices = await panel.listDevices(panelUuid);
  } catch (error) {
    if (!isPanelError(error)) throw error;
    return { success: false, message: `Failed to reset devices: ${error.message}`, deletedCount };
  }
  if (devices.length === 0) return { success: true, message: 'No devices to reset', deletedCount };
  for (const device of devices) {
    try {
      await panel.deleteDevice(panelUuid, device.hwid);
      deletedCount += 1;
    } catch (error) {
      if (!isPanelError(error)) throw error;
      app.log.info({ userId, kind: error.kind }, 'admin users: a device was not deleted');
    }
  }
  app.audit?.record({ before: { devices: devices.length }, after: { devices: devices.length - deletedCount } });
  return { success: deletedCount > 0, message: `Deleted ${deletedCount}/${devices.length} devices`, deletedCount };
}

async function linkedPanelUser(app: App, actor: AdminActor, userId: number): Promise<string> {
  const user = await guardTarget(app, actor, userId, 'change');
  if (user.vpnpanelUuid === null) throw noPanelAccount();
  return user.vpnpanelUuid;
}
