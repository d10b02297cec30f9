import { setTimeout as wait } from 'node:timers/promises';
import type { App } from '../../../core/app.ts';
import { SECOND_MS } from '../../../core/clock.ts';
import type { RunHold } from '../long-runs/drive-run.ts';
import { tryAgain } from '../long-runs/try-again.ts';
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
/** Tries of one subscription in this run; then the queue and the reconciler go on with it. */
const ROUNDS = 5;
const FIRST_PAUSE_MS = 20;
/** So many failures with nothing going well mean that the panel is down, and the run waits. */
const DOWN_AFTER = 10;

/**
 * Brings the panel in step with the next subscriptions (spec 06 section 10). What the panel's list already shows to be in step is
 * not sent, so a second run sends nothing; the others go the way of every push, with its guards against overtaking and duplicates.
 */
export async function pushAll(app: App, hold: RunHold, run: SyncRun): Promise<PhaseResult> {
  const page = { afterId: Number(run.cursor.after || 0), limit: BATCH };
  const candidates = await listPushCandidates(app.db, run.id, page);
  const last = candidates.at(-1);
  if (!last) return 'next';
  await hold.renew(app);
  const known = new Set((await tryAgain(() => app.ports.panel.listInternalSquads())).map((squad) => squad.uuid));
  const due = candidates.filter((candidate) => !isInStep(app, run, candidate, known));
  const ids = due.map(({ target }) => target.subscriptionId);
  const { done, left } = await pushRounds(app, hold, ids);
  const created = await countCreated(app.db, run.id, done);
  await hold.write(app, async (t) => {
    for (const id of left) await requestProvisioning(t, id);
    const counted = { created, updated: done.length - created, errors: left.length, checked: candidates.length };
    await advance(t, run, { after: String(last.target.subscriptionId) }, counted);
  });
  return 'more';
}

/** Would a push change nothing? */
function isInStep(app: App, run: SyncRun, candidate: PushCandidate, known: ReadonlySet<string>): boolean {
  const { target, listed, provisionedAt } = candidate;
  if (candidate.isPushDue || target.resetTraffic || target.resetDevices) return false;
  // Pushed since the list was read, perhaps by this run before it was interrupted.
  const readAt = listed?.readAt ?? new Date(run.cursor.readAt!);
  if (provisionedAt !== null && provisionedAt > readAt) return true;
  const wanted = stateWithoutUser(target, app.clock.now());
  if (listed === null) return wanted.status === 'DISABLED' && target.user.panelUuid === null;
  return candidate.shortUuid === listed.user.shortUuid && holdsAll(app, target, listed.user, known);
}

function holdsAll(app: App, target: PushCandidate['target'], present: PanelUser, known: ReadonlySet<string>): boolean {
  const { uuid: _uuid, status, expireAt, squadUuids, email, ...rest } = patchOf(app, target, present);
  const isSameText = email === undefined || email.toLowerCase() === present.email?.toLowerCase();
  const isSame = (Object.keys(rest) as (keyof typeof rest)[]).every((field) => rest[field] === present[field]);
  // Squads that the panel no longer has are never taken by it.
  const squads = squadUuids?.filter((squad) => known.has(squad));
  const areSquadsSame = !squads || squads.length === 0 || isSameSet(squads, squadsOf(present));
  if (!isSameText || !isSame || !areSquadsSame) return false;
  if (status === 'DISABLED') {
    // The panel takes no end in the past: for a row that is over, any end will do.
    const isOver = target.endDate <= app.clock.now();
    return present.status === 'DISABLED' && (isOver || isSameMoment(target.endDate, present.expireAt));
  }
  return (present.status === 'ACTIVE' || present.status === 'LIMITED') && isSameMoment(expireAt!, present.expireAt);
}

function isSameMoment(a: Date, b: Date): boolean {
  return Math.abs(a.getTime() - b.getTime()) < SECOND_MS;
}

/** @throws PanelError when nothing goes well at all */
async function pushRounds(app: App, hold: RunHold, ids: readonly number[]): Promise<{ done: number[]; left: number[] }> {
  const done: number[] = [];
  const handedOn: number[] = [];
  let waiting = [...ids];
  for (let round = 1; waiting.length > 0; round++) {
    const failed: number[] = [];
    for (let start = 0; start < waiting.length; start += CHUNK) {
      await hold.renew(app);
      const outcome = await pushChunk(app, waiting.slice(start, start + CHUNK));
      done.push(...outcome.done);
      handedOn.push(...outcome.handedOn);
      failed.push(...outcome.failed);
      if (outcome.error !== null && outcome.done.length === 0 && outcome.failed.length >= DOWN_AFTER) throw outcome.error;
    }
    waiting = failed;
    if (round >= ROUNDS) break;
    if (waiting.length > 0) await wait(FIRST_PAUSE_MS * 2 ** (round - 1));
  }
  return { done, left: [...handedOn, ...waiting] };
}

interface ChunkOutcome {
  done: number[];
  /** Another push is at it, or the panel refuses: no more tries here. */
  handedOn: number[];
  failed: number[];
  error: unknown;
}

async function pushChunk(app: App, ids: readonly number[]): Promise<ChunkOutcome> {
  const outcome: ChunkOutcome = { done: [], handedOn: [], failed: [], error: null };
  const queue = ids.values();
  const worker = async () => {
    for (const id of queue) {
      try {
        const result = await pushSubscription(app, id);
        if (result === 'synced') outcome.done.push(id);
        // `busy` may be a worker that died in the middle; a new wish makes sure.
        else if (result !== 'gone') outcome.handedOn.push(id);
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
