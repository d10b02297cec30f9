import type { AdminActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { addDays } from '../../../core/clock.ts';
import { refusal } from '../../../core/errors.ts';
import { guardTarget, requireUser } from '../../identity/find-user.ts';
import type { PanelDevice, PanelSquadNode, PanelUserTraffic } from '../../provisioning/panel-objects.ts';
import { isPanelError } from '../../provisioning/ports.ts';
import { readUserSubscription } from '../../subscriptions/manual/manual-changes.ts';
import { lookUpPanelUser } from './panel-user.ts';
import { findLastSync } from './sync-repo.ts';
import { differencesOf } from './sync-rules.ts';

export const noPanelAccount = refusal('no_panel_account', 400, 'User has no panel account');

/** Devices of a user at the panel; none when it does not answer (spec 01 section 11.1). @throws AppError 404 */
export async function listUserDevices(app: App, userId: number) {
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
 * Deletes all devices, one call each.
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

/**
 * The panel's data of a user; null when it is not configured, has no such user or does not answer.
 * @throws AppError 404 'User not found'
 */
export async function readPanelInfo(app: App, userId: number) {
  const user = await requireUser(app, userId);
  try {
    const found = await lookUpPanelUser(app, user);
    if (!found) return null;
    const nodeUuid = found.lastConnectedNodeUuid;
    const nodes = nodeUuid === null ? [] : await app.ports.panel.listUserNodes(found.uuid);
    return { user: found, lastNodeName: nodes.find((node) => node.uuid === nodeUuid)?.nodeName ?? null };
  } catch (error) {
    if (!isPanelError(error)) throw error;
    app.log.info({ userId, kind: error.kind }, 'admin users: the panel gave no answer');
    return null;
  }
}

/** The values of the service and of the panel for a user, and their differences; nothing is changed (spec 01 section 11.3). @throws AppError 404 */
export async function readSyncStatus(app: App, userId: number) {
  const user = await requireUser(app, userId);
  const [lastSync, found] = await Promise.all([findLastSync(app.db, user.id), readUserSubscription(app, user.id)]);
  const subscription = found?.subscription ?? null;
  try {
    const panel = await lookUpPanelUser(app, user);
    const differences = panel ? differencesOf(subscription, panel, app.clock.now()) : [];
    return { user, lastSync, subscription, panel, differences };
  } catch (error) {
    if (!isPanelError(error)) throw error;
    return { user, lastSync, subscription, panel: null, differences: [`Error fetching panel data: ${error.message}`] };
  }
}

/** Days shown, today included. */
export const USAGE_DAYS = 30;

interface NodeUsage {
  /** `YYYY-MM-DD` in UTC. */
  days: string[];
  /** Most traffic first. */
  nodes: PanelUserTraffic['nodes'];
}

const NOTHING: NodeUsage = { days: [], nodes: [] };

/**
 * Traffic of 30 days by node: nodes that the user can reach, used or not, and any other that was used.
 * Empty without a panel user or an answer of the panel.
 * @throws AppError 404 'User not found'
 */
export async function readNodeUsage(app: App, userId: number): Promise<NodeUsage> {
  const { vpnpanelUuid } = await requireUser(app, userId);
  if (vpnpanelUuid === null) return NOTHING;
  const now = app.clock.now();
  try {
    const [traffic, nodes] = await Promise.all([
      app.ports.panel.readUserTraffic(vpnpanelUuid, { from: addDays(now, 1 - USAGE_DAYS), to: now }),
      app.ports.panel.listUserNodes(vpnpanelUuid),
    ]);
    return traffic ? withReachable(traffic, nodes) : NOTHING;
  } catch (error) {
    if (!isPanelError(error)) throw error;
    app.log.info({ userId, kind: error.kind }, 'admin users: the panel gave no answer');
    return NOTHING;
  }
}

function withReachable(traffic: PanelUserTraffic, reachable: readonly PanelSquadNode[]): NodeUsage {
  const used = new Set(traffic.nodes.map((node) => node.uuid));
  const idle = reachable
    .filter((node) => !used.has(node.uuid))
    .map((node) => ({
      uuid: node.uuid,
      name: node.nodeName,
      countryCode: node.countryCode,
      totalBytes: 0,
      dailyBytes: traffic.days.map(() => 0),
    }));
  const nodes = [...traffic.nodes, ...idle].sort((a, b) => b.totalBytes - a.totalBytes || a.name.localeCompare(b.name, 'en'));
  return { days: traffic.days, nodes };
}
