import type { App } from '../../../core/app.ts';
import { rethrowUnavailable } from '../../../core/errors.ts';
import { createUser } from '../../identity/create-account.ts';
import { insertFromPanel, writeFromPanel } from '../../subscription-state/panel-values.ts';
import type { PanelColumns } from '../../subscription-state/types.ts';
import { type RunLease, RunLeaseLost } from '../long-runs/drive-run.ts';
import { adoptPanelUser, isTransferred } from '../panel-user.ts';
import { requestProvisioning } from '../request-provisioning.ts';
import { deviceLimitFor, isLinkageValid } from '../rules.ts';
import { advance, type PhaseResult, progressOf, withSkipped } from './progress.ts';
import { listMatches, loadAccounts, lockAccounts, type MatchedEntry } from './repo.ts';
import { isLive, isNewerThanPanel, linkServersOf, namesFromDescription, newFromPanel, updatedFromPanel } from './rules.ts';
import { listRemoved } from './treat-absent.ts';
import type { SkippedUser, SkipReason, SnapshotEntry, SyncCounts, SyncedUser, SyncRun } from './types.ts';

const BATCH = 250;

/** What a run does with users of the panel, by its kind and mode. */
interface Scope {
  /** Users that are unknown here. */
  creates: boolean;
  updates: boolean;
  /** Known users without a subscription get one, where the panel user is live. */
  subscribes: boolean;
  /** Users without a messenger id, found by uuid or e-mail. */
  withoutMessenger: boolean;
}

function scopeOf(run: SyncRun): Scope {
  if (run.kind === 'statuses') return { creates: false, updates: true, subscribes: false, withoutMessenger: false };
  const mode = run.mode ?? 'all';
  const withoutMessenger = mode !== 'update_only';
  return { creates: mode !== 'update_only', updates: mode !== 'new_only', subscribes: true, withoutMessenger };
}

/** Updates the next accounts from the panel's list, one transaction a batch; only an account that fails is skipped. */
export async function applyPanel(app: App, lease: RunLease, run: SyncRun): Promise<PhaseResult> {
  const matches = await listMatches(app.db, run.id, { after: run.cursor.after, limit: BATCH });
  if (matches.length === 0) return 'next';
  await applyOrHalve(app, lease, run, matches);
  return 'more';
}

/** A batch that fails, or takes longer than a transaction may, is halved, down to the account that fails (spec 10 V7). */
async function applyOrHalve(app: App, lease: RunLease, run: SyncRun, matches: readonly MatchedEntry[]): Promise<SyncRun> {
  const after = matches.at(-1)!.entry.user.uuid;
  try {
    return await lease.write(app, async (t) => stored(t, run, after, matches.length, await applyBatch(t, run, matches)));
  } catch (error) {
    if (error instanceof RunLeaseLost) throw error;
    // Any failure: the batch is halved.
    if (matches.length === 1) {
      rethrowUnavailable(error);
      app.log.error({ err: error, runId: run.id, panelUuid: after }, 'panel sync: an account could not be updated');
      return lease.write(app, (t) => advance(t, run, { after }, { errors: 1 }));
    }
    app.log.warn({ err: error, runId: run.id, size: matches.length }, 'panel sync: a batch failed; it is halved');
    const middle = Math.ceil(matches.length / 2);
    const first = await applyOrHalve(app, lease, run, matches.slice(0, middle));
    return applyOrHalve(app, lease, first, matches.slice(middle));
  }
}

interface Applied {
  counts: Partial<SyncCounts>;
  skipped: SkippedUser[];
}

/** A user that was not imported counts as an error, so that the numbers add up to the panel's (08 P8). */
function stored(t: App, run: SyncRun, after: string, size: number, { counts, skipped }: Applied): Promise<SyncRun> {
  const cursor = { after, progress: progressOf(run, size, run.counts.listed) };
  const counted = { ...counts, errors: (counts.errors ?? 0) + skipped.length };
  return advance(t, run, cursor, counted, { skipped: withSkipped(run.skipped, skipped) });
}

interface Plan {
  entry: SnapshotEntry;
  owner: SyncedUser;
  isLinked: boolean;
  columns: PanelColumns | null;
  subscribes: boolean;
}

async function applyBatch(t: App, run: SyncRun, matches: readonly MatchedEntry[]): Promise<Applied> {
  const scope = scopeOf(run);
  const unknown: SnapshotEntry[] = [];
  const known: OwnedEntry[] = [];
  const owners = await loadAccounts(t.db, idsOf(matches));
  const skipped: SkippedUser[] = [];
  let checked = 0;
  for (const match of matches) {
    const ownerId = await ownerOf(t, match, owners);
    if (ownerId === 'unknown') {
      if (scope.creates) unknown.push(match.entry);
    } else if (typeof ownerId === 'string') {
      const { uuid: panelUuid, username } = match.entry.user;
      if (scope.creates) skipped.push({ panelUuid, username, reason: ownerId });
    } else if (ownerId !== null) {
      const isWanted = match.entry.user.messengerId === null ? scope.withoutMessenger : scope.updates;
      if (!isWanted) continue;
      checked += 1;
      known.push({ entry: match.entry, ownerId });
    }
  }
  const removed = await listRemoved(t, unknown);
  const { created, found } = await createAccounts(
    t,
    unknown.filter(({ user }) => !removed.has(user.uuid)),
  );
  const foundIds = found.map(({ ownerId }) => ownerId);
  for (const [id, owner] of await loadAccounts(t.db, foundIds)) owners.set(id, owner);
  const owned = onePerOwner([...known, ...found], owners);
  const updated = await updateAccounts(t, scope, owned, owners);
  await endAccessOfInactive(t, owned, owners);
  await subscribe(t, created);
  return { counts: { created: created.length, updated, checked }, skipped };
}

function idsOf(matches: readonly MatchedEntry[]): number[] {
  const ids = matches.flatMap((match) => [match.linkedUserId, match.byMessengerId, match.byEmail]);
  return [...new Set(ids.filter((id) => id !== null))];
}

/** Two statements when nothing has changed; rows are locked, and read again, only where something has. */
async function updateAccounts(
  t: App,
  scope: Scope,
  known: readonly OwnedEntry[],
  loaded: ReadonlyMap<number, SyncedUser>,
): Promise<number> {
  const wanted = await plansOf(t, scope, known, loaded);
  if (wanted.length === 0) return 0;
  const userIds = wanted.map(({ owner }) => owner.id);
  await lockAccounts(
    t.db,
    userIds,
    wanted.map(({ entry }) => entry.user.uuid),
  );
  const locked = await loadAccounts(t.db, userIds);
  const plans = await plansOf(
    t,
    scope,
    wanted.map(({ entry, owner }) => ({ entry, ownerId: owner.id })),
    locked,
  );
  for (const plan of plans) if (!plan.isLinked) await adoptPanelUser(t, plan.owner.id, plan.entry.user);
  const now = t.clock.now();
  const changed = plans.flatMap(({ owner, columns }) =>
    owner.subscription && columns ? [{ id: owner.subscription.id, columns, before: owner.subscription.connectedSquads }] : [],
  );
  await writeFromPanel(t.db, changed, now);
  const moved = changed.filter(({ columns, before }) => columns.connectedSquads !== before);
  await linkServersOf(
    t.db,
    moved.map(({ id }) => id),
    now,
  );
  await subscribe(
    t,
    plans.filter(({ subscribes }) => subscribes).map(({ owner, entry }) => ({ userId: owner.id, entry })),
  );
  return plans.length;
}

/** The changes of each account; one more statement where an account has no subscription and could get one again. */
async function plansOf(
  t: App,
  scope: Scope,
  known: readonly OwnedEntry[],
  owners: ReadonlyMap<number, SyncedUser>,
): Promise<Plan[]> {
  const unsubscribed = known.filter(({ ownerId }) => owners.get(ownerId)?.subscription === null);
  const removed = await listRemoved(
    t,
    unsubscribed.map(({ entry }) => entry),
  );
  return known.flatMap(({ entry, ownerId }) => {
    const owner = owners.get(ownerId);
    if (!owner || (owner.subscription === null && removed.has(entry.user.uuid))) return [];
    return planOf(t, scope, entry, owner) ?? [];
  });
}

/** Null: nothing to do. A deleted or blocked account is never changed: its panel user is disabled, its term is not. */
function planOf(t: App, scope: Scope, entry: SnapshotEntry, owner: SyncedUser): Plan | null {
  const { user, readAt } = entry;
  if (owner.status !== 'active') return null;
  const now = t.clock.now();
  const { subscription } = owner;
  if (subscription !== null && isNewerThanPanel(subscription, readAt, now)) return null;
  const isLinked = owner.vpnpanelUuid === user.uuid;
  // Found by e-mail alone, and linked to another panel user since.
  if (user.messengerId === null && !isLinked && owner.vpnpanelUuid !== null) return null;
  const columns =
    subscription === null ? null : updatedFromPanel(subscription, user, now, sentDeviceLimit(t, subscription.deviceLimit));
  // A push disables the panel user of a deleted subscription: a disabled or expired one must not create a subscription again.
  const subscribes = subscription === null && scope.subscribes && isLive(user, now);
  return isLinked && columns === null && !subscribes ? null : { entry, owner, isLinked, columns, subscribes };
}

/**
 * Ends the access of blocked and deleted accounts whose panel user has it, because somebody enabled it there or because they were blocked
 * while nothing was pushed: by a push of each, which disables the panel user (08 P15). After `updateAccounts`, for the order of the locks.
 */
async function endAccessOfInactive(t: App, known: readonly OwnedEntry[], owners: ReadonlyMap<number, SyncedUser>): Promise<void> {
  const now = t.clock.now();
  const subscriptionIds = known.flatMap(({ entry: { user, readAt }, ownerId }) => {
    const owner = owners.get(ownerId);
    if (!owner?.subscription || owner.status === 'active' || !isLive(user, now)) return [];
    return isNewerThanPanel(owner.subscription, readAt, now) ? [] : [owner.subscription.id];
  });
  for (const id of subscriptionIds.sort((a, b) => a - b)) await requestProvisioning(t, id);
}

/** The number that a push sends where it differs from the subscription's own: with one fixed number for all users. */
function sentDeviceLimit(t: App, deviceLimit: number): number | null {
  const sent = deviceLimitFor(
    { deviceLimit },
    {
      devicesSelectionEnabled: t.settings.get('DEVICES_SELECTION_ENABLED'),
      devicesSelectionDisabledAmount: t.settings.get('DEVICES_SELECTION_DISABLED_AMOUNT'),
    },
  );
  return sent === deviceLimit ? null : sent;
}

interface Subscriber {
  userId: number;
  entry: SnapshotEntry;
}

/**
 * Creates accounts of users that only the panel has: by messenger id, else e-mail accounts whose address is not confirmed (08 P8). An
 * account that was created concurrently is found instead.
 */
async function createAccounts(
  t: App,
  entries: readonly SnapshotEntry[],
): Promise<{ created: Subscriber[]; found: OwnedEntry[] }> {
  const created: Subscriber[] = [];
  const found: OwnedEntry[] = [];
  for (const entry of entries) {
    const { messengerId, email, description } = entry.user;
    const account = await createUser(t, {
      authType: messengerId === null ? 'email' : 'messenger',
      messengerId,
      ...namesFromDescription(description, messengerId),
      email: messengerId === null ? email : null,
      emailVerified: false,
      passwordHash: null,
      language: 'ru',
      referredById: null,
    });
    if (!account.isNew) {
      found.push({ entry, ownerId: account.id });
      continue;
    }
    await adoptPanelUser(t, account.id, entry.user);
    created.push({ userId: account.id, entry });
  }
  return { created, found };
}

async function subscribe(t: App, subscribers: readonly Subscriber[]): Promise<void> {
  const now = t.clock.now();
  const ids = await insertFromPanel(
    t.db,
    subscribers.map(({ userId, entry }) => ({ userId, columns: newFromPanel(entry.user, now) })),
    {
      autopayEnabled: t.settings.get('DEFAULT_AUTOPAY_ENABLED'),
      autopayDaysBefore: t.settings.get('DEFAULT_AUTOPAY_DAYS_BEFORE'),
      now,
    },
  );
  await linkServersOf(t.db, ids, now);
}

/** Characters of the column. */
const MAX_EMAIL = 255;

/**
 * The account of a panel user: by the stored uuid where the messenger ids agree, by messenger id, by confirmed e-mail (spec 06 section
 * 17, hazard 4). A panel user that was transferred to another account has the old messenger id until its next push, and belongs to the
 * new account. An account that is linked to another panel user of the list keeps that link.
 * @returns `unknown`: no account has its messenger id or, without one, its e-mail; null: another panel user of its account is the linked
 *   one; a reason: it cannot be determined which account it belongs to
 */
async function ownerOf(
  t: App,
  { entry: { user }, linkedUserId, byMessengerId, isAnotherListed, byEmail, isEmailTaken }: MatchedEntry,
  owners: ReadonlyMap<number, SyncedUser>,
): Promise<number | 'unknown' | SkipReason | null> {
  const linked = linkedUserId === null ? null : (owners.get(linkedUserId) ?? null);
  const isLinkValid = linked !== null && isLinkageValid(user, linked.messengerId);
  if (linked !== null && !isLinkValid && (await isTransferred(t, user))) return linked.id;
  if (user.messengerId !== null) {
    if (isAnotherListed) return null;
    return byMessengerId ?? (isLinkValid ? linkedUserId : 'unknown');
  }
  if (isLinkValid) return linkedUserId;
  if (byEmail !== null) return owners.get(byEmail)?.vpnpanelUuid === null ? byEmail : null;
  if (user.email === null || user.email.trim() === '') return 'no_messenger_id_and_no_email';
  // Anyone can enter the address of another person: only its confirmation makes an account its owner.
  if (isEmailTaken) return 'email_not_confirmed_here';
  return user.email.length > MAX_EMAIL ? 'email_too_long' : 'unknown';
}

/** A panel user, and the account that it belongs to. */
interface OwnedEntry {
  entry: SnapshotEntry;
  ownerId: number;
}

/**
 * Two panel users may belong to one account, one by messenger id and one by e-mail alone. All values of an account come from one of
 * them: the linked one, else the one with the messenger id.
 */
function onePerOwner(known: readonly OwnedEntry[], owners: ReadonlyMap<number, SyncedUser>): OwnedEntry[] {
  const rank = ({ entry: { user }, ownerId }: OwnedEntry): number => {
    if (owners.get(ownerId)?.vpnpanelUuid === user.uuid) return 0;
    return user.messengerId === null ? 2 : 1;
  };
  const chosen = new Map<number, OwnedEntry>();
  for (const owned of known) {
    const other = chosen.get(owned.ownerId);
    if (!other || rank(owned) < rank(other)) chosen.set(owned.ownerId, owned);
  }
  return [...chosen.values()];
}
