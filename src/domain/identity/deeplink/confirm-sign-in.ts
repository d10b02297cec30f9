import type { App } from '../../../core/app.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { findByMessengerId } from '../repo.ts';
import { peekSignIn, storeLinked, takeSignIn } from './stored-sign-in.ts';

export type Confirmation = 'confirmed' | 'gone' | 'not_allowed';

/**
 * The messenger user said yes: the pending sign-in becomes his, once (spec 01 section 3, H19). Said again by the same user it is no
 * second confirmation.
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
      // Confirmed by somebody a moment ago: put back what was his.
      await storeLinked(t, token, taken);
      return taken.messenger_id === messengerId ? 'confirmed' : 'gone';
    }
    const linkedAt = t.clock.now().toISOString();
    await storeLinked(t, token, { status: 'linked', messenger_id: messengerId, user_id: user.id, linked_at: linkedAt });
    return 'confirmed';
  });
}
