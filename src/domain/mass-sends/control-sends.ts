import { setTimeout as delay } from 'node:timers/promises';
import type { App } from '../../core/app.ts';
import { addDays } from '../../core/clock.ts';
import { refuseInsideTransaction } from '../../core/db/root-guard.ts';
import {
  deleteRecipients,
  endUnderWay,
  findSend,
  insertSend,
  isLeased,
  isUnfinishedBefore,
  listAbandoned,
  listSends,
  listUnfinished,
  type NewSend,
  queueUnconfirmed,
  storeUnsubscribed,
  updateSend,
} from './repo.ts';
import type { MassSend } from './types.ts';

/** Starts a send in the caller's transaction: a job prepares and sends it after the commit. */
export async function startSend(t: App, send: NewSend): Promise<MassSend> {
  const stored = await insertSend(t.db, send, t.clock.now());
  await queueRun(t, stored.id);
  return stored;
}

export function readSends(app: App, kind: MassSend['kind'], sourceIds: readonly number[]): Promise<MassSend[]> {
  return listSends(app.db, kind, sourceIds);
}

/**
 * Asks for the end of what is sent; nothing of it is sent once its shares under way are done. Where no worker has a part, that part ends
 * here. Asking again changes nothing. In a transaction.
 * @returns the parts afterwards; null when none was running
 */
export async function stopSends(t: App, kind: MassSend['kind'], sourceId: number): Promise<MassSend[] | null> {
  const sends = await listSends(t.db, kind, [sourceId], true);
  if (sends.every(({ finishedAt }) => finishedAt !== null)) return null;
  for (const send of sends) if (send.finishedAt === null) await stopOne(t, send);
  return listSends(t.db, kind, [sourceId]);
}

/** Asks for the end of every send of these kinds that has not ended, as `stopSends` does. In a transaction. */
export async function stopKinds(t: App, kinds: readonly MassSend['kind'][]): Promise<void> {
  for (const send of await listUnfinished(t.db, kinds)) await stopOne(t, send);
}

/** Whether a send of these kinds that was started before this one has not ended. */
export function isAfterUnfinished(app: App, kinds: readonly MassSend['kind'][], send: MassSend): Promise<boolean> {
  return isUnfinishedBefore(app.db, kinds, send.id);
}

async function stopOne(t: App, { id, stopRequestedAt }: MassSend): Promise<void> {
  const now = t.clock.now();
  const asked = { stopRequestedAt: stopRequestedAt ?? now };
  if (await isLeased(t.db, id)) {
    await updateSend(t.db, id, asked);
    return;
  }
  await endUnderWay(t.db, id);
  await updateSend(t.db, id, { ...asked, state: 'cancelled', finishedAt: now });
}

/** Nothing more is sent until `resumeSends`. In a transaction. @returns null when none was running */
export async function pauseSends(t: App, kind: MassSend['kind'], sourceId: number): Promise<MassSend[] | null> {
  return change(t, kind, sourceId, (send) => send.pausedAt === null, { pausedAt: t.clock.now() });
}

/** In a transaction. @returns null when none was paused */
export async function resumeSends(t: App, kind: MassSend['kind'], sourceId: number): Promise<MassSend[] | null> {
  const sends = await change(t, kind, sourceId, (send) => send.pausedAt !== null, { pausedAt: null });
  for (const send of sends ?? []) if (send.finishedAt === null) await queueRun(t, send.id);
  return sends;
}

/**
 * Sends again to those of whom it is unknown whether they got the message: they may get it twice (spec 10 O14). Parts that have ended go on
 * for them; parts that were stopped stay as they are. In a transaction.
 * @returns null when nobody is unconfirmed
 */
export async function retryUnconfirmed(t: App, kind: MassSend['kind'], sourceId: number): Promise<MassSend[] | null> {
  const sends = await listSends(t.db, kind, [sourceId], true);
  let repeated = 0;
  for (const { id, stopRequestedAt, finishedAt } of sends) {
    if (stopRequestedAt !== null) continue;
    const queued = await queueUnconfirmed(t.db, id);
    repeated += queued;
    if (queued === 0) continue;
    if (finishedAt !== null) await updateSend(t.db, id, { state: 'sending', finishedAt: null });
    await queueRun(t, id);
  }
  return repeated === 0 ? null : listSends(t.db, kind, [sourceId]);
}

async function change(
  t: App,
  kind: MassSend['kind'],
  sourceId: number,
  applies: (send: MassSend) => boolean,
  changes: Parameters<typeof updateSend>[2],
): Promise<MassSend[] | null> {
  const sends = await listSends(t.db, kind, [sourceId], true);
  const running = sends.filter((send) => send.finishedAt === null && send.stopRequestedAt === null && applies(send));
  if (running.length === 0) return null;
  for (const send of running) await updateSend(t.db, send.id, changes);
  return listSends(t.db, kind, [sourceId]);
}

/** A recipient switched off news by the link of the mail; counted once, also while the send goes on. */
export function recordUnsubscribed(t: App, recipient: { sendId: number; userId: number }): Promise<void> {
  return storeUnsubscribed(t.db, recipient, t.clock.now());
}

/** The scheduled job: sends that no worker has, because a process ended or a job was lost, are continued. */
export async function continueAbandoned(app: App): Promise<void> {
  for (const sendId of await listAbandoned(app.db)) await queueRun(app, sendId);
}

function queueRun(app: App, sendId: number): Promise<void> {
  return app.jobs.send('messaging.run-send', { sendId }, { singletonKey: String(sendId) });
}

const PAUSE_MS = 100;

/**
 * Waits, after the commit that started it, for the end of a send, at most `limitMs`. It holds no connection while it waits, and must not be
 * called in a transaction.
 * @returns the send as it is then
 */
export async function awaitSend(app: App, started: MassSend, limitMs: number): Promise<MassSend> {
  refuseInsideTransaction('awaitSend');
  const until = performance.now() + limitMs;
  let send = started;
  while (send.finishedAt === null && performance.now() < until) {
    await delay(Math.min(PAUSE_MS, until - performance.now()));
    send = (await findSend(app.db, send.id)) ?? send;
  }
  return send;
}

/** Days that the rows of recipients are kept after the end; the numbers stay. */
const RETENTION_DAYS = 30;
const BATCH = 5_000;

/** @returns rows deleted */
export async function purgeRecipients(app: App): Promise<number> {
  const before = addDays(app.clock.now(), -RETENTION_DAYS);
  for (let deleted = 0; ; ) {
    const rows = await deleteRecipients(app.db, before, BATCH);
    deleted += rows;
    if (rows < BATCH) return deleted;
  }
}
