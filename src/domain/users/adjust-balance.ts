import type { TokenActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { refuse } from '../../core/errors.ts';
import { userNotFound } from '../identity/errors.ts';
import { postMovement } from '../ledger/post-movement.ts';
import { runOnce } from '../ledger/run-once.ts';
import { readUserById, resolveUserId } from './read-user.ts';
import { reviveView } from './rules.ts';
import type { UserView } from './types.ts';

export interface BalanceAdjustment {
  /** Messenger id or internal id, see `readUser`. */
  user: number;
  /** Positive adds, negative takes. */
  amountKopeks: number;
  description: string | null;
  /** False = the movement is posted, but no list shows it and no event tells of it (spec 01 H16). */
  isShown: boolean;
}

/**
 * Adds to or takes from a balance by hand: one movement, `deposit` or `withdrawal` by `manual` (spec 01 section 10 and H16).
 * With an idempotency key the first answer is given again.
 * @throws AppError 400 'Amount must be non-zero' | 'Insufficient balance' | 404 'User not found'
 */
export async function adjustBalance(
  app: App,
  actor: TokenActor,
  adjustment: BalanceAdjustment,
  idempotencyKey: string | null,
): Promise<UserView> {
  const { amountKopeks, description, isShown } = adjustment;
  if (amountKopeks === 0) throw refuse('amount_zero', 400, 'Amount must be non-zero');
  const once = { key: idempotencyKey, operation: 'users.adjust-balance', input: adjustment };
  const view = await runOnce(app, actor, once, async (t) => {
    const userId = await resolveUserId(t, adjustment.user);
    const posting = await postMovement(t, {
      userId,
      type: amountKopeks > 0 ? 'deposit' : 'withdrawal',
      amountKopeks,
      counter: { kind: 'manual_adjustment' },
      paymentMethod: 'manual',
      description,
      isInternal: !isShown,
    });
    if (posting.outcome === 'no_user') throw userNotFound();
    if (posting.outcome === 'insufficient') throw refuse('insufficient_balance', 400, 'Insufficient balance');
    // Above this a balance could no longer be read as an exact number.
    if (posting.balanceKopeks > Number.MAX_SAFE_INTEGER) throw refuse('amount_too_large', 400, 'Amount is too large');
    return readUserById(t, userId);
  });
  return reviveView(view);
}
