import { type Actor, actorKey } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { committedStatement } from '../../../core/db/committed-statement.ts';
import { sqlState } from '../../../core/db/db-errors.ts';
import { repeatWhenLost } from '../../../core/db/repeat-lost.ts';
import { refusal } from '../../../core/errors.ts';
import { bodyHash, checkKey, type OnceKey, type StoredKey, storedResponse } from '../../ledger/run-once.ts';

export const amountTooLarge = refusal('amount_too_large', 400, 'Amount is too large');

export interface ManualMovement {
  /** Positive adds, negative takes. */
  amountKopeks: number;
  description: string | null;
  /** False = the movement is posted, but no list shows it and no event reports it (spec 01 H16). */
  isShown: boolean;
}

/** A movement by hand of the user with this messenger id, else of the one with this internal id. */
export interface BalanceStatement extends ManualMovement {
  messengerId: number | null;
  userId: number | null;
  /** The form of the answer, see prisma/sql/balance-change.sql. */
  answer: 'view' | 'change';
}

/** `response` is the stored form of the answer; `repeated` = it is the answer of an earlier call, and nothing was done. */
export type BalanceOutcome =
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
export async function sendBalanceChange(
  app: App,
  actor: Actor,
  once: OnceKey,
  change: BalanceStatement,
): Promise<BalanceOutcome> {
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
