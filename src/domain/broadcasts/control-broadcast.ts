import type { App } from '../../core/app.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { refusal } from '../../core/errors.ts';
import { isRowId } from '../../core/row-id.ts';
import { pauseSends, readSends, resumeSends, retryUnconfirmed, stopSends } from '../mass-sends/control-sends.ts';
import type { MassSend } from '../mass-sends/types.ts';
import { announceProgress } from './announce-progress.ts';
import { findBroadcast } from './repo.ts';
import { broadcastNotFound, withProgress } from './rules.ts';
import type { Broadcast } from './types.ts';

export const broadcastNotRunning = refusal('broadcast_not_running', 400, 'Broadcast is not running');
export const broadcastNotPaused = refusal('broadcast_not_paused', 400, 'Broadcast is not paused');
export const broadcastConfirmed = refusal(
  'broadcast_confirmed',
  400,
  'Broadcast has no unconfirmed recipients to send it to again',
);

/**
 * Ends a broadcast, on all its channels: what is under way is still sent, nothing after it (spec 05 section 3.3).
 * @throws AppError 404; 400 when it has ended
 */
export function stopBroadcast(app: App, id: number): Promise<Broadcast> {
  return control(app, id, stopSends, broadcastNotRunning);
}

/** Holds a broadcast until it is resumed. @throws AppError 404; 400 when it has ended, is to stop or is paused */
export function pauseBroadcast(app: App, id: number): Promise<Broadcast> {
  return control(app, id, pauseSends, broadcastNotRunning);
}

/** Continues a paused broadcast. @throws AppError 404; 400 when it is not paused */
export function resumeBroadcast(app: App, id: number): Promise<Broadcast> {
  return control(app, id, resumeSends, broadcastNotPaused);
}

/**
 * Sends a broadcast again to recipients of whom it is unknown whether they got it, because a process ended while their message was under way;
 * they may get it twice (spec 10 O14). A paused one is resumed, one that has ended goes on for them.
 * @throws AppError 404; 400 when nobody is unconfirmed, or it was stopped
 */
export function retryBroadcast(app: App, id: number): Promise<Broadcast> {
  return control(app, id, retryParts, broadcastConfirmed);
}

async function retryParts(t: App, kind: 'broadcast', sourceId: number): Promise<MassSend[] | null> {
  const sends = await retryUnconfirmed(t, kind, sourceId);
  return sends && ((await resumeSends(t, kind, sourceId)) ?? sends);
}

const recorded = ({ status, sentCount, totalCount }: Broadcast) => ({ status, sent: sentCount, total: totalCount });

function control(
  app: App,
  id: number,
  change: (t: App, kind: 'broadcast', sourceId: number) => Promise<MassSend[] | null>,
  refusal: () => Error,
): Promise<Broadcast> {
  return inTransaction(app, async (t) => {
    const row = isRowId(id) ? await findBroadcast(t.db, id) : null;
    if (!row) throw broadcastNotFound();
    const before = withProgress(row, await readSends(t, 'broadcast', [id]), t.env, t.clock.now());
    const sends = await change(t, 'broadcast', id);
    if (!sends) throw refusal();
    const after = withProgress(row, sends, t.env, t.clock.now());
    t.audit?.record({ resourceId: id, before: recorded(before), after: recorded(after) });
    await announceProgress(t, after);
    return after;
  });
}
