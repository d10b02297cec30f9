import type { AdminActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { addDays, DAY_MS } from '../../../core/clock.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { userNotFound } from '../../identity/errors.ts';
import { guardTarget } from '../../identity/find-user.ts';
import type { UserRecord } from '../../identity/types.ts';
import { requirePanel } from '../../provisioning/panel-access.ts';
import { adoptPanelUser, mayAdopt } from '../../provisioning/panel-user.ts';
import type { PanelUser } from '../../provisioning/ports.ts';
import { requestPanelUserRemoval, requestProvisioning } from '../../provisioning/request-provisioning.ts';
import { mayHaveAccess, panelStateFor } from '../../provisioning/rules.ts';
import { hasNewerSubscription } from '../../provisioning/sync/rules.ts';
import { isRemovedSince } from '../../provisioning/sync/treat-absent.ts';
import { applyManualChange, insertManually, lockUserSubscription } from '../../subscriptions/manual/manual-changes.ts';
import type { Subscription } from '../../subscriptions/types.ts';
import { callingPanel, lookUpPanelUser } from './panel-user.ts';
import { recordSync } from './sync-repo.ts';
import { changesFromPanel, type FieldChanges, fieldsFromPanel, linksFromPanel, valuesOf } from './sync-rules.ts';

export interface FromPanelRequest {
  updatesSubscription: boolean;
  updatesTraffic: boolean;
  createsMissing: boolean;
}

export interface FromPanelResult {
  success: boolean;
  message: string;
  panel: PanelUser | null;
  changes: FieldChanges;
  /** Includes warnings. */
  errors: string[];
}

/**
 * Overwrites the local values with the panel's (spec 01 section 11.3), also a later local end, with a warning. The panel is read before
 * the transaction, so a subscription that is newer than that reading stays as it is (spec 06 hazard 7): its push is due or was done
 * since, or the panel sent a webhook since or within the last minute. A panel user of another account is not linked.
 * @throws AppError 404 'User not found' | 403 (spec 01 H5) | 503 | 500 'Sync error: …'
 */
export async function syncFromPanel(
  app: App,
  actor: AdminActor,
  userId: number,
  request: FromPanelRequest,
): Promise<FromPanelResult> {
  const user = await guardTarget(app, actor, userId, 'change');
  requirePanel(app);
  const readAt = app.clock.now();
  const panel = await callingPanel(() => lookUpPanelUser(app, user));
  if (!panel) return failed('User not found in panel', null);
  return inTransaction(app, async (t) => {
    const subscription = await lockUserSubscription(t, user.id);
    if (subscription === undefined) throw userNotFound();
    // Checked again after the look-up: the panel user may have been linked to another account since.
    if (!(await mayAdopt(t, user, panel))) {
      return failed('Panel user belongs to another account', panel);
    }
    if (await isRemovedSince(t, panel.uuid, readAt)) return unchanged(panel, REMOVED_HERE);
    if (await hasNewerSubscription(t, user.id, readAt)) return unchanged(panel, NEWER_HERE);
    const result = await write(t, user, subscription, panel, request);
    t.audit?.record({ before: valuesOf(result.changes, 'old'), after: valuesOf(result.changes, 'new') });
    return result;
  });
}

const NEWER_HERE = 'The subscription has changed more recently than what the panel said; nothing was overwritten';
const REMOVED_HERE = 'The panel user was to be removed while the panel was asked; nothing was taken over';

function unchanged(panel: PanelUser, reason: string): FromPanelResult {
  return { success: true, message: 'No changes', panel, changes: {}, errors: [reason] };
}

function failed(message: string, panel: PanelUser | null): FromPanelResult {
  return { success: false, message, panel, changes: {}, errors: [message] };
}

async function write(
  t: App,
  user: UserRecord,
  subscription: Subscription | null,
  panel: PanelUser,
  request: FromPanelRequest,
): Promise<FromPanelResult> {
  const now = t.clock.now();
  const changes: FieldChanges = {};
  const errors: string[] = [];
  await adoptPanelUser(t, user.id, panel);
  await recordSync(t.db, user.id, panel.lifetimeUsedTrafficBytes, now);
  if (user.vpnpanelUuid !== panel.uuid) changes.vpnpanel_uuid = { old: user.vpnpanelUuid, new: panel.uuid };
  if (subscription) Object.assign(changes, await overwrite(t, user, subscription, panel, request, errors));
  else if (request.createsMissing) changes.subscription = { old: null, new: await create(t, user.id, panel) };
  else errors.push('User has no subscription');
  if (user.status !== 'active' && mayHaveAccess(panel)) await endAccess(t, user.id, panel.uuid);
  const message = Object.keys(changes).length > 0 ? 'User synced from panel' : 'No changes';
  return { success: true, message, panel, changes, errors };
}

/** Of a blocked or deleted user, to whom somebody gave access at the panel (08 P15). */
async function endAccess(t: App, userId: number, panelUuid: string): Promise<void> {
  const subscription = await lockUserSubscription(t, userId);
  if (subscription) await requestProvisioning(t, subscription.id);
  else await requestPanelUserRemoval(t, panelUuid, 'disable');
}

async function overwrite(
  t: App,
  user: UserRecord,
  subscription: Subscription,
  panel: PanelUser,
  request: FromPanelRequest,
  errors: string[],
): Promise<FieldChanges> {
  const now = t.clock.now();
  // What a push wrote to end the access (08 P1, P15): the rest of a paid term must not end with it.
  const endedHere = panel.status === 'DISABLED' && !hasAccess(user, subscription, now);
  const wanted = { subscription: request.updatesSubscription, term: !endedHere, traffic: request.updatesTraffic };
  const { changes, fieldChanges } = changesFromPanel(subscription, panel, wanted, now);
  if (changes.endDate && changes.endDate < subscription.endDate) {
    errors.push(`Local end date ${subscription.endDate.toISOString()} was later than the panel's and has been overwritten`);
  }
  if (Object.keys(changes).length > 0) await applyManualChange(t, subscription.id, { changes, staysLocal: true });
  return fieldChanges;
}

function hasAccess(user: UserRecord, subscription: Subscription, now: Date): boolean {
  return user.status === 'active' && panelStateFor(subscription, now).status === 'ACTIVE';
}

/** A paid subscription with the panel's values, for the remaining whole days, at least one. */
async function create(t: App, userId: number, panel: PanelUser): Promise<string> {
  const now = t.clock.now();
  const days = Math.max(1, Math.floor((panel.expireAt.getTime() - now.getTime()) / DAY_MS));
  const created = await insertManually(t, userId, {
    ...fieldsFromPanel(panel, now),
    ...linksFromPanel(panel),
    status: 'active',
    isTrial: false,
    startDate: now,
    endDate: addDays(now, days),
  });
  return `created, ${days} days until ${created.endDate.toISOString()}`;
}
