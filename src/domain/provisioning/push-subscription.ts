import type { App } from '../../core/app.ts';
import type { Db } from '../../core/db/db.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { writeStateIfChanged } from '../../core/service-state.ts';
import { syncedAccount } from '../identity/panel-account.ts';
import { adminChat } from '../messaging/admin-chat.ts';
import { sendMessage } from '../messaging/send-message.ts';
import { htmlText } from '../messaging/texts.ts';
import { claimLease, releaseLease, renewLease, saveFailure, savePushed } from '../subscription-state/provision-state.ts';
import { enforceStatus, mustExist, outageReasonOf, recordOutage, withCryptoLink } from './panel-access.ts';
import { draftOf, patchOf, presentState, stateWithoutUser, usernameOf } from './panel-objects.ts';
import { findPanelUser, mayAdopt, removePanelUser } from './panel-user.ts';
import { isPanelError, PanelError, type PanelUser } from './ports.ts';
import {
  findLinkedUser,
  findStaleExternalSquads,
  linkPanelUser,
  loadPushTarget,
  lockOwner,
  type PushTarget,
  type StaleExternalSquad,
  type SubscriptionOwner,
  subscriptionExists,
} from './repo.ts';
import { requestPanelUserRemoval, requestProvisioning } from './request-provisioning.ts';

/** Failed pushes after which the queue stops and the reconciler retries; about four minutes of the queue's back-off. */
export const MAX_PUSH_ATTEMPTS = 8;

/** Rounds of one push, while the row changes during each; then a new job continues. */
const MAX_ROUNDS = 5;

/** A lease younger than this is long enough for any call to the panel: it lasts 90 s. */
const LEASE_RENEWAL_MS = 10_000;

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
  const renewedAtMs = performance.now();
  const lease = await claimLease(app.db, subscriptionId);
  if (lease === null) return { outcome: (await subscriptionExists(app.db, subscriptionId)) ? 'busy' : 'gone', error: null };
  const push: RunningPush = { subscriptionId, version: 0, lease, renewedAtMs, signal };
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
  /** Reading of the monotonic clock before the lease was claimed or renewed. */
  renewedAtMs: number;
  readonly signal: AbortSignal | undefined;
}

async function pushUntilCurrent(app: App, push: RunningPush): Promise<'synced' | 'gone'> {
  for (let round = 1; round <= MAX_ROUNDS; round++) {
    const target = await loadPushTarget(app.db, push.subscriptionId);
    if (!target) return 'gone';
    push.version = target.version;
    const panelUser = await applyToPanel(app, target, (panelUser) => extendLease(app, push, panelUser));
    const outcome = await store(app, push, target, panelUser && (await withCryptoLink(app, panelUser, target)));
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

/** Before a call to the panel: renews a lease that is some seconds old. @throws LeaseLost */
async function extendLease(app: App, push: RunningPush, panelUser: PanelUser | null): Promise<void> {
  push.signal?.throwIfAborted();
  if (performance.now() - push.renewedAtMs < LEASE_RENEWAL_MS) return;
  push.renewedAtMs = performance.now();
  const lease = await renewLease(app.db, push.subscriptionId, push.lease);
  if (lease === null) throw new LeaseLost(panelUser);
  push.lease = lease;
}

async function store(app: App, push: RunningPush, { user }: PushTarget, panelUser: PanelUser | null) {
  const { id: userId } = user;
  if (panelUser && panelUser.uuid === user.vpnpanelUuid) {
    // Nothing else changes: one statement. Where it finds another owner or link by now, the transaction decides.
    const now = app.clock.now();
    const outcome = await savePushed(app.db, { ...push, now }, panelUser, syncedAccount(userId, panelUser, now));
    if (outcome !== 'lease_lost') return outcome;
  }
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

/** The panel's code for a username that is taken. */
const USERNAME_TAKEN = 'A019';

/** The panel's code for an internal error; the request may be correct. */
const PANEL_INTERNAL_ERROR = 'A001';

interface SquadFields {
  squadUuids?: string[];
  externalSquadUuid?: string | null;
}

/**
 * Sends; when the panel answers with a code of its own (`A018`, `A039`, `A088` …), compares the squads that were sent with the panel's
 * lists and sends again with those that exist there, so that a squad deleted at the panel does not block a paid purchase (08 P3). A stale external squad is recorded for its tariff.
 * @param without what is sent instead of a stale external squad
 */
async function sendKnownSquads<B extends SquadFields>(
  app: App,
  request: { body: B; tariffId: number | null; without: Partial<B> },
  send: (body: B) => Promise<PanelUser>,
): Promise<PanelUser> {
  const { body, tariffId } = request;
  try {
    return await send(body);
  } catch (error) {
    if (!mayNameStaleSquads(error, body)) throw error;
    const stale = await findStaleSquads(app, body);
    if (stale.internal.length === 0 && stale.external === null) throw error;
    app.log.warn({ stale }, 'provisioning: squads unknown to the panel were left out');
    const user = await send(withoutStale(request, stale));
    if (stale.external !== null && tariffId !== null) await recordStaleExternalSquad(app, tariffId, stale.external);
    return user;
  }
}

interface StaleSquads {
  internal: string[];
  external: string | null;
}

function withoutStale<B extends SquadFields>(request: { body: B; without: Partial<B> }, stale: StaleSquads): B {
  const { squadUuids, externalSquadUuid, ...rest } = request.body;
  const remaining = squadUuids?.filter((uuid) => !stale.internal.includes(uuid)) ?? [];
  const sameExternal = externalSquadUuid === undefined ? {} : { externalSquadUuid };
  return {
    ...rest,
    ...(remaining.length === 0 ? {} : { squadUuids: remaining }),
    ...(stale.external === null ? sameExternal : request.without),
  } as B;
}

function mayNameStaleSquads(error: unknown, body: SquadFields): boolean {
  if (!isPanelError(error) || error.errorCode === null) return false;
  if (error.errorCode === USERNAME_TAKEN || error.errorCode === PANEL_INTERNAL_ERROR) return false;
  return Boolean(body.squadUuids?.length || body.externalSquadUuid);
}

async function findStaleSquads(app: App, body: SquadFields): Promise<StaleSquads> {
  const { panel } = app.ports;
  const [internal, external] = await Promise.all([
    body.squadUuids?.length ? panel.listInternalSquads() : [],
    body.externalSquadUuid ? panel.listExternalSquads() : [],
  ]);
  const known = new Set([...internal, ...external].map((squad) => squad.uuid));
  const { externalSquadUuid } = body;
  return {
    internal: (body.squadUuids ?? []).filter((uuid) => !known.has(uuid)),
    external: externalSquadUuid && !known.has(externalSquadUuid) ? externalSquadUuid : null,
  };
}

const KEY_PREFIX = 'panel:stale_external_squad:';

/**
 * Records that a tariff names an external squad that the panel no longer has, so that its subscriptions are provisioned without one (08
 * P3). The administrators' chat gets one notice for a tariff and squad, however many pushes find it.
 */
export async function recordStaleExternalSquad(app: App, tariffId: number, squadUuid: string): Promise<void> {
  await inTransaction(app, async (t) => {
    if (!(await writeStateIfChanged(t.db, KEY_PREFIX + tariffId, { squadUuid }))) return;
    const [found] = await listStaleExternalSquads(t.db, tariffId);
    t.log.error({ tariffId, squadUuid }, 'provisioning: the external squad of a tariff does not exist at the panel');
    const chat = adminChat(t, 'ADMIN_NOTIFICATIONS_ERRORS_TOPIC_ID');
    if (chat === null || !found) return;
    const values = { tariff_id: tariffId, tariff_name: found.tariffName, squad_uuid: squadUuid };
    const html = htmlText(t.settings.get('DEFAULT_LANGUAGE'), 'panel.admin_stale_external_squad', values);
    await sendMessage(t, { ...chat, html });
  });
}

/** The recorded ones that their tariff still names, by tariff; at most 100. @param tariffId left out: of all tariffs */
export function listStaleExternalSquads(db: Db, tariffId: number | null = null): Promise<StaleExternalSquad[]> {
  return findStaleExternalSquads(db, KEY_PREFIX, tariffId);
}
