import { setTimeout as wait } from 'node:timers/promises';
import type { App } from '../../../core/app.ts';
import { SECOND_MS } from '../../../core/clock.ts';
import { inParallel, type RunLease, retryPanelCall } from '../long-runs/drive-run.ts';
import { patchOf, presentState, stateWithoutUser } from '../panel-objects.ts';
import { BULK_USERS, isPanelError, type PanelUser } from '../ports.ts';
import { pushSubscription } from '../push-subscription.ts';
import type { PushTarget } from '../repo.ts';
import { requestProvisioning } from '../request-provisioning.ts';
import { advance, type PhaseResult, progressOf } from './progress.ts';
import { countCreated, countSubscriptions, listChangedSince, listPushCandidates, type PushCandidate } from './repo.ts';
import { isSameSet, squadsOf } from './rules.ts';
import type { SyncRun } from './types.ts';

/** Subscriptions between two stored cursors: what a killed worker leaves to be compared again. */
const BATCH = 200;

/**
 * Updates the panel users of the next subscriptions (spec 06 section 10). Users that are in step by the panel's list are not sent, so a
 * second run sends nothing (08 P2). Where only the squads differ, many users go in one call; the others are pushed like every
 * subscription, with the same lease and the same look-up, several at the same time (08 P13).
 */
export async function pushAll(app: App, lease: RunLease, run: SyncRun): Promise<PhaseResult> {
  const page = { afterId: Number(run.cursor.after || 0), limit: BATCH };
  const candidates = await listPushCandidates(app.db, run.id, page);
  const last = candidates.at(-1);
  if (!last) return 'next';
  await lease.keep(app);
  const known = await knownSquads(app, candidates);
  const sorted: Record<Difference, PushCandidate[]> = { none: [], squads: [], other: [] };
  for (const candidate of candidates) sorted[difference(app, run, candidate, known)].push(candidate);
  const moved = await pushSquadsInBulk(app, lease, sorted.squads, known.internal);
  const single = [...sorted.other, ...sorted.squads.filter((candidate) => !moved.includes(candidate))];
  const { done, failed } = await pushRounds(app, lease, single, run.cursor.isComplete);
  const created = await countCreated(app.db, run.id, done);
  const total = run.cursor.progress?.total ?? (await countSubscriptions(app.db));
  const progress = progressOf(run, candidates.length, total);
  await lease.write(app, async (t) => {
    // A push of the row between the reading and the bulk call may have sent newer squads before the older ones.
    for (const id of [...failed, ...(await listChangedSince(t.db, moved))]) await requestProvisioning(t, id);
    const updated = done.length + moved.length - created;
    const counted = { created, updated, errors: failed.length, checked: candidates.length };
    await advance(t, run, { after: String(last.target.subscriptionId), progress }, counted);
  });
  app.log.info({ runId: run.id, ...progress, updated: done.length + moved.length, failed: failed.length }, 'panel sync: pushing');
  return 'more';
}

/** What the panel has of squads; asked only where a subscription names some. */
async function knownSquads(app: App, candidates: readonly PushCandidate[]): Promise<PanelSquads> {
  const { panel } = app.ports;
  const uuids = async (list: () => Promise<{ uuid: string }[]>) =>
    new Set((await retryPanelCall(list)).map((squad) => squad.uuid));
  const isNamed = candidates.some(({ target }) => target.connectedSquads.length > 0);
  const isExternalNamed = candidates.some(({ target }) => target.externalSquadUuid !== null);
  return {
    internal: isNamed ? await uuids(() => panel.listInternalSquads()) : new Set(),
    external: isExternalNamed ? await uuids(() => panel.listExternalSquads()) : new Set(),
  };
}

/** What a push would change. */
function difference(app: App, run: SyncRun, candidate: PushCandidate, known: PanelSquads): Difference {
  const { target, listed, provisionedAt } = candidate;
  if (candidate.isPushDue || target.resetTraffic || target.resetDevices) return 'other';
  // Pushed since the list was read, maybe by this run before it was interrupted.
  const readAt = listed?.readAt ?? new Date(run.cursor.readAt!);
  if (provisionedAt !== null && provisionedAt > readAt) return 'none';
  if (listed === null) {
    const isNobody = stateWithoutUser(target, app.clock.now()).status === 'DISABLED' && target.user.vpnpanelUuid === null;
    return isNobody ? 'none' : 'other';
  }
  if (candidate.target.vpnpanelShortUuid !== listed.user.shortUuid) return 'other';
  return differenceFrom(app, target, listed.user, known);
}

/** Tries of one subscription in this run; then the queue and the reconciler retry it. */
const ROUNDS = 5;
const FIRST_PAUSE_MS = 20;
/** After so many failures without a success the panel counts as unavailable, and the run waits. */
const DOWN_AFTER = 10;

/**
 * Pushes subscriptions, several at the same time, and those that failed again after a pause. The first try takes the panel user from the
 * run's list, further ones look it up.
 * @returns `failed`: to be left to the queue
 * @throws PanelError after `DOWN_AFTER` failures in a row
 */
async function pushRounds(
  app: App,
  lease: RunLease,
  candidates: readonly PushCandidate[],
  isListComplete: boolean,
): Promise<{ done: number[]; failed: number[] }> {
  const done: number[] = [];
  /** Another push has the lease, or the panel refuses: no more tries in this run. */
  const delegated: number[] = [];
  let waiting = [...candidates];
  let failuresInARow = 0;
  for (let round = 1; waiting.length > 0; round++) {
    const failed: PushCandidate[] = [];
    await inParallel(app, lease, waiting, async (candidate) => {
      const id = candidate.target.subscriptionId;
      try {
        const result = await pushSubscription(round === 1 ? withListedUser(app, candidate, isListComplete) : app, id);
        if (result === 'synced') done.push(id);
        // `busy` may be the lease of a worker that crashed, so another push is requested.
        else if (result !== 'gone') delegated.push(id);
        failuresInARow = 0;
      } catch (error) {
        if (!isPanelError(error)) app.log.warn({ err: error, subscriptionId: id }, 'panel sync: a push failed');
        failed.push(candidate);
        failuresInARow += 1;
        if (failuresInARow >= DOWN_AFTER && round === 1) throw error;
      }
    });
    waiting = failed;
    if (round >= ROUNDS) break;
    if (waiting.length > 0) await wait(FIRST_PAUSE_MS * 2 ** (round - 1));
  }
  return { done, failed: [...delegated, ...waiting.map(({ target }) => target.subscriptionId)] };
}

/** Fewer users than this are pushed one by one. */
const MIN_USERS = 3;

/** Users that need the same squads. */
interface SquadGroup {
  squads: string[];
  members: PushCandidate[];
}

/**
 * Sends the squads of users of whom nothing else differs: all users with the same squads in one call (08 P13). Users that the panel does
 * not report as changed, and small groups, are left for single pushes.
 * @param candidates each with its panel user
 * @param known squads that the panel has
 * @returns the subscriptions whose panel users have their squads now
 */
async function pushSquadsInBulk(
  app: App,
  lease: RunLease,
  candidates: readonly PushCandidate[],
  known: ReadonlySet<string>,
): Promise<PushCandidate[]> {
  const done: PushCandidate[] = [];
  for (const { squads, members } of groupBySquads(candidates, known)) {
    for (let start = 0; start < members.length; start += BULK_USERS) {
      const chunk = members.slice(start, start + BULK_USERS);
      if (chunk.length < MIN_USERS) continue;
      await lease.keep(app);
      if (await isAccepted(app, chunk, squads)) done.push(...chunk);
    }
  }
  return done;
}

function groupBySquads(candidates: readonly PushCandidate[], known: ReadonlySet<string>): SquadGroup[] {
  const groups = new Map<string, SquadGroup>();
  for (const candidate of candidates) {
    const squads = [...new Set(candidate.target.connectedSquads)].filter((uuid) => known.has(uuid)).sort();
    const group = groups.get(squads.join()) ?? { squads, members: [] };
    group.members.push(candidate);
    groups.set(squads.join(), group);
  }
  return [...groups.values()];
}

async function isAccepted(app: App, members: readonly PushCandidate[], squads: string[]): Promise<boolean> {
  const uuids = members.map(({ listed }) => listed!.user.uuid);
  try {
    const affected = await retryPanelCall(() => app.ports.panel.setSquadsOfUsers(uuids, squads));
    return affected === null || affected >= uuids.length;
  } catch (error) {
    if (!isPanelError(error)) throw error;
    app.log.warn(
      { err: error, users: uuids.length },
      'panel sync: a bulk change of squads failed, the users are pushed one by one',
    );
    return false;
  }
}

/** Squads that the panel has now; it never accepts others. */
interface PanelSquads {
  internal: ReadonlySet<string>;
  external: ReadonlySet<string>;
}

/** What a push would change at the panel; `squads`: the internal squads and nothing else. */
type Difference = 'none' | 'squads' | 'other';

/**
 * Compares a panel user with its subscription by effect: whether it has access and until when, not by the word of its status (08 P2).
 * The panel keeps a user EXPIRED that was to be DISABLED, so the words may differ for ever.
 */
export function differenceFrom(app: App, target: PushTarget, present: PanelUser, known: PanelSquads): Difference {
  const patch = patchOf(app, target, present);
  const { uuid: _uuid, status: _status, expireAt: _expireAt, squadUuids, email, externalSquadUuid, ...rest } = patch;
  const isSameEmail = email === undefined || email.toLowerCase() === present.email?.toLowerCase();
  const isSame = (Object.keys(rest) as (keyof typeof rest)[]).every((field) => rest[field] === present[field]);
  const isStale = typeof externalSquadUuid === 'string' && !known.external.has(externalSquadUuid);
  const isSameExternal = externalSquadUuid === undefined || isStale || externalSquadUuid === present.externalSquadUuid;
  if (!isSameEmail || !isSame || !isSameExternal || !hasSameAccess(target, present, app.clock.now())) return 'other';
  const squads = squadUuids?.filter((squad) => known.internal.has(squad)) ?? [];
  return squads.length === 0 || isSameSet(squads, squadsOf(present)) ? 'none' : 'squads';
}

function hasSameAccess(target: PushTarget, present: PanelUser, now: Date): boolean {
  const wanted = presentState(target, now);
  // LIMITED is not cut off: its next traffic reset opens it.
  if (wanted.status === 'DISABLED') return present.status === 'DISABLED' || present.status === 'EXPIRED';
  const isOpen = present.status === 'ACTIVE' || present.status === 'LIMITED';
  return isOpen && Math.abs(wanted.expireAt.getTime() - present.expireAt.getTime()) < SECOND_MS;
}

/**
 * The app with a panel that answers the first look-up of this subscription's user from the list that the run has read: of the two or
 * three calls of a push one remains. Every further call goes to the panel, and so does each where the list does not decide: a list that
 * is incomplete, or has another user of this messenger id or e-mail.
 */
function withListedUser(app: App, { listed, hasNamesake }: PushCandidate, isComplete: boolean): App {
  if (listed === null && (!isComplete || hasNamesake)) return app;
  const { panel } = app.ports;
  const answered = new Set<string>();
  /** The list's answer for the first call of each kind. */
  const first =
    <Key>(kind: string, fromList: (key: Key) => PanelUser | null | undefined, ask: (key: Key) => Promise<PanelUser | null>) =>
    async (key: Key): Promise<PanelUser | null> => {
      const known = answered.has(kind) ? undefined : fromList(key);
      answered.add(kind);
      return known === undefined ? ask(key) : known;
    };
  const linked = (uuid: string) => (listed?.user.uuid === uuid ? listed.user : undefined);
  // Without a listed user nobody has this messenger id or e-mail.
  const nobody = () => (listed === null ? null : undefined);
  const answers = {
    findByUuid: first('uuid', linked, panel.findByUuid),
    findByMessengerId: first('messenger', nobody, panel.findByMessengerId),
    findByEmail: first('email', nobody, panel.findByEmail),
  };
  return { ...app, ports: { ...app.ports, panel: { ...panel, ...answers } } };
}
