import type { AdminActor, TokenActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { type AppError, refuse } from '../../../core/errors.ts';
import { userNotFound } from '../../identity/errors.ts';
import { guardTarget } from '../../identity/guard-target.ts';
import { postMovement } from '../../ledger/post-movement.ts';
import { runOnce } from '../../ledger/run-once.ts';
import type { UserView } from '../types.ts';
import { readUserById, resolveUserId } from './read-user.ts';
import { lockUser } from './repo.ts';

interface ManualMovement {
  /** Positive adds, negative takes. */
  amountKopeks: number;
  description: string | null;
  /** False = the movement is posted, but no list shows it and no event reports it (spec 01 H16). */
  isShown: boolean;
}

export interface BalanceRequest extends ManualMovement {
  userId: number;
}

export interface BalanceChange {
  oldBalanceKopeks: number;
  newBalanceKopeks: number;
}

/**
 * Adds to or takes from a balance by hand, for an administrator; 0 changes nothing (spec 01 section 11.2 and H16). With an idempotency
 * key the first answer is given again.
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
    const change =
      request.amountKopeks === 0
        ? await unchangedBalance(t, request.userId)
        : await postByHand(t, request.userId, request, (balanceKopeks) =>
            insufficientBalance(`Insufficient balance. Current: ${balanceKopeks}, requested: ${-request.amountKopeks}`),
          );
    t.audit?.record({
      before: { balanceKopeks: change.oldBalanceKopeks },
      after: { balanceKopeks: change.newBalanceKopeks },
    });
    return change;
  });
}

export interface BalanceAdjustment extends ManualMovement {
  /** Messenger id or internal id, see `readUser`. */
  user: number;
}

/**
 * The same for the Web API (spec 01 section 10 and H16).
 * @throws AppError 400 'Amount must be non-zero' | 'Insufficient balance' | 404 'User not found'
 */
export async function adjustBalance(
  app: App,
  actor: TokenActor,
  adjustment: BalanceAdjustment,
  idempotencyKey: string | null,
): Promise<UserView> {
  if (adjustment.amountKopeks === 0) throw refuse('amount_zero', 400, 'Amount must be non-zero');
  const once = { key: idempotencyKey, operation: 'users.adjust-balance', input: adjustment };
  return runOnce(app, actor, once, async (t) => {
    const userId = await resolveUserId(t, adjustment.user);
    await postByHand(t, userId, adjustment, () => insufficientBalance('Insufficient balance'));
    return readUserById(t, userId);
  });
}

const insufficientBalance = (detail: string) => refuse('insufficient_balance', 400, detail);

async function unchangedBalance(t: App, userId: number): Promise<BalanceChange> {
  const user = await lockUser(t.db, userId);
  if (!user) throw userNotFound();
  return { oldBalanceKopeks: user.balanceKopeks, newBalanceKopeks: user.balanceKopeks };
}

/**
 * One movement, `deposit` or `withdrawal` by `manual`.
 * @param insufficient the caller's refusal; gets the present balance
 */
async function postByHand(
  t: App,
  userId: number,
  { amountKopeks, description, isShown }: ManualMovement,
  insufficient: (balanceKopeks: number) => AppError,
): Promise<BalanceChange> {
  const posting = await postMovement(t, {
    userId,
    type: amountKopeks > 0 ? 'deposit' : 'withdrawal',
    amountKopeks,
    contra: { kind: 'manual_adjustment' },
    paymentMethod: 'manual',
    description,
    isInternal: !isShown,
  });
  if (posting.outcome === 'no_user') throw userNotFound();
  if (posting.outcome === 'insufficient') throw insufficient(posting.balanceKopeks);
  // Above this a balance could no longer be read as an exact number.
  if (posting.balanceKopeks > Number.MAX_SAFE_INTEGER) throw refuse('amount_too_large', 400, 'Amount is too large');
  return { oldBalanceKopeks: posting.balanceKopeks - amountKopeks, newBalanceKopeks: posting.balanceKopeks };
}
