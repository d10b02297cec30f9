import type { AdminActor } from '../../../../core/actor.ts';
import type { App } from '../../../../core/app.ts';
import { inTransaction } from '../../../../core/db/transaction.ts';
import { refuse } from '../../../../core/errors.ts';
import { requireUser } from '../../../identity/require-user.ts';
import { requirePanel } from '../../../provisioning/panel-access.ts';
import type { PanelUser, PanelUserPatch } from '../../../provisioning/ports.ts';
import { pushSubscription } from '../../../provisioning/push-subscription.ts';
import { requestProvisioning } from '../../../provisioning/request-provisioning.ts';
import { panelStateFor, trafficLimitBytesFor } from '../../../provisioning/rules.ts';
import { isSameSet, squadsOf } from '../../../provisioning/sync/rules.ts';
import { lockUserSubscription, readUserSubscription } from '../../../subscriptions/manual-changes.ts';
import type { Subscription } from '../../../subscriptions/types.ts';
import { guardTarget } from '../guard-target.ts';
import { lookUpPanelUser } from '../panel/look-up-panel-user.ts';
import { callingPanel, syncError } from './panel-failure.ts';
import { noteSync } from './repo.ts';
import { type FieldChanges, gigabytes } from './rules.ts';

export interface ToPanelRequest {
  createsMissing: boolean;
  status: boolean;
  trafficLimit: boolean;
  expireDate: boolean;
  squads: boolean;
}

export interface ToPanelResult {
  success: boolean;
  message: string;
  action: 'created' | 'updated' | 'no_changes' | '';
  panelUuid: string | null;
  changes: FieldChanges;
  errors: string[];
}

/**
 * Writes the local numbers over the panel's (spec 01 section 11.3). A creation, and a change of everything, go the way of every
 * push; a change of chosen fields is one call of its own.
 * @throws AppError 404 'User not found' | 403 (H5) | 400 'User has no subscription to sync' | 503 | 500 'Sync error: …'
 */
export async function syncToPanel(app: App, actor: AdminActor, userId: number, request: ToPanelRequest): Promise<ToPanelResult> {
  const user = await guardTarget(app, actor, userId, 'change');
  const held = await readUserSubscription(app, user.id);
  if (!held) throw refuse('no_subscription', 400, 'User has no subscription to sync');
  requirePanel(app);
  const found = await callingPanel(() => lookUpPanelUser(app, user));
  if (!found && !request.createsMissing) {
    const message = 'User not found in panel';
    return { success: false, message, action: '', panelUuid: null, changes: {}, errors: [message] };
  }
  const { patch, told } = found ? patchFor(held.subscription, found, request, app.clock.now()) : NO_PATCH;
  if (found && Object.keys(told).length === 0 && found.uuid === user.vpnpanelUuid) {
    await noteSync(app.db, user.id, null, app.clock.now());
    return { success: true, message: 'No changes', action: 'no_changes', panelUuid: found.uuid, changes: {}, errors: [] };
  }
  const isPartial = !(request.status && request.trafficLimit && request.expireDate && request.squads);
  const isDone = found && isPartial ? await callingPanel(() => change(app, user.id, { ...patch, uuid: found.uuid })) : false;
  if (!isDone) await pushNow(app, user.id, held.subscription.id);
  const { vpnpanelUuid } = await requireUser(app, user.id);
  app.audit?.note({
    before: { vpnpanelUuid: user.vpnpanelUuid, ...oldValues(told) },
    after: { vpnpanelUuid, ...newValues(told) },
  });
  return { success: true, changes: told, errors: [], ...outcome(found, vpnpanelUuid) };
}

const NO_PATCH: { patch: Omit<PanelUserPatch, 'uuid'>; told: FieldChanges } = { patch: {}, told: {} };

function outcome(found: PanelUser | null, panelUuid: string | null): Pick<ToPanelResult, 'message' | 'action' | 'panelUuid'> {
  if (found) return { message: 'User updated in panel', action: 'updated', panelUuid: panelUuid ?? found.uuid };
  if (panelUuid !== null) return { message: 'User created in panel', action: 'created', panelUuid };
  // The panel is not asked to make a user for a subscription that is over.
  return { message: 'Subscription is not active; no panel user is needed', action: 'no_changes', panelUuid };
}

/** @returns false when the panel lost the user meanwhile: then it is created */
async function change(app: App, userId: number, patch: PanelUserPatch): Promise<boolean> {
  if ((await app.ports.panel.updateUser(patch)) === null) return false;
  await noteSync(app.db, userId, null, app.clock.now());
  return true;
}

async function pushNow(app: App, userId: number, subscriptionId: number): Promise<void> {
  await inTransaction(app, async (t) => {
    await lockUserSubscription(t, userId);
    await requestProvisioning(t, subscriptionId);
  });
  const result = await callingPanel(() => pushSubscription(app, subscriptionId));
  if (result === 'failed') throw syncError('the panel refused the change');
}

/** Chosen fields in which the panel differs; squads are never emptied. */
function patchFor(
  subscription: Subscription,
  found: PanelUser,
  request: ToPanelRequest,
  now: Date,
): { patch: Omit<PanelUserPatch, 'uuid'>; told: FieldChanges } {
  const wanted = panelStateFor(subscription, now);
  const patch: Omit<PanelUserPatch, 'uuid'> = {};
  const told: FieldChanges = {};
  const isActiveThere = found.status === 'ACTIVE' || found.status === 'LIMITED';
  if (request.status && isActiveThere !== (wanted.status === 'ACTIVE')) {
    patch.status = wanted.status;
    told.status = { old: found.status, new: wanted.status };
  }
  if (request.expireDate && isOtherEnd(subscription, found, wanted.expireAt)) {
    patch.expireAt = wanted.expireAt;
    told.expire_at = { old: found.expireAt.toISOString(), new: wanted.expireAt.toISOString() };
  }
  const limitBytes = trafficLimitBytesFor(subscription.trafficLimitGb);
  if (request.trafficLimit && limitBytes !== found.trafficLimitBytes) {
    patch.trafficLimitBytes = limitBytes;
    told.traffic_limit_gb = { old: gigabytes(found.trafficLimitBytes), new: subscription.trafficLimitGb };
  }
  const squads = subscription.connectedSquads;
  if (request.squads && squads.length > 0 && !isSameSet(squads, squadsOf(found))) {
    patch.squadUuids = squads;
    told.squads = { old: squadsOf(found), new: squads };
  }
  return { patch, told };
}

/** The panel takes no end in the past: for one that is over, any end that is over or about to be is the same. */
function isOtherEnd(subscription: Subscription, found: PanelUser, wanted: Date): boolean {
  if (subscription.endDate < wanted) return found.expireAt > wanted;
  return found.expireAt.getTime() !== wanted.getTime();
}

function oldValues(told: FieldChanges): Record<string, unknown> {
  return Object.fromEntries(Object.entries(told).map(([field, { old }]) => [field, old]));
}

function newValues(told: FieldChanges): Record<string, unknown> {
  return Object.fromEntries(Object.entries(told).map(([field, change]) => [field, change.new]));
}
