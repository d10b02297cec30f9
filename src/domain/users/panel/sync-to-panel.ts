import type { AdminActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { refusal } from '../../../core/errors.ts';
import { guardTarget, requireUser } from '../../identity/find-user.ts';
import { enforceStatus, requirePanel } from '../../provisioning/panel-access.ts';
import type { PanelUser, PanelUserPatch } from '../../provisioning/ports.ts';
import { pushSubscription } from '../../provisioning/push-subscription.ts';
import { requestPanelUserRemoval, requestProvisioning } from '../../provisioning/request-provisioning.ts';
import { type DesiredState, isSameDesiredState, isSameSet, readDesiredState, squadsOf } from '../../provisioning/sync/rules.ts';
import { lockUserSubscription, readUserSubscription } from '../../subscriptions/manual/manual-changes.ts';
import { callingPanel, lookUpPanelUser, syncError } from './panel-user.ts';
import { recordSync } from './sync-repo.ts';
import { type FieldChanges, gigabytes, valuesOf } from './sync-rules.ts';

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
 * Overwrites the panel's values with the local ones (spec 01 section 11.3). A creation, a change of all fields and a panel user that is
 * not linked yet are a normal push; a change of chosen fields is a separate call, and a local change during that call is pushed after
 * it (spec 06 hazards 6, 7).
 * @throws AppError 404 'User not found' | 403 (spec 01 H5) | 400 'User has no subscription to sync' | 503 | 500 'Sync error: …'
 */
export async function syncToPanel(app: App, actor: AdminActor, userId: number, request: ToPanelRequest): Promise<ToPanelResult> {
  const user = await guardTarget(app, actor, userId, 'change');
  const current = await readUserSubscription(app, user.id);
  if (!current) throw noSubscription();
  requirePanel(app);
  const found = await callingPanel(() => lookUpPanelUser(app, user));
  if (!found && !request.createsMissing) {
    const message = 'User not found in panel';
    return { success: false, message, action: '', panelUuid: null, changes: {}, errors: [message] };
  }
  // Read after the call to the panel, so that a purchase during the call is included.
  const desired = await readDesiredState(app, current.subscription.id);
  if (!desired) throw noSubscription();
  const { patch, changes } = found ? patchFor(desired, found, request) : NO_PATCH;
  const isLinked = found !== null && found.uuid === desired.panelUuid;
  if (isLinked && Object.keys(changes).length === 0) {
    await recordSync(app.db, user.id, null, app.clock.now());
    return { success: true, message: 'No changes', action: 'no_changes', panelUuid: found.uuid, changes: {}, errors: [] };
  }
  const isPartial = !(request.status && request.trafficLimit && request.expireDate && request.squads);
  const isDone = isLinked && isPartial ? await callingPanel(() => change(app, desired, { ...patch, uuid: found.uuid })) : false;
  if (!isDone) await pushNow(app, user.id, desired.subscriptionId);
  const { vpnpanelUuid } = await requireUser(app, user.id);
  app.audit?.record({
    before: { vpnpanelUuid: user.vpnpanelUuid, ...valuesOf(changes, 'old') },
    after: { vpnpanelUuid, ...valuesOf(changes, 'new') },
  });
  return { success: true, changes, errors: [], ...outcome(found, vpnpanelUuid) };
}

export const noSubscription = refusal('no_subscription', 400, 'User has no subscription to sync');

interface ChosenChanges {
  patch: Omit<PanelUserPatch, 'uuid'>;
  changes: FieldChanges;
}

const NO_PATCH: ChosenChanges = { patch: {}, changes: {} };

function outcome(found: PanelUser | null, panelUuid: string | null): Pick<ToPanelResult, 'message' | 'action' | 'panelUuid'> {
  if (found) return { message: 'User updated in panel', action: 'updated', panelUuid: panelUuid ?? found.uuid };
  if (panelUuid !== null) return { message: 'User created in panel', action: 'created', panelUuid };
  // No panel user is created for a subscription that is over.
  return { message: 'Subscription is not active; no panel user is needed', action: 'no_changes', panelUuid };
}

/**
 * One call for the chosen fields. The push of a concurrent local change may have reached the panel before this call, which then has
 * overwritten it with older values.
 * @returns false when a push has to follow: the row has changed, or the panel no longer has the user
 */
async function change(app: App, sent: DesiredState, patch: PanelUserPatch): Promise<boolean> {
  let updated: PanelUser | null;
  try {
    updated = await app.ports.panel.updateUser(patch);
  } catch (error) {
    // A call without an answer may have been executed.
    await requestPushIfChanged(app, sent, patch.uuid);
    throw error;
  }
  if (updated !== null && (patch.status !== undefined || sent.status === 'DISABLED')) {
    updated = await enforceStatus(app, updated, sent.status);
  }
  if ((await requestPushIfChanged(app, sent, patch.uuid)) || updated === null) return false;
  await recordSync(app.db, sent.userId, null, app.clock.now());
  return true;
}

/** Requests a push where the row has changed since it was sent; where the row was deleted, the panel user is disabled. */
async function requestPushIfChanged(app: App, sent: DesiredState, panelUuid: string): Promise<boolean> {
  return inTransaction(app, async (t) => {
    const current = await readDesiredState(t, sent.subscriptionId);
    if (current !== null && isSameDesiredState(sent, current)) return false;
    if (current === null) await requestPanelUserRemoval(t, panelUuid, 'disable');
    else await requestProvisioning(t, current.subscriptionId);
    return true;
  });
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
function patchFor(desired: DesiredState, found: PanelUser, request: ToPanelRequest): ChosenChanges {
  const patch: ChosenChanges['patch'] = {};
  const changes: FieldChanges = {};
  const isActiveThere = found.status === 'ACTIVE' || found.status === 'LIMITED';
  if (request.status && isActiveThere !== (desired.status === 'ACTIVE')) {
    patch.status = desired.status;
    changes.status = { old: found.status, new: desired.status };
  }
  if (request.expireDate && isOtherEnd(desired, found)) {
    patch.expireAt = desired.expireAt;
    changes.expire_at = { old: found.expireAt.toISOString(), new: desired.expireAt.toISOString() };
  }
  if (request.trafficLimit && desired.trafficLimitBytes !== found.trafficLimitBytes) {
    patch.trafficLimitBytes = desired.trafficLimitBytes;
    changes.traffic_limit_gb = { old: gigabytes(found.trafficLimitBytes), new: desired.trafficLimitGb };
  }
  if (request.squads && desired.squads.length > 0 && !isSameSet(desired.squads, squadsOf(found))) {
    patch.squadUuids = desired.squads;
    changes.squads = { old: squadsOf(found), new: desired.squads };
  }
  return { patch, changes };
}

/** The panel accepts no end in the past: where access has to end, every end up to `expireAt` counts as the same. */
function isOtherEnd(desired: DesiredState, found: PanelUser): boolean {
  if (desired.status === 'DISABLED') return found.expireAt > desired.expireAt;
  return found.expireAt.getTime() !== desired.expireAt.getTime();
}
