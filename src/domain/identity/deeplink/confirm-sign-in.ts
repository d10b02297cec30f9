import type { App } from '../../../core/app.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { findByMessengerId } from '../repo.ts';
import { peekSignIn, storeLinked, takeSignIn } from './stored-sign-in.ts';

export type Confirmation = 'confirmed' | 'gone' | 'not_allowed';

/**
 * Confirms a pending sign-in for a messenger user, once (spec 01 section 3, H19). A repetition by the same user changes nothing.
 */
export async function confirmSignIn(app: App, token: string, messengerId: number): Promise<Confirmation> {
  const user = await findByMessengerId(app.db, messengerId);
  if (user?.status !== 'active') return 'not_allowed';
  const seen = await peekSignIn(app, token);
  if (seen?.status === 'linked') return seen.messenger_id === messengerId ? 'confirmed' : 'gone';
  if (seen?.status !== 'pending') return 'gone';
  return inTransaction(app, async (t) => {
    const taken = await takeSignIn(t, token);
    if (!taken) return 'gone';
    if (taken.status === 'linked') {
      // Confirmed by a concurrent request: restore its entry.
      await storeLinked(t, token, taken);
      return taken.messenger_id === messengerId ? 'confirmed' : 'gone';
    }
    const linkedAt = t.clock.now().toISOString();
    await storeLinked(t, token, { status: 'linked', messenger_id: messengerId, user_id: user.id, linked_at: linkedAt });
    return 'confirmed';
  });
}
