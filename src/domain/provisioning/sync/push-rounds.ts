import { setTimeout as wait } from 'node:timers/promises';
import type { App } from '../../../core/app.ts';
import type { RunLease } from '../long-runs/drive-run.ts';
import { inParallel } from '../long-runs/parallel-calls.ts';
import { isPanelError } from '../ports.ts';
import { pushSubscription } from '../push-subscription.ts';
import { withListedUser } from './listed-panel.ts';
import type { PushCandidate } from './push-repo.ts';

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
export async function pushRounds(
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
