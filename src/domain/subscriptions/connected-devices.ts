import type { UserActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { refusal } from '../../core/errors.ts';
import { findTariff } from '../catalog/find-tariff.ts';
import { findUserById } from '../identity/find-user.ts';
import { text } from '../messaging/texts.ts';
import type { PanelDevice } from '../provisioning/panel-objects.ts';
import { requestProvisioning } from '../provisioning/request-provisioning.ts';
import { noSubscription } from './errors.ts';
import { requireBuyerDetails } from './purchase/insufficient-funds.ts';
import { findBuyerDetails, lockSaleStart } from './purchase/repo.ts';
import { update } from './repo.ts';
import type { Subscription } from './types.ts';

export const trialRefusal = refusal('trial', 400, 'Device reduction is not available for trial subscriptions');
export const notLower = refusal('not_lower', 400, 'New device limit must be less than current limit');
export const belowMinimum = refusal('below_minimum', 400, 'Cannot reduce below minimum device limit (<n>) for your tariff');
export const noPanelUser = refusal('no_panel_user', 400, 'User UUID not found');

/** The devices that the panel has of the user; none when the panel does not answer (spec 02 section 5.5). @throws AppError 404 */
export async function listConnectedDevices(app: App, actor: UserActor) {
  const { subscription, panelUuid } = await ownerOf(app, actor);
  return { devices: panelUuid === null ? [] : await devicesOrNone(app, panelUuid), deviceLimit: subscription.deviceLimit };
}

/** The devices of a panel user; none when the panel does not answer. */
async function devicesOrNone(app: App, panelUuid: string): Promise<PanelDevice[]> {
  try {
    return await app.ports.panel.listDevices(panelUuid);
  } catch (error) {
    app.log.warn({ err: error }, 'the devices of a user could not be read');
    return [];
  }
}

/**
 * Removes one of the user's own devices.
 * @returns the message for the user
 * @throws AppError 404 | 400 'User UUID not found' | 502 'Failed to delete device'
 */
export async function forgetDevice(app: App, actor: UserActor, hwid: string): Promise<string> {
  const { panelUuid, language } = await panelUserOf(app, actor);
  await atPanel(app, 'Failed to delete device', () => app.ports.panel.deleteDevice(panelUuid, hwid));
  return text(language, 'subscriptions.device_forgotten');
}

/** Removes all of the user's devices; single failures are skipped. @throws AppError 404 | 400 | 502 */
export async function forgetAllDevices(app: App, actor: UserActor): Promise<{ message: string; deletedCount: number }> {
  const { panelUuid, language } = await panelUserOf(app, actor);
  const devices = await atPanel(app, 'Failed to delete devices', () => app.ports.panel.listDevices(panelUuid));
  const deletedCount = await removeDevices(app, panelUuid, devices);
  return { message: text(language, 'subscriptions.devices_forgotten', { count: deletedCount }), deletedCount };
}

/** Whether the device limit can be lowered, and how far. Never refuses. */
export async function readReductionInfo(app: App, actor: UserActor) {
  const found = await findBuyerDetails(app.db, actor.userId);
  if (!found?.details) {
    const nothing = { currentDeviceLimit: 0, minDeviceLimit: 1, canReduce: 0, connectedDevicesCount: 0 };
    return { available: false, reason: 'No subscription found', ...nothing };
  }
  const { subscription } = found.details;
  const minDeviceLimit = await minimumOf(app, subscription);
  const panelUuid = (await findUserById(app, actor.userId))?.vpnpanelUuid ?? null;
  const connectedDevicesCount = panelUuid === null ? 0 : (await devicesOrNone(app, panelUuid)).length;
  const state = { currentDeviceLimit: subscription.deviceLimit, minDeviceLimit, canReduce: 0, connectedDevicesCount };
  if (subscription.isTrial) return { available: false, reason: NOT_FOR_TRIALS, ...state };
  if (subscription.deviceLimit <= minDeviceLimit) {
    return { available: false, reason: 'Already at minimum device limit for your tariff', ...state };
  }
  return { available: true, ...state, canReduce: subscription.deviceLimit - minDeviceLimit };
}

const NOT_FOR_TRIALS = 'Device reduction is not available for trial subscriptions';

/**
 * Lowers the device limit, without a refund; devices beyond it are removed from the panel, those updated last first (spec 02 section
 * 5.5). The devices are read from the panel before the row changes; provisioning sends the limit after commit.
 * @throws AppError 404 | 400 | 502 when the panel does not answer
 */
export async function reduceDevices(app: App, actor: UserActor, newLimit: number) {
  const { panelUuid, language } = await ownerOf(app, actor);
  const failure = text(language, 'errors.panel_update_failed');
  const devices = panelUuid === null ? [] : await atPanel(app, failure, () => app.ports.panel.listDevices(panelUuid));
  const oldDeviceLimit = await inTransaction(app, async (t) => {
    const start = await lockSaleStart(t.db, actor.userId);
    if (!start?.subscription) throw noSubscription();
    const { subscription } = start;
    if (subscription.isTrial) throw trialRefusal({ detail: NOT_FOR_TRIALS });
    if (newLimit >= subscription.deviceLimit) throw notLower();
    const minimum = await minimumOf(t, subscription);
    if (newLimit < minimum) {
      throw belowMinimum({ detail: `Cannot reduce below minimum device limit (${minimum}) for your tariff` });
    }
    await update(t.db, subscription.id, { deviceLimit: newLimit }, { now: t.clock.now() });
    await requestProvisioning(t, subscription.id);
    return subscription.deviceLimit;
  });
  const surplus = newestFirst(devices).slice(0, Math.max(0, devices.length - newLimit));
  const devicesRemoved = panelUuid === null ? 0 : await removeDevices(app, panelUuid, surplus);
  const message = text(language, 'subscriptions.devices_reduced', { limit: newLimit });
  return { message, oldDeviceLimit, newDeviceLimit: newLimit, devicesRemoved };
}

/** When the panel saw a device last; null = unknown. */
export function seenAt(device: Pick<PanelDevice, 'updatedAt' | 'createdAt'>): Date | null {
  return device.updatedAt ?? device.createdAt;
}

function newestFirst(devices: readonly PanelDevice[]): PanelDevice[] {
  return [...devices].sort((a, b) => (seenAt(b)?.getTime() ?? 0) - (seenAt(a)?.getTime() ?? 0));
}

async function removeDevices(app: App, panelUuid: string, devices: readonly PanelDevice[]): Promise<number> {
  let removed = 0;
  for (const { hwid } of devices) {
    try {
      await app.ports.panel.deleteDevice(panelUuid, hwid);
      removed += 1;
    } catch (error) {
      app.log.warn({ err: error }, 'a device could not be removed');
    }
  }
  return removed;
}

async function minimumOf(app: App, subscription: Subscription): Promise<number> {
  const tariff = subscription.tariffId === null ? null : await findTariff(app, subscription.tariffId);
  return Math.max(1, tariff?.deviceLimit ?? 1);
}

async function ownerOf(
  app: App,
  actor: UserActor,
): Promise<{ subscription: Subscription; panelUuid: string | null; language: string }> {
  const found = await requireBuyerDetails(app, actor);
  if (!found.details) throw noSubscription();
  const user = await findUserById(app, actor.userId);
  const { language } = found.buyer;
  return { subscription: found.details.subscription, panelUuid: user?.vpnpanelUuid ?? null, language };
}

async function panelUserOf(app: App, actor: UserActor): Promise<{ panelUuid: string; language: string }> {
  const { panelUuid, language } = await ownerOf(app, actor);
  if (panelUuid === null) throw noPanelUser();
  return { panelUuid, language };
}

async function atPanel<T>(app: App, failure: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    app.log.warn({ err: error }, 'a request of a user failed at the panel');
    throw panelFailure(failure, error);
  }
}

export const panelFailure = refusal('vpnpanel_error', 502, 'Failed to delete devices', (message: string, cause: unknown) => ({
  detail: message,
  cause,
}));
