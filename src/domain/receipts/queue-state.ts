import type { App } from '../../core/app.ts';
import { addMs } from '../../core/clock.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { lockState, readState, writeState } from '../../core/service-state.ts';
import { notifyDrained, notifyFailing } from './notify-admins.ts';
import type { ReceiptError, ReceiptFailure } from './ports.ts';
import { hasUnfinished } from './repo.ts';
import { NOTICE_MS, REFUSED_SIGN_IN_MS } from './rules.ts';

const KEY = 'receipts:queue';

/** What is stored; moments as ISO 8601. */
interface StoredState {
  failingSince: string | null;
  failure: ReceiptFailure | null;
  notifiedAt: string | null;
  pausedUntil: string | null;
  /** When the last receipt was sent, looked up or cancelled. */
  lastStepAt: string | null;
}

/** How the queue does. `pausedUntil`: nothing is tried before. */
export interface QueueState {
  failingSince: Date | null;
  failure: ReceiptFailure | null;
  pausedUntil: Date | null;
  lastStepAt: Date | null;
}

export async function readQueueState({ db }: Pick<App, 'db'>): Promise<QueueState> {
  const stored = (await readState<Partial<StoredState>>(db, KEY)) ?? {};
  return {
    failingSince: dateOf(stored.failingSince),
    failure: stored.failure ?? null,
    pausedUntil: dateOf(stored.pausedUntil),
    lastStepAt: dateOf(stored.lastStepAt),
  };
}

/**
 * Notes that the queue stopped, and tells the administrators, at most once an hour. After a refused sign-in the queue pauses: frequent ones
 * get the account blocked.
 */
export async function recordFailure(app: App, { failure, message }: ReceiptError): Promise<void> {
  app.log.warn({ failure, reason: message }, 'receipts wait: the tax service could not be used');
  await inTransaction(app, async (t) => {
    const now = t.clock.now();
    const stored = await lockState<StoredState>(t.db, KEY);
    const isTime = !stored.notifiedAt || addMs(new Date(stored.notifiedAt), NOTICE_MS) <= now;
    if (isTime) await notifyFailing(t, failure);
    await writeState(t.db, KEY, {
      ...stored,
      failure,
      failingSince: stored.failingSince ?? now.toISOString(),
      notifiedAt: isTime ? now.toISOString() : stored.notifiedAt,
      pausedUntil: failure === 'credentials' ? addMs(now, REFUSED_SIGN_IN_MS).toISOString() : null,
      lastStepAt: now.toISOString(),
    });
  });
}

/** Notes that the queue works; when nothing waits any more after a failure, the administrators are told once. */
export async function recordSuccess(app: App): Promise<void> {
  await inTransaction(app, async (t) => {
    const stored = await lockState<StoredState>(t.db, KEY);
    const isDrained = stored.failingSince != null && !(await hasUnfinished(t.db));
    if (isDrained) await notifyDrained(t);
    const cleared = isDrained ? { failingSince: null, failure: null, notifiedAt: null } : {};
    await writeState(t.db, KEY, { ...stored, ...cleared, pausedUntil: null, lastStepAt: t.clock.now().toISOString() });
  });
}

function dateOf(text: string | null | undefined): Date | null {
  return text ? new Date(text) : null;
}
