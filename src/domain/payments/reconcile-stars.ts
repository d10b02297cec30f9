import type { App } from '../../core/app.ts';
import { readState, writeState } from '../../core/service-state.ts';
import type { StarsTransfer } from '../messaging/ports.ts';
import { type StarsMovement, starsEventKey, storeStarsMovement } from './credit-stars.ts';
import { findKnownTransfers } from './stars-repo.ts';

const METHOD = 'messenger_stars';
/** Key of the progress in `service_state`. */
const STATE_KEY = 'payments:stars-transfers';
/** As many as the messenger lists at once. */
const PAGE = 100;
/** Of one run; the next one continues. */
const MAX_PAGES = 100;
/** Transfers that are looked at again, in case that some were listed late. */
const OVERLAP = 100;

interface Progress {
  /** Another bot has other transfers. */
  botId: number;
  /** Transfers that were read. */
  offset: number;
  /** When the reading began, ISO 8601: what was paid before, for invoices of earlier software, was that software's to credit. */
  since: string;
}

/**
 * Finds payments in Stars and their refunds whose updates were lost (03a section 1, queue `payments.reconcile-stars`). The messenger lists
 * transfers in the order of time, so that each run goes on where the last one ended. What is not known here is stored as its update would
 * have been, under the same key: it is credited in the same way and once, whether the update still comes or not.
 * @throws MessengerError while the messenger does not answer: the next run continues
 */
export async function reconcileStars(app: App): Promise<void> {
  if (!app.ports.payments.byMethod(METHOD)?.hasCredentials()) return;
  const progress = await progressOf(app);
  let offset = Math.max(0, progress.offset - OVERLAP);
  for (let page = 0; page < MAX_PAGES; page++) {
    const transfers = await app.ports.messenger.listStarsTransfers(offset, PAGE);
    await storeUnreported(app, transfers, new Date(progress.since));
    offset += transfers.length;
    if (offset > progress.offset) await writeState(app.db, STATE_KEY, { ...progress, offset });
    if (transfers.length < PAGE) return;
  }
}

async function progressOf(app: App): Promise<Progress> {
  const { messengerId: botId } = await app.ports.messenger.getMe();
  const stored = await readState<Progress>(app.db, STATE_KEY);
  if (stored?.botId === botId) return stored;
  const first = { botId, offset: 0, since: app.clock.now().toISOString() };
  await writeState(app.db, STATE_KEY, first);
  return first;
}

async function storeUnreported(app: App, transfers: readonly StarsTransfer[], since: Date): Promise<void> {
  const movements = transfers.flatMap((transfer) => {
    const movement = movementOf(transfer);
    return movement ? [{ movement, at: transfer.at }] : [];
  });
  if (movements.length === 0) return;
  const known = await findKnownTransfers(
    app.db,
    movements.map(({ movement }) => ({ ...movement, eventKey: starsEventKey(movement) })),
  );
  for (const { movement, at } of movements) {
    if (known.eventKeys.has(starsEventKey(movement))) continue;
    const isOurs = known.payloads.has(movement.payload) || known.charges.has(movement.chargeId);
    if (!isOurs && at < since) continue;
    const { kind, chargeId } = movement;
    app.log.warn({ kind, chargeId }, 'a movement of Stars was found that no update had reported');
    await storeStarsMovement(app, movement, JSON.stringify({ source: 'getStarTransactions' }));
  }
}

/** The update that should have reported a transfer; null where it is none of an invoice. */
function movementOf({ kind, chargeId, payerMessengerId, payload, stars }: StarsTransfer): StarsMovement | null {
  if (kind === 'other' || payerMessengerId === null) return null;
  return {
    kind: kind === 'payment' ? 'stars_paid' : 'stars_refunded',
    ...{ updateId: 0, chargeId, payerMessengerId, payload: payload ?? '', stars },
  };
}
