import type { AdminActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { addDays, DAY_MS } from '../../../core/clock.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { userNotFound } from '../../identity/errors.ts';
import { guardTarget } from '../../identity/guard-target.ts';
import type { UserRecord } from '../../identity/types.ts';
import { adoptPanelUser } from '../../provisioning/adopt-panel-user.ts';
import { mayAdopt } from '../../provisioning/find-panel-user.ts';
import { requirePanel } from '../../provisioning/panel-access.ts';
import type { PanelUser } from '../../provisioning/ports.ts';
import { hasNewerSubscription } from '../../provisioning/sync/newer-here.ts';
import { isRemovedSince } from '../../provisioning/sync/removed-users.ts';
import { applyManualChange, insertManually, lockUserSubscription } from '../../subscriptions/manual/manual-changes.ts';
import type { Subscription } from '../../subscriptions/types.ts';
import { lookUpPanelUser } from './look-up-panel-user.ts';
import { callingPanel } from './panel-failure.ts';
import { noteSync } from './sync-repo.ts';
import { type FieldChanges, fieldsFromPanel, linksFromPanel, takeOver } from './sync-rules.ts';

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
  /** Warnings too. */
  errors: string[];
}

/**
 * Writes the panel's numbers over the local ones (spec 01 section 11.3), a later local end too, with a warning. The panel is read
 * before the transaction, so a subscription that is newer than that reading stays as it is (spec 06 hazard 7): one that waits for
 * its push, went to the panel since, or was reported on by the panel since or within the last minute. A panel user that belongs to
 * somebody else is not taken over.
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
    const held = await lockUserSubscription(t, user.id);
    if (held === undefined) throw userNotFound();
    // Asked again after the look-up: somebody else may have got the panel user meanwhile.
    if (!(await mayAdopt(t, { ...user, panelUuid: user.vpnpanelUuid }, panel))) {
      return failed('Panel user belongs to another account', panel);
    }
    if (await isRemovedSince(t, panel.uuid, readAt)) return leftAlone(panel, REMOVED_HERE);
    if (await hasNewerSubscription(t, user.id, readAt)) return leftAlone(panel, NEWER_HERE);
    const result = await write(t, user, held, panel, request);
    t.audit?.note({ before: firsts(result.changes, 'old'), after: firsts(result.changes, 'new') });
    return result;
  });
}

const NEWER_HERE = 'The subscription has changed more recently than what the panel said; nothing was overwritten';
const REMOVED_HERE = 'The panel user was to be removed while the panel was asked; nothing was taken over';

function leftAlone(panel: PanelUser, reason: string): FromPanelResult {
  return { success: true, message: 'No changes', panel, changes: {}, errors: [reason] };
}

function failed(message: string, panel: PanelUser | null): FromPanelResult {
  return { success: false, message, panel, changes: {}, errors: [message] };
}

async function write(
  t: App,
  user: UserRecord,
  held: Subscription | null,
  panel: PanelUser,
  request: FromPanelRequest,
): Promise<FromPanelResult> {
  const now = t.clock.now();
  const changes: FieldChanges = {};
  const errors: string[] = [];
  await adoptPanelUser(t, user.id, panel);
  await noteSync(t.db, user.id, panel.lifetimeUsedTrafficBytes, now);
  if (user.vpnpanelUuid !== panel.uuid) changes.vpnpanel_uuid = { old: user.vpnpanelUuid, new: panel.uuid };
  if (held) Object.assign(changes, await overwrite(t, held, panel, request, errors));
  else if (request.createsMissing) changes.subscription = { old: null, new: await create(t, user.id, panel) };
  else errors.push('User has no subscription');
  const message = Object.keys(changes).length > 0 ? 'User synced from panel' : 'No changes';
  return { success: true, message, panel, changes, errors };
}

async function overwrite(
  t: App,
  held: Subscription,
  panel: PanelUser,
  request: FromPanelRequest,
  errors: string[],
): Promise<FieldChanges> {
  const now = t.clock.now();
  const wanted = { subscription: request.updatesSubscription, traffic: request.updatesTraffic };
  const { changes, told } = takeOver(held, panel, wanted, now);
  if (changes.endDate && changes.endDate < held.endDate) {
    errors.push(`Local end date ${held.endDate.toISOString()} was later than the panel's and has been overwritten`);
  }
  if (Object.keys(changes).length > 0) await applyManualChange(t, held.id, { changes, staysLocal: true });
  return told;
}

/** A paid subscription of the panel's terms; whole days that are left, at least one. */
async function create(t: App, userId: number, panel: PanelUser): Promise<string> {
  const now = t.clock.now();
  const days = Math.max(1, Math.floor((panel.expireAt.getTime() - now.getTime()) / DAY_MS));
  const made = await insertManually(t, userId, {
    ...fieldsFromPanel(panel, now),
    ...linksFromPanel(panel),
    status: 'active',
    isTrial: false,
    startDate: now,
    endDate: addDays(now, days),
  });
  return `created, ${days} days until ${made.endDate.toISOString()}`;
}

function firsts(changes: FieldChanges, side: 'old' | 'new'): Record<string, unknown> {
  return Object.fromEntries(Object.entries(changes).map(([field, change]) => [field, change[side]]));
}
