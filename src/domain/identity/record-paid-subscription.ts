import type { App } from '../../core/app.ts';
import { markPaidSubscriber } from './repo.ts';

/** Records that the user has had a paid subscription: such a user gets no trial any more. In the caller's transaction. */
export function recordPaidSubscription(t: App, userId: number): Promise<void> {
  return markPaidSubscriber(t.db, userId, t.clock.now());
}
