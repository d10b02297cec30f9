import { type Actor, type AdminActor, actorKey, type TokenActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { timestampOfJson } from '../../../core/db/columns.ts';
import { committedStatement, repeatWhenLost, sqlState } from '../../../core/db/db-errors.ts';
import { type AppError, refusal } from '../../../core/errors.ts';
import { fromStoredJson } from '../../../core/stored-json.ts';
import { userNotFound } from '../../identity/errors.ts';
import { guardTarget } from '../../identity/find-user.ts';
import { bodyHash, checkKey, type OnceKey, type StoredKey, storedResponse } from '../../ledger/run-once.ts';
import type { UserView } from '../types.ts';
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
 * Adds to or deducts from a balance by hand, for an administrator; 0 changes nothing (spec 01 section 11.2 and H16). With an idempotency
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
  return postUserBalance(app, actor, request, idempotencyKey);
}

/**
 * The same for a target that the actor may change, also in the caller's transaction (without a key then).
 * @throws AppError 404 | 400
 */
export async function postUserBalance(
  app: App,
  actor: AdminActor,
  request: BalanceRequest,
  idempotencyKey: string | null,
): Promise<BalanceChange> {
  const once = { key: idempotencyKey, operation: 'admin.users.change-balance', input: request };
  const target = { messengerId: null, userId: request.userId };
  const posting = await sendBalanceChange(app, actor, once, { ...request, ...target, answer: 'change' });
  if (posting.outcome === 'no_user') throw userNotFound();
  if (posting.outcome === 'insufficient') throw balanceTooLow(posting.balanceKopeks, request.amountKopeks);
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

/** @param amountKopeks below 0 */
export function balanceTooLow(balanceKopeks: number, amountKopeks: number): AppError {
  return insufficientBalance(`Insufficient balance. Current: ${balanceKopeks}, requested: ${-amountKopeks}`);
}

/** What `change_balance()` stores as the answer of `adjustBalance`: the row that was read, and when. */
interface StoredView {
  view: object;
  at: string;
}

/** Answers that releases before `change_balance()` stored are the view itself. */
function viewOfAnswer(stored: StoredView | { value: unknown }): UserView {
  return 'view' in stored
    ? toView(viewRowOf(stored.view), timestampOfJson(stored.at))
    : fromStoredJson<{ value: UserView }>(stored).value;
}

export const amountTooLarge = refusal('amount_too_large', 400, 'Amount is too large');

interface ManualMovement {
  /** Positive adds, negative takes. */
  amountKopeks: number;
  description: string | null;
  /** False = the movement is posted, but no list shows it and no event reports it (spec 01 H16). */
  isShown: boolean;
}

/** A movement by hand of the user with this messenger id, else of the one with this internal id. */
interface BalanceStatement extends ManualMovement {
  messengerId: number | null;
  userId: number | null;
  /** The form of the answer, see prisma/sql/balance-change.sql. */
  answer: 'view' | 'change';
}

/** `response` is the stored form of the answer; `repeated` = it is the answer of an earlier call, and nothing was done. */
type BalanceOutcome =
  | { outcome: 'changed' | 'repeated'; response: unknown }
  | { outcome: 'insufficient'; balanceKopeks: number }
  | { outcome: 'no_user' };

/** What `change_balance()` returns; which fields are null depends on the outcome. */
type ChangeRow = { outcome: BalanceOutcome['outcome']; balanceKopeks: number | null } & {
  [F in keyof StoredKey]: StoredKey[F] | null;
};

/** The statement; tests cut sessions at it. */
export const CHANGE_BALANCE = `SELECT outcome, balance_kopeks, response, operation, body_hash FROM change_balance(
  $1, $2, $3, $4, $5::bigint, $6::int, $7::bigint, $8, $9::boolean, $10, $11::timestamptz)`;

/** SQLSTATE of `change_balance()`. */
const TOO_LARGE = 'AM001';

/**
 * Sends a movement by hand with its idempotency key and its answer as one statement; like `runOnce`, once per (actor, key).
 * @returns the outcome; a refusal is a value here, because each caller answers with its own text
 * @throws AppError 400 'Amount is too large' | ValidationError 422 when the key was used with another request, or is too long
 */
async function sendBalanceChange(app: App, actor: Actor, once: OnceKey, change: BalanceStatement): Promise<BalanceOutcome> {
  if (once.key !== null) checkKey(once.key);
  const hash = once.key === null ? null : bodyHash(once);
  const values = [
    ...[once.key === null ? null : actorKey(actor), once.key, once.operation, hash],
    ...[change.messengerId, change.userId, change.amountKopeks, change.description, !change.isShown],
    ...[change.answer, app.clock.now()],
  ];
  try {
    const send = () => committedStatement(app, () => app.db.sql<ChangeRow>(CHANGE_BALANCE, values));
    // Without a key nothing tells whether a statement whose answer was lost has been carried out.
    const [row] = await (once.key === null ? send() : repeatWhenLost(app, send));
    return outcomeOf(row!, once, hash);
  } catch (error) {
    // Above this a balance could no longer be read as an exact number.
    if (sqlState(error) === TOO_LARGE) throw amountTooLarge();
    throw error;
  }
}

function outcomeOf(row: ChangeRow, once: OnceKey, hash: string | null): BalanceOutcome {
  switch (row.outcome) {
    case 'changed':
      return { outcome: 'changed', response: row.response };
    case 'repeated':
      return { outcome: 'repeated', response: storedResponse(storedKeyOf(row), once, hash!) };
    case 'insufficient':
      return { outcome: 'insufficient', balanceKopeks: row.balanceKopeks! };
    case 'no_user':
      return { outcome: 'no_user' };
  }
}

function storedKeyOf({ operation, bodyHash: storedHash, response }: ChangeRow): StoredKey | null {
  return operation === null || storedHash === null ? null : { operation, bodyHash: storedHash, response };
}
