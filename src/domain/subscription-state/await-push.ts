import { setTimeout as delay } from 'node:timers/promises';
import type { App } from '../../core/app.ts';
import { columns, type RowOf } from '../../core/db/columns.ts';
import { refuseInsideTransaction } from '../../core/db/root-guard.ts';

const PUSH = columns('Subscription', [
  ...(['provisionState', 'provisionAttempts', 'provisionRequestedAt', 'subscriptionUrl'] as const),
]);

/** State of the push of a subscription and the link that it gives; null = there is none yet. */
export type PushedLink = RowOf<typeof PUSH>;

const FIRST_PAUSE_MS = 30;
const MAX_PAUSE_MS = 300;

/**
 * Waits, after the commit that requested it, until the push of a subscription has been made or its first try has failed, at most until
 * `PROVISION_ANSWER_WAIT_MS` after the request (spec 08 P14): a repeat of an answer that was stored longer ago does not wait. It holds no
 * connection while it waits, and must not be called in a transaction. With 0 it does nothing.
 * @returns the state at the end; null when nothing was read or the subscription is deleted
 */
export async function awaitPush(app: App, subscriptionId: number): Promise<PushedLink | null> {
  refuseInsideTransaction('awaitPush');
  const limitMs = app.env.provisionAnswerWaitMs;
  if (limitMs === 0) return null;
  const start = performance.now();
  let push = await read(app, subscriptionId);
  // By the service clock, by which the request was made; the pauses below are real time.
  const age = push?.provisionRequestedAt ? app.clock.now().getTime() - push.provisionRequestedAt.getTime() : limitMs;
  const until = start + limitMs - Math.max(0, age);
  for (
    let pause = FIRST_PAUSE_MS;
    push && isUnderWay(push) && performance.now() < until;
    pause = Math.min(pause * 1.5, MAX_PAUSE_MS)
  ) {
    await delay(Math.min(pause, until - performance.now()));
    push = await read(app, subscriptionId);
  }
  return push;
}

/** The answer of a sale with the link of its subscription, if it had none and the panel gives it in time (spec 08 P14, spec 10 V4). */
export async function withPushedLink<T extends { subscription: { id: number; subscriptionUrl: string | null } }>(
  app: App,
  answer: T,
): Promise<T> {
  if (answer.subscription.subscriptionUrl) return answer;
  const pushed = await awaitPush(app, answer.subscription.id);
  if (!pushed?.subscriptionUrl) return answer;
  return { ...answer, subscription: { ...answer.subscription, subscriptionUrl: pushed.subscriptionUrl } };
}

const isUnderWay = (push: PushedLink) => push.provisionState === 'pending' && push.provisionAttempts === 0;

async function read(app: App, subscriptionId: number): Promise<PushedLink | null> {
  const [row] = await app.db.sql<PushedLink>(`SELECT ${PUSH.of()} FROM subscriptions WHERE id = $1::int`, [subscriptionId]);
  return row ?? null;
}
