import { setTimeout as delay } from 'node:timers/promises';
import type { App } from '../../core/app.ts';
import { refuseInsideTransaction } from '../../core/db/root-guard.ts';
import { findSend } from './send-repo.ts';
import type { MassSend } from './types.ts';

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
