import type { App } from '../../core/app.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { claimLease, releaseLease, renewLease, saveFailure, savePushed } from '../subscription-state/provision-state.ts';
import { findPanelUser, mayAdopt } from './find-panel-user.ts';
import { sendKnownSquads, USERNAME_TAKEN } from './known-squads.ts';
import { draftOf, patchOf, presentState, stateWithoutUser, usernameOf } from './panel-fields.ts';
import { outageReasonOf, recordOutage } from './panel-outage.ts';
import { enforceStatus, mustExist } from './panel-status.ts';
import { isPanelError, PanelError, type PanelUser } from './ports.ts';
import { removePanelUser } from './remove-panel-user.ts';
import {
  findLinkedUser,
  linkPanelUser,
  loadPushTarget,
  lockOwner,
  type PushTarget,
  type SubscriptionOwner,
  subscriptionExists,
} from './repo.ts';
import { requestPanelUserRemoval, requestProvisioning } from './request-provisioning.ts';

/** Failed pushes after which the queue stops and the reconciler retries; about four minutes of the queue's back-off. */
export const MAX_PUSH_ATTEMPTS = 8;

/** Rounds of one push, while the row changes during each; then a new job continues. */
const MAX_ROUNDS = 5;

const USERNAME_MAX = 36;

/** Another push has the lease, or the row is deleted. This push must write nothing more. */
class LeaseLost extends Error {
  /** What this push has created or changed at the panel so far. */
  readonly panelUser: PanelUser | null;

  constructor(panelUser: PanelUser | null) {
    super('The push lost its lease');
    this.panelUser = panelUser;
  }
}

/**
 * Updates the panel user to the subscription row (spec 02 section 4, H21; spec 06 17.6).
 *
 * The row is the desired state and has a version. The panel is called without a transaction or lock, under a lease on the row, so that
 * two pushes of one subscription do not overwrite each other. A push that finds a live lease does nothing: the push that has it reads
 * the version when it is done and repeats while it was raised. A step that takes longer than the lease may send an older state after a
 * newer one; a push that lost its lease therefore requests another. One user has one panel user: before a creation the panel is
 * searched by uuid, messenger id and e-mail, and a creation that was executed but not answered is found on the next try, at the
 * latest because its username is taken.
 *
 * @returns `synced`, `busy` (another push has the lease), `gone` (no such row), `failed` (given up until the reconciler retries)
 * @throws the error while a retry makes sense; the queue retries
 */
export async function pushSubscription(
  app: App,
  subscriptionId: number,
  signal?: AbortSignal,
): Promise<'synced' | 'busy' | 'gone' | 'failed'> {
  const { outcome, error } = await tryPush(app, subscriptionId, signal);
  if (outcome === 'retry') throw error;
  return outcome;
}

export interface PushResult {
  /** As `pushSubscription` returns it; `retry`: it throws `error`. */
  outcome: 'synced' | 'busy' | 'gone' | 'failed' | 'retry';
  /** Why it `failed` or is to be retried; else null. */
  error: unknown;
}

/** The same, with the error of a push that was given up. */
export async function tryPush(app: App, subscriptionId: number, signal?: AbortSignal): Promise<PushResult> {
  const lease = await claimLease(app.db, subscriptionId);
  if (lease === null) return { outcome: (await subscriptionExists(app.db, subscriptionId)) ? 'busy' : 'gone', error: null };
  const push: RunningPush = { subscriptionId, version: 0, lease, signal };
  try {
    return { outcome: await pushUntilCurrent(app, push), error: null };
  } catch (error) {
    if (error instanceof LeaseLost) {
      return { outcome: await afterLostLease(app, subscriptionId, error.panelUser), error: null };
    }
    // Any failure: it is recorded with the push, which is repeated, and its lease ends.
    return { outcome: await recordFailure(app, push, error), error };
  }
}

interface RunningPush {
  readonly subscriptionId: number;
  /** Version of the row that is being pushed. */
  version: number;
  lease: Date;
  readonly signal: AbortSignal | undefined;
}

async function pushUntilCurrent(app: App, push: RunningPush): Promise<'synced' | 'gone'> {
  for (let round = 1; round <= MAX_ROUNDS; round++) {
    const target = await loadPushTarget(app.db, push.subscriptionId);
    if (!target) return 'gone';
    push.version = target.version;
    const panelUser = await applyToPanel(app, target, (panelUser) => extendLease(app, push, panelUser));
    const outcome = await store(app, push, target.user.id, panelUser);
    if (outcome === 'current') return 'synced';
    if (outcome === 'lease_lost') throw new LeaseLost(panelUser);
  }
  await inTransaction(app, async (t) => {
    await releaseLease(t.db, push.subscriptionId, push.lease);
    await t.jobs.send(
      'provisioning.push',
      { subscriptionId: push.subscriptionId },
      { singletonKey: String(push.subscriptionId) },
    );
  });
  return 'synced';
}

/**
 * The last call of this push may have overwritten the state that the other push sent and recorded as done: a further push sends the
 * row as it is now. If the row has been deleted, the panel user has no subscription and is removed.
 */
async function afterLostLease(app: App, subscriptionId: number, panelUser: PanelUser | null): Promise<'busy' | 'gone'> {
  if (await subscriptionExists(app.db, subscriptionId)) {
    if (panelUser) await inTransaction(app, (t) => requestProvisioning(t, subscriptionId));
    return 'busy';
  }
  if (panelUser) await removePanelUser(app, panelUser.uuid);
  return 'gone';
}

async function extendLease(app: App, push: RunningPush, panelUser: PanelUser | null): Promise<void> {
  push.signal?.throwIfAborted();
  const lease = await renewLease(app.db, push.subscriptionId, push.lease);
  if (lease === null) throw new LeaseLost(panelUser);
  push.lease = lease;
}

async function store(app: App, push: RunningPush, userId: number, panelUser: PanelUser | null) {
  return inTransaction(app, async (t) => {
    const now = t.clock.now();
    const owner = await lockOwner(t.db, push.subscriptionId, userId);
    if (!owner) return 'lease_lost' as const;
    if (owner.userId !== userId) return linkToNewOwner(t, owner, panelUser);
    const unlinkedSubscriptions = panelUser ? await linkPanelUser(t.db, userId, panelUser, now) : [];
    const outcome = await savePushed(t.db, { ...push, now }, panelUser);
    for (const subscriptionId of unlinkedSubscriptions) await requestProvisioning(t, subscriptionId);
    return outcome;
  });
}

/**
 * The subscription moved to another account while it was pushed (account merge): the panel user of this push belongs to the new owner,
 * unless that account has one already. The next round pushes the row as it is now.
 */
async function linkToNewOwner(t: App, owner: SubscriptionOwner, panelUser: PanelUser | null): Promise<'superseded'> {
  if (panelUser && (await findLinkedUser(t.db, panelUser.uuid)) === null) {
    if (owner.vpnpanelUuid === null) await linkPanelUser(t.db, owner.userId, panelUser, t.clock.now());
    else await requestPanelUserRemoval(t, panelUser.uuid);
  }
  return 'superseded';
}

/**
 * Stores why a push failed. A refused key is no property of the subscription: it is not counted, never final, and recorded for the
 * reconciler, which sends all waiting pushes when the panel accepts the key again (08 P12).
 */
async function recordFailure(app: App, push: RunningPush, error: unknown): Promise<'failed' | 'retry'> {
  const panelError = isPanelError(error) ? error : null;
  const outage = outageReasonOf(error);
  const saved = await saveFailure(app.db, push, {
    text: panelError?.message ?? 'Unexpected failure',
    isCounted: outage !== 'refused_key',
    isFinal: panelError !== null && panelError.kind !== 'unavailable',
    maxAttempts: MAX_PUSH_ATTEMPTS,
  });
  // The lease was lost as well: the call may have been executed after those of the push that has it now.
  if (saved === null) await inTransaction(app, (t) => requestProvisioning(t, push.subscriptionId));
  if (outage === 'refused_key' || (outage !== null && saved?.isGivenUp)) await recordOutage(app, outage);
  if (!saved?.isGivenUp) return 'retry';
  app.log.error({ err: error, subscriptionId: push.subscriptionId }, 'provisioning: given up until the next reconciliation');
  return 'failed';
}

/** All calls to the panel of one push. @returns null when the panel has no user and needs none */
async function applyToPanel(
  app: App,
  target: PushTarget,
  extend: (panelUser: PanelUser | null) => Promise<void>,
): Promise<PanelUser | null> {
  const { panel } = app.ports;
  const found = await findPanelUser(app, target);
  if (!found && stateWithoutUser(target, app.clock.now()).status === 'DISABLED') return null;
  await extend(null);
  const wanted = presentState(target, app.clock.now()).status;
  let user: PanelUser;
  if (found) {
    // Access ends first, whatever happens to the other fields: the panel may refuse those.
    const present = wanted === 'DISABLED' ? await enforceStatus(app, found.user, wanted) : found.user;
    if (target.resetDevices || found.isAdopted) await panel.resetDevices(present.uuid);
    user = await change(app, target, present);
  } else {
    user = await create(app, target);
  }
  await extend(user);
  if (target.resetTraffic) user = mustExist(await panel.resetTraffic(user.uuid));
  return enforceStatus(app, user, wanted);
}

async function change(app: App, target: PushTarget, present: PanelUser): Promise<PanelUser> {
  const request = { body: patchOf(app, target, present), tariffId: target.tariffId, without: { externalSquadUuid: null } };
  return sendKnownSquads(app, request, async (body) => mustExist(await app.ports.panel.updateUser(body)));
}

/**
 * Creates the panel user. A taken username belongs to this user after a creation that was not answered (then the panel user is
 * adopted), or to another person (then the user's id is appended to the name).
 */
async function create(app: App, target: PushTarget): Promise<PanelUser> {
  const { panel } = app.ports;
  const plain = usernameOf(app, target);
  const suffix = `_${target.user.id}`;
  const names = [plain, plain.slice(0, USERNAME_MAX - suffix.length) + suffix];
  for (const username of names) {
    try {
      const request = { body: draftOf(app, target, username), tariffId: target.tariffId, without: {} };
      return await sendKnownSquads(app, request, (draft) => panel.createUser(draft));
    } catch (error) {
      if (!isPanelError(error) || error.errorCode !== USERNAME_TAKEN) throw error;
    }
    const existing = await panel.findByUsername(username);
    if (existing && (await belongsTo(app, target.user, existing))) return change(app, target, existing);
  }
  throw new PanelError('rejected', 'VPN panel: the username of this user is taken by another', { errorCode: USERNAME_TAKEN });
}

/** The username alone is not sufficient: the messenger id and e-mail of the panel user must not be another person's. */
async function belongsTo(app: App, owner: PushTarget['user'], existing: PanelUser): Promise<boolean> {
  const confirmedEmail = owner.emailVerified ? owner.email : null;
  const isSameMessenger = existing.messengerId === owner.messengerId;
  const isSameEmail = existing.email === null || existing.email.toLowerCase() === confirmedEmail?.toLowerCase();
  return isSameMessenger && isSameEmail && (await mayAdopt(app, owner, existing));
}
