import type { App } from '../app.ts';

/** Classifies the errors of the two drivers and of Prisma. */

interface DriverError {
  code?: unknown;
  message?: unknown;
  meta?: { driverAdapterError?: { cause?: DriverCause } };
  cause?: unknown;
  severity?: unknown;
}

interface DriverCause {
  kind?: string;
  originalCode?: string;
  constraint?: { index?: string; fields?: string[] };
  severity?: string;
  originalMessage?: string;
}

const DEADLOCK = '40P01';
const SERIALIZATION = '40001';
/** SQLSTATE of a statement that waited for a lock longer than `lock_timeout`. */
export const LOCK_NOT_AVAILABLE = '55P03';
/** A prepared statement whose columns got another type since: a migration of the next release, while this one still runs. */
export const PLAN_OUTDATED = '0A000';
/** A statement exceeded `statement_timeout` (or was cancelled by hand); a statement waited for a lock longer than `lock_timeout`. */
const TIMED_OUT = ['57014', LOCK_NOT_AVAILABLE];
/** Disk full, out of memory, too many connections, a limit of the configuration, an error of the disk: nothing that a request can help (spec 10 F3). */
const OUT_OF_RESOURCES = ['53100', '53200', '53300', '53400', '58030'];

/** True when the transaction was rolled back and may succeed when it runs again. */
export function isRetryable(error: unknown): boolean {
  const failure = error as DriverError | null;
  if (failure === null || typeof failure !== 'object') return false;
  const code = sqlState(error);
  return (
    failure.code === 'P2034' ||
    code === DEADLOCK ||
    code === SERIALIZATION ||
    code === PLAN_OUTDATED ||
    driverCause(failure)?.kind === 'TransactionWriteConflict'
  );
}

/** A statement with a `lock_timeout` was in the way of others, or they in its: its transaction may succeed later. */
export const isLockOfOthers = (error: unknown): boolean => sqlState(error) === LOCK_NOT_AVAILABLE || isRetryable(error);

/** The SQLSTATE behind an error of Prisma, node-postgres or PGlite. */
export function sqlState(error: unknown): string | undefined {
  const failure = error as DriverError | null;
  if (failure === null || typeof failure !== 'object') return undefined;
  const cause = driverCause(failure);
  if (cause?.originalCode) return cause.originalCode;
  if (failure.code === 'P2002') return '23505';
  return typeof failure.code === 'string' && /^[0-9A-Z]{5}$/.test(failure.code) && !failure.code.startsWith('P2')
    ? failure.code
    : undefined;
}

/** A unique key refused the row. `constraint`: part of the constraint's or a column's name. */
export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  if (sqlState(error) !== '23505') return false;
  return constraint === undefined || describe(error).includes(constraint);
}

/** A row of another table refers to this one, or the row referred to does not exist. */
export function isForeignKeyViolation(error: unknown): boolean {
  return sqlState(error) === '23503' || (error as DriverError | null)?.code === 'P2003';
}

/**
 * The database stores any text except one with U+0000, and in JSON except one with half a surrogate pair; such a text can only be a
 * client's mistake, since all JSON that we send is written by `JSON.stringify`.
 */
export function isUnstorableText(error: unknown): boolean {
  const state = sqlState(error);
  return state === '22021' || state === '22P05' || (state === '22P02' && /for type json/.test(describe(error)));
}

/** Names of the driver adapter for its errors that concern the connection; COMMIT and raw queries reach the caller with nothing else. */
const LOST_KINDS = ['ConnectionClosed', 'DatabaseNotReachable'];
const UNAVAILABLE_KINDS = [...LOST_KINDS, 'SocketTimeout', 'TooManyConnections'];
const LOST_CODES = [
  ...['ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'],
  ...['P1001', 'P1017'],
];
const UNAVAILABLE_CODES = [...LOST_CODES, 'ETIMEDOUT', 'P1002', 'P1008', 'P2024', 'P2028', 'P2037'];
/** node-postgres has no code for a session that was cut: "not queryable" is what the next statement on it gets. */
const LOST_TEXT = /Connection terminated|terminating connection|not queryable|error establishing an SSL connection/i;
const CONNECT_TIMED_OUT = /timeout exceeded when trying to connect|due to connection timeout|timeout expired/i;

/**
 * The database cannot be reached or does not answer in time; the request may be sent again later (503, spec 06 section 0). The statement
 * had no effect, except that a COMMIT on which the connection was lost may have been carried out. An automatic retry needs a limit,
 * because a statement that always takes too long is reported in the same way.
 */
export function isDatabaseUnavailable(error: unknown): boolean {
  const failure = error as DriverError | null;
  if (failure === null || typeof failure !== 'object') return false;
  if (isConnectionLost(error) || UNAVAILABLE_CODES.includes(String(failure.code ?? ''))) return true;
  if (UNAVAILABLE_KINDS.includes(driverCause(failure)?.kind ?? '')) return true;
  const state = sqlState(error) ?? '';
  // The server ends the session, or gives none: at its start even an internal error (XX000) may be a full disk.
  const severity = failure.severity ?? driverCause(failure)?.severity;
  if (severity === 'FATAL' || severity === 'PANIC') return true;
  return OUT_OF_RESOURCES.includes(state) || TIMED_OUT.includes(state) || CONNECT_TIMED_OUT.test(String(failure.message ?? ''));
}

/**
 * The session was cut, the server refused one, its prepared statement is outdated, or the node accepts no writes any more: another
 * session may succeed at once. Time-outs and
 * full pools are not meant, because a repetition would make them worse.
 */
export function isConnectionLost(error: unknown): boolean {
  const failure = error as DriverError | null;
  if (failure === null || typeof failure !== 'object') return false;
  const message = String(failure.message ?? '');
  if (CONNECT_TIMED_OUT.test(message)) return false;
  if (LOST_CODES.includes(String(failure.code ?? '')) || LOST_KINDS.includes(driverCause(failure)?.kind ?? '')) return true;
  const state = sqlState(error) ?? '';
  // 25006: a write on a node that has become a standby. 25P03: the session was idle in a transaction for too long.
  const others = ['25006', '25P03', PLAN_OUTDATED];
  return state.startsWith('08') || state.startsWith('57P') || others.includes(state) || LOST_TEXT.test(message);
}

function driverCause(failure: DriverError): DriverCause | undefined {
  const nested = failure.meta?.driverAdapterError?.cause ?? (failure.cause as DriverCause | undefined);
  return nested && typeof nested === 'object' ? nested : undefined;
}

function describe(error: unknown): string {
  const failure = error as DriverError & { constraint?: string; detail?: string };
  return [
    failure.constraint,
    failure.detail,
    failure.message,
    JSON.stringify(failure.meta ?? null),
    JSON.stringify(driverCause(failure) ?? null),
  ].join(' ');
}

const MAX_ATTEMPTS = 5;

/**
 * Runs one whole transaction, again after a deadlock or a write conflict: the database has rolled it back then. Up to 5 times, with
 * jitter, so that the same callers do not meet again. Inside a transaction it is a part of that transaction, which cannot go on after
 * such an error.
 * @param transaction contains database work only and changes nothing that a rollback leaves
 */
export async function retried<T>(app: App, transaction: () => Promise<T>): Promise<T> {
  if (app.db.begin === null) return transaction();
  for (let attempt = 1; ; attempt++) {
    try {
      return await transaction();
    } catch (error) {
      if (attempt >= MAX_ATTEMPTS || !isRetryable(error)) throw error;
      await new Promise((resolve) => setTimeout(resolve, app.random.int(5, 25 * attempt + 6)));
    }
  }
}

/** With jitter, so that requests that lost their sessions at the same time do not all connect at the same time. */
const PAUSE_MS = { from: 20, to: 100 };

/**
 * Runs work again, once, when its database session was cut (spec 08 L3): the driver takes such a session out of the pool, so the second
 * attempt has another one. A COMMIT may have been carried out although its answer was lost, hence `work` must be a read or must find what
 * its first attempt has stored (an idempotency key, the key of an event). Nothing is repeated inside a transaction, whose session is the
 * one that was lost.
 * @param work must have no effect outside of the database
 * @throws what the second attempt throws; every other error at once
 */
export async function repeatWhenLost<T>(app: App, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (app.db.begin === null || !isConnectionLost(error)) throw error;
    await pauseAfterLoss(app);
    return work();
  }
}

/** The pause before a second attempt. */
export function pauseAfterLoss({ random }: Pick<App, 'random'>): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, random.int(PAUSE_MS.from, PAUSE_MS.to + 1)));
}

/**
 * Runs one SQL statement that is a whole transaction: the database begins and commits it by itself, which saves two round trips of
 * `inTransaction`. Several changes fit into one statement as a SQL function (prisma/sql). After a deadlock or a write conflict it runs
 * again, and after it the readers of events are notified; a statement that records no events needs `retried` alone. Inside a
 * transaction it is a part of that transaction.
 * @param statement sends exactly one statement through `app.db`
 */
export async function committedStatement<T>(app: App, statement: () => Promise<T>): Promise<T> {
  const result = await retried(app, statement);
  // Those of a transaction are announced with its commit.
  if (app.db.begin !== null) app.events.announce();
  return result;
}
