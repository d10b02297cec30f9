import { setTimeout as wait } from 'node:timers/promises';
import type { App } from '../../../core/app.ts';
import { SECOND_MS } from '../../../core/clock.ts';
import type { RunLease } from '../long-runs/drive-run.ts';
import { retryPanelCall } from '../long-runs/retry-panel-call.ts';
import { patchOf, stateWithoutUser } from '../panel-fields.ts';
import { isPanelError, type PanelUser } from '../ports.ts';
import { pushSubscription } from '../push-subscription.ts';
import { requestProvisioning } from '../request-provisioning.ts';
import { advance, type PhaseResult } from './progress.ts';
import { countCreated, listPushCandidates, type PushCandidate } from './push-repo.ts';
import { isSameSet, squadsOf } from './rules.ts';
import type { SyncRun } from './types.ts';

const BATCH = 500;
/** Pushes between two renewals of the lease. */
const CHUNK = 25;
const PARALLEL = 5;
/** Tries of one subscription in this run; then the queue and the reconciler retry it. */
const ROUNDS = 5;
const FIRST_PAUSE_MS = 20;
/** After so many failures without a success the panel counts as unavailable, and the run waits. */
const DOWN_AFTER = 10;

/**
 * Updates the panel users of the next subscriptions (spec 06 section 10). Users that are up to date by the panel's list are not sent, so
 * a second run sends nothing; the others are pushed like every subscription, with the same lease and the same look-up.
 */
export async function pushAll(app: App, lease: RunLease, run: SyncRun): Promise<PhaseResult> {
  const page = { afterId: Number(run.cursor.after || 0), limit: BATCH };
  const candidates = await listPushCandidates(app.db, run.id, page);
  const last = candidates.at(-1);
  if (!last) return 'next';
  await lease.renew(app);
  const known = new Set((await retryPanelCall(() => app.ports.panel.listInternalSquads())).map((squad) => squad.uuid));
  const due = candidates.filter((candidate) => !isUpToDate(app, run, candidate, known));
  const ids = due.map(({ target }) => target.subscriptionId);
  const { done, failed } = await pushRounds(app, lease, ids);
  const created = await countCreated(app.db, run.id, done);
  await lease.write(app, async (t) => {
    for (const id of failed) await requestProvisioning(t, id);
    const counted = { created, updated: done.length - created, errors: failed.length, checked: candidates.length };
    await advance(t, run, { after: String(last.target.subscriptionId) }, counted);
  });
  return 'more';
}

/** Whether a push would change nothing. */
function isUpToDate(app: App, run: SyncRun, candidate: PushCandidate, known: ReadonlySet<string>): boolean {
  const { target, listed, provisionedAt } = candidate;
  if (candidate.isPushDue || target.resetTraffic || target.resetDevices) return false;
  // Pushed since the list was read, maybe by this run before it was interrupted.
  const readAt = listed?.readAt ?? new Date(run.cursor.readAt!);
  if (provisionedAt !== null && provisionedAt > readAt) return true;
  const wanted = stateWithoutUser(target, app.clock.now());
  if (listed === null) return wanted.status === 'DISABLED' && target.user.vpnpanelUuid === null;
  return candidate.vpnpanelShortUuid === listed.user.shortUuid && isPanelUserCurrent(app, target, listed.user, known);
}

function isPanelUserCurrent(app: App, target: PushCandidate['target'], present: PanelUser, known: ReadonlySet<string>): boolean {
  const { uuid: _uuid, status, expireAt, squadUuids, email, ...rest } = patchOf(app, target, present);
  const isSameText = email === undefined || email.toLowerCase() === present.email?.toLowerCase();
  const isSame = (Object.keys(rest) as (keyof typeof rest)[]).every((field) => rest[field] === present[field]);
  // The panel never accepts squads that it no longer has.
  const squads = squadUuids?.filter((squad) => known.has(squad));
  const areSquadsSame = !squads || squads.length === 0 || isSameSet(squads, squadsOf(present));
  if (!isSameText || !isSame || !areSquadsSame) return false;
  if (status === 'DISABLED') return present.status === 'DISABLED';
  return (present.status === 'ACTIVE' || present.status === 'LIMITED') && isSameMoment(expireAt!, present.expireAt);
}

function isSameMoment(a: Date, b: Date): boolean {
  return Math.abs(a.getTime() - b.getTime()) < SECOND_MS;
}

/** @throws PanelError after `DOWN_AFTER` failures without a success */
async function pushRounds(app: App, lease: RunLease, ids: readonly number[]): Promise<{ done: number[]; failed: number[] }> {
  const done: number[] = [];
  const delegated: number[] = [];
  let waiting = [...ids];
  for (let round = 1; waiting.length > 0; round++) {
    const failed: number[] = [];
    for (let start = 0; start < waiting.length; start += CHUNK) {
      await lease.renew(app);
      const outcome = await pushChunk(app, waiting.slice(start, start + CHUNK));
      done.push(...outcome.done);
      delegated.push(...outcome.delegated);
      failed.push(...outcome.failed);
      if (outcome.error !== null && outcome.done.length === 0 && outcome.failed.length >= DOWN_AFTER) throw outcome.error;
    }
    waiting = failed;
    if (round >= ROUNDS) break;
    if (waiting.length > 0) await wait(FIRST_PAUSE_MS * 2 ** (round - 1));
  }
  return { done, failed: [...delegated, ...waiting] };
}

interface ChunkOutcome {
  done: number[];
  /** Another push has the lease, or the panel refuses: no more tries in this run. */
  delegated: number[];
  failed: number[];
  error: unknown;
}

async function pushChunk(app: App, ids: readonly number[]): Promise<ChunkOutcome> {
  const outcome: ChunkOutcome = { done: [], delegated: [], failed: [], error: null };
  const queue = ids.values();
  const worker = async () => {
    for (const id of queue) {
      try {
        const result = await pushSubscription(app, id);
        if (result === 'synced') outcome.done.push(id);
        // `busy` may be the lease of a worker that crashed, so another push is requested.
        else if (result !== 'gone') outcome.delegated.push(id);
      } catch (error) {
        if (!isPanelError(error)) app.log.warn({ err: error, subscriptionId: id }, 'panel sync: a push failed');
        outcome.failed.push(id);
        outcome.error = error;
      }
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, worker));
  return outcome;
}
