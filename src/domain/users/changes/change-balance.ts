import type { AdminActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { refuse } from '../../../core/errors.ts';
import { userNotFound } from '../../identity/errors.ts';
import { guardTarget } from '../../identity/guard-target.ts';
import { postMovement } from '../../ledger/post-movement.ts';
import { runOnce } from '../../ledger/run-once.ts';
import { lockUser } from './repo.ts';

export interface BalanceRequest {
  userId: number;
  /** Positive adds, negative takes; 0 changes nothing. */
  amountKopeks: number;
  description: string;
  /** False = the movement is posted, but no list shows it and no event tells of it (spec 01 H16). */
  isShown: boolean;
}

export interface BalanceChange {
  oldKopeks: number;
  newKopeks: number;
}

/**
 * Adds to or takes from a balance by hand: one movement, `deposit` or `withdrawal` by `manual` (spec 01 section 11.2 and H16).
 * With an idempotency key the first answer is given again.
 * @throws AppError 404 'User not found' | 403 (H5) | 400 'Insufficient balance. Current: X, requested: Y' in kopeks
 */
export async function changeUserBalance(
  app: App,
  actor: AdminActor,
  request: BalanceRequest,
  idempotencyKey: string | null,
): Promise<BalanceChange> {
  await guardTarget(app, actor, request.userId, 'change');
  const once = { key: idempotencyKey, operation: 'admin.users.change-balance', input: request };
  return runOnce(app, actor, once, async (t) => {
    const change = await post(t, request);
    t.audit?.note({ before: { balanceKopeks: change.oldKopeks }, after: { balanceKopeks: change.newKopeks } });
    return change;
  });
}

async function post(t: App, request: BalanceRequest): Promise<BalanceChange> {
  const { userId, amountKopeks } = request;
  if (amountKopeks === 0) {
    const user = await lockUser(t.db, userId);
    if (!user) throw userNotFound();
    return { oldKopeks: user.balanceKopeks, newKopeks: user.balanceKopeks };
  }
  const posting = await postMovement(t, {
    userId,
    type: amountKopeks > 0 ? 'deposit' : 'withdrawal',
    amountKopeks,
    counter: { kind: 'manual_adjustment' },
    paymentMethod: 'manual',
    description: request.description,
    isInternal: !request.isShown,
  });
  if (posting.outcome === 'no_user') throw userNotFound();
  if (posting.outcome === 'insufficient') {
    const text = `Insufficient balance. Current: ${posting.balanceKopeks}, requested: ${-amountKopeks}`;
    throw refuse('insufficient_balance', 400, text);
  }
  // Above this a balance could no longer be read as an exact number.
  if (posting.balanceKopeks > Number.MAX_SAFE_INTEGER) throw refuse('amount_too_large', 400, 'Amount is too large');
  return { oldKopeks: posting.balanceKopeks - amountKopeks, newKopeks: posting.balanceKopeks };
}
