import { createHash } from 'node:crypto';
import { type Actor, actorKey } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { addMs, MINUTE_MS } from '../../core/clock.ts';
import { columns, type RowOf } from '../../core/db/columns.ts';
import { repeatWhenLost } from '../../core/db/db-errors.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { refusal, ValidationError } from '../../core/errors.ts';
import { fromStoredJson, toStoredJson } from '../../core/stored-json.ts';

export const idempotencyKeyInUse = refusal(
  'idempotency_key_in_use',
  409,
  'A request with this Idempotency-Key is still being processed',
);

/** What identifies a repeat: the client's `Idempotency-Key`, the operation and the whole input. */
export interface OnceKey {
  /** Null = the client sent none: the operation simply runs. */
  key: string | null;
  operation: string;
  input: unknown;
}

const STORED = columns('IdempotencyKey', ['operation', 'bodyHash', 'response']);

/** The stored row of a key; null = removed in the meantime. */
export type StoredKey = RowOf<typeof STORED>;

/** A key as a statement claims it. */
export interface KeyClaim {
  actor: string;
  key: string;
  operation: string;
  bodyHash: string;
  createdAt: Date;
}

/** What an operation starts from, and whether the statement that read it has claimed the key. */
export interface Opened<Start> {
  /** True also without a key. */
  isClaimed: boolean;
  /** The row of a key that was used before; null when it has been deleted meanwhile. */
  known: StoredKey | null;
  start: Start;
}

const MAX_KEY_LENGTH = 255;
/** Longer than any outside call may take: a caller that ended between its two transactions. */
const ABANDONED_MS = 2 * MINUTE_MS;

/**
 * Runs a money operation once per (actor, key) for 24 h (spec 00, Consistency). The key's row is written in the transaction of the
 * operation: a second caller waits for it, then gets the first answer. A refusal rolls the row back, so the key may be used again.
 * A repeat gets the answer with its types: plain objects, arrays, texts, numbers and `Date`s. With a key the operation runs again, once,
 * when its database session was cut: if the lost COMMIT was carried out, the second attempt finds the first answer.
 * @throws ValidationError 422 when the key was used with another body or for another operation, or is too long
 */
export function runOnce<T>(app: App, actor: Actor, once: OnceKey, fn: (t: App) => Promise<T>): Promise<T> {
  return runOnceFrom(app, actor, once, claimKey, fn);
}

/**
 * `runOnce` for an operation whose first statement claims the key itself: that saves a round trip to the database.
 * @param open claims the key with the first row that it writes or locks; null = there is no key
 * @param fn the operation, for a claimed key only
 */
export async function runOnceFrom<Start, T>(
  app: App,
  actor: Actor,
  once: OnceKey,
  open: (t: App, claim: KeyClaim | null) => Promise<Opened<Start>>,
  fn: (t: App, start: Start) => Promise<T>,
): Promise<T> {
  const { key } = once;
  if (key === null) return inTransaction(app, async (t) => fn(t, (await open(t, null)).start));
  const claim = claimOf(app, actor, once, key);
  const attempt = async (t: App): Promise<T> => {
    const opened = await open(t, claim);
    if (!opened.isClaimed) return answerIn<T>(opened.known, once, claim.bodyHash);
    const response = await fn(t, opened.start);
    await storeAnswer(t, claim, response);
    return response;
  };
  return repeatWhenLost(app, () => inTransaction(app, attempt));
}

/** @throws ValidationError 422 for an empty key and one that is too long */
function claimOf(app: App, actor: Actor, once: OnceKey, key: string): KeyClaim {
  checkKey(key);
  return { actor: actorKey(actor), key, operation: once.operation, bodyHash: bodyHash(once), createdAt: app.clock.now() };
}

/** The first five parameters of `claim_key()`, and of functions that call it; null without a claim. */
export function claimValues(claim: KeyClaim | null): unknown[] {
  if (claim === null) return [null, null, null, null, null];
  return [claim.actor, claim.key, claim.operation, claim.bodyHash, claim.createdAt];
}

/**
 * Claims a key in a statement of its own, see `claim_key()` in prisma/sql/idempotency.sql.
 * @param abandonedBefore a key without an answer that was claimed before this time is taken over; null = none is
 */
async function claimKey(t: App, claim: KeyClaim | null, abandonedBefore: Date | null = null): Promise<Opened<undefined>> {
  if (claim === null) return { isClaimed: true, known: null, start: undefined };
  const [row] = await t.db.sql<ClaimRow>(
    `SELECT ${claimColumns('c')} FROM claim_key($1, $2, $3, $4, $5::timestamptz, $6::timestamptz) c`,
    [...claimValues(claim), abandonedBefore],
  );
  return { ...claimIn(row!), start: undefined };
}

/** SELECT list of a claim that a function made: `claimed`, and as `known` the row of the key. For `claimIn`. */
export function claimColumns(alias: string): string {
  return `${alias}.claimed, ${STORED.of(`(${alias}.known)`)}`;
}

/** What `claimColumns` answers; the row's fields are null for a claimed key. */
export type ClaimRow = { claimed: boolean } & { [F in keyof StoredKey]: StoredKey[F] | null };

export function claimIn({ claimed, operation, bodyHash: hash, response }: ClaimRow): Omit<Opened<never>, 'start'> {
  if (claimed || operation === null || hash === null) return { isClaimed: claimed, known: null };
  return { isClaimed: false, known: { operation, bodyHash: hash, response } };
}

/** Stores the answer, together with the events and jobs of the operation. */
async function storeAnswer(t: App, { actor, key }: KeyClaim, response: unknown): Promise<void> {
  await t.db.sql(
    `WITH answered AS (UPDATE idempotency_keys SET response = $3::json WHERE actor = $1 AND key = $2 RETURNING key)
     SELECT record_effects($4::jsonb) AS recorded FROM answered`,
    [actor, key, toStoredJson({ value: response }), t.db.effects!.take()],
  );
}

/**
 * Whether a request with this key has an answer already, so that `runOnce` would return at once: the first answer, or 422 for another
 * body. Limits that count attempts before the operation ask this, because a repeat does not count as an attempt.
 * @throws ValidationError 422 for a key that is too long
 */
export async function isAnswered(app: App, actor: Actor, key: string | null): Promise<boolean> {
  if (key === null) return false;
  checkKey(key);
  const rows = await app.db.sql('SELECT key FROM idempotency_keys WHERE actor = $1 AND key = $2 AND response IS NOT NULL', [
    actorKey(actor),
    key,
  ]);
  return rows.length > 0;
}

/**
 * `runOnce` for an operation that must call an outside system between two transactions: `prepare` commits the intent with the key,
 * `finish` runs outside of any transaction and returns the answer, which is then stored. A repeat during that time is refused with 409
 * and may be sent again.
 */
export async function runOnceAround<P, T>(
  app: App,
  actor: Actor,
  once: OnceKey,
  prepare: (t: App) => Promise<P>,
  finish: (prepared: P) => Promise<T>,
): Promise<T> {
  const { key } = once;
  if (key === null) return finish(await inTransaction(app, prepare));
  const claim = claimOf(app, actor, once, key);
  const prepared = await inTransaction<{ first: P } | { answer: T }>(app, async (t) => {
    const { isClaimed, known } = await claimKey(t, claim, addMs(claim.createdAt, -ABANDONED_MS));
    return isClaimed ? { first: await prepare(t) } : { answer: answerIn<T>(known, once, claim.bodyHash) };
  });
  if ('answer' in prepared) return prepared.answer;
  try {
    const answer = await finish(prepared.first);
    const stored = [claim.actor, key, toStoredJson({ value: answer })];
    // Without the stored answer a repeat would call the outside system again.
    await repeatWhenLost(app, () =>
      app.db.sql('UPDATE idempotency_keys SET response = $3::json WHERE actor = $1 AND key = $2 RETURNING key', stored),
    );
    return answer;
  } catch (error) {
    const drop = 'DELETE FROM idempotency_keys WHERE actor = $1 AND key = $2 AND response IS NULL RETURNING key';
    await repeatWhenLost(app, () => app.db.sql(drop, [claim.actor, key]));
    throw error;
  }
}

/** @throws AppError 409 while the first caller has no answer yet | ValidationError 422 for another request */
function answerIn<T>(row: StoredKey | null, once: OnceKey, hash: string): T {
  return fromStoredJson<{ value: T }>(storedResponse(row, once, hash)).value;
}

/**
 * The answer that is stored with the key of a repeat.
 * @throws AppError 409 while the first call runs | ValidationError 422 when the key belongs to another request
 */
export function storedResponse(row: StoredKey | null | undefined, once: OnceKey, hash: string): unknown {
  if (!row) throw idempotencyKeyInUse();
  if (row.operation !== once.operation || row.bodyHash !== hash) {
    throw keyProblem(once.key, 'Idempotency-Key was already used with another request');
  }
  if (row.response === null) throw idempotencyKeyInUse();
  return row.response;
}

/** @throws ValidationError 422 for an empty key and one that is too long */
export function checkKey(key: string): void {
  if (key.length === 0 || key.length > MAX_KEY_LENGTH)
    throw keyProblem(key, `Idempotency-Key must have 1 to ${MAX_KEY_LENGTH} characters`);
}

function keyProblem(key: string | null, msg: string): ValidationError {
  return new ValidationError([{ loc: ['header', 'idempotency-key'], type: 'value_error', msg, input: key }]);
}

/** What the body of a repeat is compared by. */
export function bodyHash(once: OnceKey): string {
  return createHash('sha256')
    .update(`${once.operation}\n${canonicalJson(once.input)}`)
    .digest('hex');
}

/** JSON with sorted keys, so that two spellings of one body are the same body. */
function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (value instanceof Date) return JSON.stringify(value);
  if (value !== null && typeof value === 'object') {
    const entries = Object.entries(value).filter(([, item]) => item !== undefined);
    return `{${entries
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, item]) => `${JSON.stringify(name)}:${canonicalJson(item)}`)
      .join(',')}}`;
  }
  return JSON.stringify(value) ?? 'null';
}
