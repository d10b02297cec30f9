import type { AdminActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { refuse } from '../../../core/errors.ts';
import { guardTarget } from '../../identity/guard-target.ts';
import { requireUser } from '../../identity/require-user.ts';
import { requirePanel } from '../../provisioning/panel-access.ts';
import type { PanelUser, PanelUserPatch } from '../../provisioning/ports.ts';
import { pushSubscription } from '../../provisioning/push-subscription.ts';
import { requestPanelUserRemoval, requestProvisioning } from '../../provisioning/request-provisioning.ts';
import { isSameWish, type PanelWish, readPanelWish } from '../../provisioning/sync/panel-wish.ts';
import { isSameSet, squadsOf } from '../../provisioning/sync/rules.ts';
import { lockUserSubscription, readUserSubscription } from '../../subscriptions/manual/manual-changes.ts';
import { lookUpPanelUser } from './look-up-panel-user.ts';
import { callingPanel, syncError } from './panel-failure.ts';
import { noteSync } from './sync-repo.ts';
import { type FieldChanges, gigabytes } from './sync-rules.ts';

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
 * Writes the local numbers over the panel's (spec 01 section 11.3). A creation, a change of everything and a panel user that is not
 * linked yet go the way of every push; a change of chosen fields is one call of its own, and what has changed here meanwhile is
 * pushed after it (spec 06 hazards 6, 7).
 * @throws AppError 404 'User not found' | 403 (spec 01 H5) | 400 'User has no subscription to sync' | 503 | 500 'Sync error: …'
 */
export async function syncToPanel(app: App, actor: AdminActor, userId: number, request: ToPanelRequest): Promise<ToPanelResult> {
  const user = await guardTarget(app, actor, userId, 'change');
  const held = await readUserSubscription(app, user.id);
  if (!held) throw noSubscription();
  requirePanel(app);
  const found = await callingPanel(() => lookUpPanelUser(app, user));
  if (!found && !request.createsMissing) {
    const message = 'User not found in panel';
    return { success: false, message, action: '', panelUuid: null, changes: {}, errors: [message] };
  }
  // Read after the panel was asked: the older the row, the more could have been sold since.
  const wish = await readPanelWish(app, held.subscription.id);
  if (!wish) throw noSubscription();
  const { patch, told } = found ? patchFor(wish, found, request) : NO_PATCH;
  const isLinked = found !== null && found.uuid === wish.panelUuid;
  if (isLinked && Object.keys(told).length === 0) {
    await noteSync(app.db, user.id, null, app.clock.now());
    return { success: true, message: 'No changes', action: 'no_changes', panelUuid: found.uuid, changes: {}, errors: [] };
  }
  const isPartial = !(request.status && request.trafficLimit && request.expireDate && request.squads);
  const isDone = isLinked && isPartial ? await callingPanel(() => change(app, wish, { ...patch, uuid: found.uuid })) : false;
  if (!isDone) await pushNow(app, user.id, wish.subscriptionId);
  const { vpnpanelUuid } = await requireUser(app, user.id);
  app.audit?.note({
    before: { vpnpanelUuid: user.vpnpanelUuid, ...oldValues(told) },
    after: { vpnpanelUuid, ...newValues(told) },
  });
  return { success: true, changes: told, errors: [], ...outcome(found, vpnpanelUuid) };
}

const noSubscription = () => refuse('no_subscription', 400, 'User has no subscription to sync');

const NO_PATCH: { patch: Omit<PanelUserPatch, 'uuid'>; told: FieldChanges } = { patch: {}, told: {} };

function outcome(found: PanelUser | null, panelUuid: string | null): Pick<ToPanelResult, 'message' | 'action' | 'panelUuid'> {
  if (found) return { message: 'User updated in panel', action: 'updated', panelUuid: panelUuid ?? found.uuid };
  if (panelUuid !== null) return { message: 'User created in panel', action: 'created', panelUuid };
  // The panel is not asked to make a user for a subscription that is over.
  return { message: 'Subscription is not active; no panel user is needed', action: 'no_changes', panelUuid };
}

/**
 * One call for the chosen fields. A change here that came while the panel was called may have reached it before this call, which
 * then has written the older values over it.
 * @returns false when a push has to follow: the row has changed, or the panel lost the user meanwhile
 */
async function change(app: App, wish: PanelWish, patch: PanelUserPatch): Promise<boolean> {
  let updated: PanelUser | null;
  try {
    updated = await app.ports.panel.updateUser(patch);
  } catch (error) {
    // Without an answer it may have been carried out all the same.
    await followWhatMoved(app, wish, patch.uuid);
    throw error;
  }
  if ((await followWhatMoved(app, wish, patch.uuid)) || updated === null) return false;
  await noteSync(app.db, wish.userId, null, app.clock.now());
  return true;
}

/** Asks for a push where the row is no longer what the panel was told; of a row that is gone, the panel user is switched off again. */
async function followWhatMoved(app: App, told: PanelWish, panelUuid: string): Promise<boolean> {
  return inTransaction(app, async (t) => {
    const wish = await readPanelWish(t, told.subscriptionId);
    if (wish !== null && isSameWish(told, wish)) return false;
    if (wish === null) await requestPanelUserRemoval(t, panelUuid, 'disable');
    else await requestProvisioning(t, wish.subscriptionId);
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
function patchFor(
  wish: PanelWish,
  found: PanelUser,
  request: ToPanelRequest,
): { patch: Omit<PanelUserPatch, 'uuid'>; told: FieldChanges } {
  const patch: Omit<PanelUserPatch, 'uuid'> = {};
  const told: FieldChanges = {};
  const isActiveThere = found.status === 'ACTIVE' || found.status === 'LIMITED';
  if (request.status && isActiveThere !== (wish.status === 'ACTIVE')) {
    patch.status = wish.status;
    told.status = { old: found.status, new: wish.status };
  }
  if (request.expireDate && isOtherEnd(wish, found)) {
    patch.expireAt = wish.expireAt;
    told.expire_at = { old: found.expireAt.toISOString(), new: wish.expireAt.toISOString() };
  }
  if (request.trafficLimit && wish.trafficLimitBytes !== found.trafficLimitBytes) {
    patch.trafficLimitBytes = wish.trafficLimitBytes;
    told.traffic_limit_gb = { old: gigabytes(found.trafficLimitBytes), new: wish.trafficLimitGb };
  }
  if (request.squads && wish.squads.length > 0 && !isSameSet(wish.squads, squadsOf(found))) {
    patch.squadUuids = wish.squads;
    told.squads = { old: squadsOf(found), new: wish.squads };
  }
  return { patch, told };
}

/** The panel takes no end in the past: for one that is over, any end that is over or about to be is the same. */
function isOtherEnd(wish: PanelWish, found: PanelUser): boolean {
  if (wish.endDate < wish.expireAt) return found.expireAt > wish.expireAt;
  return found.expireAt.getTime() !== wish.expireAt.getTime();
}

function oldValues(told: FieldChanges): Record<string, unknown> {
  return Object.fromEntries(Object.entries(told).map(([field, { old }]) => [field, old]));
}

function newValues(told: FieldChanges): Record<string, unknown> {
  return Object.fromEntries(Object.entries(told).map(([field, change]) => [field, change.new]));
}
