import type { App } from '../../core/app.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { findPanelUser, mayAdopt } from './find-panel-user.ts';
import { draftOf, patchOf, stateWithoutUser, usernameOf } from './panel-fields.ts';
import { isPanelError, PanelError, type PanelUser } from './ports.ts';
import { removePanelUser } from './remove-panel-user.ts';
import {
  claimLease,
  findHolderOf,
  linkPanelUser,
  loadPushTarget,
  lockOwner,
  type PushTarget,
  releaseLease,
  renewLease,
  type SubscriptionOwner,
  saveFailure,
  savePushed,
  subscriptionExists,
} from './repo.ts';
import { requestPanelUserRemoval, requestProvisioning } from './request-provisioning.ts';

/** Failed pushes after which the queue stops trying and the reconciler takes over; about four minutes of the queue's back-off. */
export const MAX_PUSH_ATTEMPTS = 8;

/** A wish that changes during every push does not hold a worker for ever. */
const MAX_ROUNDS = 5;

/** The panel's code for a username that is taken. */
const USERNAME_TAKEN = 'A019';

/** The panel's code for trouble of its own, which says nothing about what was sent. */
const PANEL_TROUBLE = 'A001';

const USERNAME_MAX = 36;

/** Another push took over, or the row is gone; everything after that is no business of this push. */
class LeaseLost extends Error {
  /** What this push has made or changed at the panel so far. */
  readonly panelUser: PanelUser | null;

  constructor(panelUser: PanelUser | null) {
    super('The push lost its lease');
    this.panelUser = panelUser;
  }
}

/**
 * Brings the panel user in step with the subscription row (spec 02 section 4, H21; spec 06 17.6).
 *
 * The row is the wish and has a version; the panel is called without any transaction or lock, under a lease on the row, so that
 * two pushes of one subscription do not overtake each other. A push that finds the lease taken does nothing: the holder looks at
 * the version when it ends and goes on while it has moved. A step that outlasts the lease may write an older wish over a newer one;
 * the push that lost its lease so asks for another. One user has one panel user: before a creation the panel is asked by
 * uuid, messenger id and e-mail, and a creation that was carried out but not answered is found on the next try, at the latest
 * because its username is taken.
 *
 * @returns `synced`, `busy` (another push does it), `gone` (no such row), `failed` (given up until the reconciler)
 * @throws whatever went wrong while a further try is worth while; the queue repeats
 */
export async function pushSubscription(
  app: App,
  subscriptionId: number,
  signal?: AbortSignal,
): Promise<'synced' | 'busy' | 'gone' | 'failed'> {
  const lease = await claimLease(app.db, subscriptionId);
  if (lease === null) return (await subscriptionExists(app.db, subscriptionId)) ? 'busy' : 'gone';
  const push: RunningPush = { subscriptionId, version: 0, lease, signal };
  try {
    return await pushUntilCurrent(app, push);
  } catch (error) {
    if (error instanceof LeaseLost) return afterLostLease(app, subscriptionId, error.panelUser);
    return await noteFailure(app, push, error);
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
    const panelUser = await applyToPanel(app, target, (made) => keepLease(app, push, made));
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
 * What this push wrote last may be older than what the push wrote that took over, and that has noted its own as done: a further push
 * brings the row as it is now. A row that was deleted while its panel user was made leaves a user that nobody pays for.
 */
async function afterLostLease(app: App, subscriptionId: number, panelUser: PanelUser | null): Promise<'busy' | 'gone'> {
  if (await subscriptionExists(app.db, subscriptionId)) {
    if (panelUser) await inTransaction(app, (t) => requestProvisioning(t, subscriptionId));
    return 'busy';
  }
  if (panelUser) await removePanelUser(app, panelUser.uuid);
  return 'gone';
}

async function keepLease(app: App, push: RunningPush, panelUser: PanelUser | null): Promise<void> {
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
    if (owner.userId !== userId) return giveToNewOwner(t, owner, panelUser);
    const bereft = panelUser ? await linkPanelUser(t.db, userId, panelUser, now) : [];
    const outcome = await savePushed(t.db, { ...push, now }, panelUser);
    for (const subscriptionId of bereft) await requestProvisioning(t, subscriptionId);
    return outcome;
  });
}

/**
 * The subscription moved to another account while it was pushed (account merge): what this push has made belongs to the new owner,
 * unless that has a panel user already. The next round pushes the row as it is now.
 */
async function giveToNewOwner(t: App, owner: SubscriptionOwner, panelUser: PanelUser | null): Promise<'superseded'> {
  if (panelUser && (await findHolderOf(t.db, panelUser.uuid)) === null) {
    if (owner.panelUuid === null) await linkPanelUser(t.db, owner.userId, panelUser, t.clock.now());
    else await requestPanelUserRemoval(t, panelUser.uuid);
  }
  return 'superseded';
}

async function noteFailure(app: App, push: RunningPush, error: unknown): Promise<'failed'> {
  const panelError = isPanelError(error) ? error : null;
  const saved = await saveFailure(app.db, push, {
    text: panelError?.message ?? 'Unexpected failure',
    isFinal: panelError !== null && panelError.kind !== 'unavailable',
    maxAttempts: MAX_PUSH_ATTEMPTS,
  });
  // Lost the lease besides: the call may still have been carried out, over what the push wrote that took over.
  if (saved === null) await inTransaction(app, (t) => requestProvisioning(t, push.subscriptionId));
  if (!saved?.isGivenUp) throw error;
  app.log.error({ err: error, subscriptionId: push.subscriptionId }, 'provisioning: given up until the next reconciliation');
  return 'failed';
}

/** Every call to the panel of one push. @returns null when the panel has no user and none is wanted */
async function applyToPanel(
  app: App,
  target: PushTarget,
  keep: (made: PanelUser | null) => Promise<void>,
): Promise<PanelUser | null> {
  const { panel } = app.ports;
  const found = await findPanelUser(app, target.user);
  const { status } = stateWithoutUser(target, app.clock.now());
  if (!found && status === 'DISABLED') return null;
  await keep(null);
  let user: PanelUser;
  if (found) {
    if (target.resetDevices || found.isAdopted) await panel.resetDevices(found.user.uuid);
    user = await change(app, target, found.user);
  } else {
    user = await create(app, target);
  }
  await keep(user);
  if (target.resetTraffic) user = mustExist(await panel.resetTraffic(user.uuid));
  if (status === 'ACTIVE' && user.status !== 'ACTIVE' && !isUsedUp(user)) user = mustExist(await panel.enableUser(user.uuid));
  return user;
}

async function change(app: App, target: PushTarget, present: PanelUser): Promise<PanelUser> {
  const patch = patchOf(app, target, present);
  return withKnownSquads(app, patch, async (body) => mustExist(await app.ports.panel.updateUser(body)));
}

/**
 * Creates the panel user. A taken username is this user's own after a creation that was not answered (then it is adopted), or a
 * stranger's (then the name gets the user's id behind it).
 */
async function create(app: App, target: PushTarget): Promise<PanelUser> {
  const { panel } = app.ports;
  const plain = usernameOf(app, target);
  const suffix = `_${target.user.id}`;
  const names = [plain, plain.slice(0, USERNAME_MAX - suffix.length) + suffix];
  for (const username of names) {
    try {
      return await withKnownSquads(app, draftOf(app, target, username), (draft) => panel.createUser(draft));
    } catch (error) {
      if (!isPanelError(error) || error.errorCode !== USERNAME_TAKEN) throw error;
    }
    const existing = await panel.findByUsername(username);
    if (existing && (await isOwnByName(app, target.user, existing))) return change(app, target, existing);
  }
  throw new PanelError('rejected', 'VPN panel: the username of this user is taken by another', { errorCode: USERNAME_TAKEN });
}

/** A name alone proves little: the panel user must not name another person in any other field. */
async function isOwnByName(app: App, owner: PushTarget['user'], existing: PanelUser): Promise<boolean> {
  const ownEmail = owner.emailVerified ? owner.email : null;
  const isSameMessenger = existing.messengerId === owner.messengerId;
  const isSameEmail = existing.email === null || existing.email.toLowerCase() === ownEmail?.toLowerCase();
  return isSameMessenger && isSameEmail && (await mayAdopt(app, owner, existing));
}

/**
 * Sends; when the panel refuses and one of the squads no longer exists there, sends again with those that do, so that a squad
 * deleted at the panel does not keep a paid renewal from arriving.
 */
async function withKnownSquads<B extends { squadUuids?: string[] }>(
  app: App,
  body: B,
  send: (body: B) => Promise<PanelUser>,
): Promise<PanelUser> {
  try {
    return await send(body);
  } catch (error) {
    const code = isPanelError(error) ? error.errorCode : null;
    if (!body.squadUuids || code === null || code === USERNAME_TAKEN || code === PANEL_TROUBLE) throw error;
    const known = new Set((await app.ports.panel.listInternalSquads()).map((squad) => squad.uuid));
    const { squadUuids, ...rest } = body;
    const kept = squadUuids.filter((uuid) => known.has(uuid));
    if (kept.length === squadUuids.length) throw error;
    app.log.warn({ missing: squadUuids.length - kept.length }, 'provisioning: squads unknown to the panel were left out');
    return send((kept.length === 0 ? rest : { ...rest, squadUuids: kept }) as B);
  }
}

function isUsedUp(user: PanelUser): boolean {
  return user.trafficLimitBytes > 0 && user.usedTrafficBytes >= user.trafficLimitBytes;
}

/** The panel user vanished between two calls; the next try finds that out from the start. */
function mustExist(user: PanelUser | null): PanelUser {
  if (user) return user;
  throw new PanelError('unavailable', 'VPN panel: the user vanished during the change', { status: 404 });
}
