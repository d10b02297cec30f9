import type { AdminActor, TokenActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { momentOfJson } from '../../../core/db/json-moment.ts';
import { refusal } from '../../../core/errors.ts';
import { fromStoredJson } from '../../../core/stored-json.ts';
import { userNotFound } from '../../identity/errors.ts';
import { guardTarget } from '../../identity/guard-target.ts';
import type { UserView } from '../types.ts';
import { type ManualMovement, sendBalanceChange } from './balance-statement.ts';
import { eitherId } from './read-user.ts';
import { toView, viewRowOf } from './view-repo.ts';

export const amountZero = refusal('amount_zero', 400, 'Amount must be non-zero');

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
  const target = { messengerId: null, userId: request.userId };
  const posting = await sendBalanceChange(app, actor, once, { ...request, ...target, answer: 'change' });
  if (posting.outcome === 'no_user') throw userNotFound();
  if (posting.outcome === 'insufficient')
    throw insufficientBalance(`Insufficient balance. Current: ${posting.balanceKopeks}, requested: ${-request.amountKopeks}`);
  const change = fromStoredJson<{ value: BalanceChange }>(posting.response).value;
  if (posting.outcome === 'changed') {
    app.audit?.record({
      before: { balanceKopeks: change.oldBalanceKopeks },
      after: { balanceKopeks: change.newBalanceKopeks },
    });
  }
  return change;
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
  if (adjustment.amountKopeks === 0) throw amountZero();
  const once = { key: idempotencyKey, operation: 'users.adjust-balance', input: adjustment };
  const posting = await sendBalanceChange(app, actor, once, {
    ...adjustment,
    ...eitherId(adjustment.user),
    answer: 'view',
  });
  if (posting.outcome === 'no_user') throw userNotFound();
  if (posting.outcome === 'insufficient') throw insufficientBalance('Insufficient balance');
  return viewOfAnswer(posting.response as StoredView | { value: unknown });
}

export const insufficientBalance = refusal('insufficient_balance', 400, 'Insufficient balance', (detail: string) => ({ detail }));

/** What `change_balance()` stores as the answer of `adjustBalance`: the row that was read, and when. */
interface StoredView {
  view: object;
  at: string;
}

/** Answers that releases before `change_balance()` stored are the view itself. */
function viewOfAnswer(stored: StoredView | { value: unknown }): UserView {
  return 'view' in stored
    ? toView(viewRowOf(stored.view), momentOfJson(stored.at))
    : fromStoredJson<{ value: UserView }>(stored).value;
}
