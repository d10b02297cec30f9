import type { App } from '../../core/app.ts';
import { markPaidSubscriber, setFirstTopup } from './repo.ts';

/**
 * Records the first top-up that counts: of any number of calls one succeeds (spec 04 section 1.4). In the caller's transaction.
 * @returns false when it was recorded before
 */
export function recordFirstTopup(t: App, userId: number): Promise<boolean> {
  return setFirstTopup(t.db, userId, t.clock.now());
}

/** Records that the user has had a paid subscription: such a user gets no trial any more. In the caller's transaction. */
export function recordPaidSubscription(t: App, userId: number): Promise<void> {
  return markPaidSubscriber(t.db, userId, t.clock.now());
}
