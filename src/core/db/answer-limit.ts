import type { Socket } from 'node:net';
import pg from 'pg';
import { HOUR_MS } from '../clock.ts';

/** How much longer than the server's own limit of a statement its answer may take; then the server, or the way to it, is silent. */
export const ANSWER_GRACE_MS = 5_000;
/** The limit of an answer where the server has none: migrations, backups, restores. */
export const LONG_ANSWER_MS = HOUR_MS;

/**
 * Keeps a connection alive, and finds out that the way to the server is lost, also where an answer may take an hour: probes begin after so many
 * milliseconds without traffic (the system's own default is two hours).
 */
export const KEEP_ALIVE = { keepAlive: true, keepAliveInitialDelayMillis: 15_000 } as const;

export interface ServerClientOptions {
  url: string;
  /** Shown by `pg_stat_activity`. */
  name: string;
  connectMs: number;
  answerMs: number;
}

/** A connection beside the pool; not connected yet. */
export function serverClient({ url, name, connectMs, answerMs }: ServerClientOptions): pg.Client {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: connectMs,
    query_timeout: answerMs,
    ...KEEP_ALIVE,
    application_name: name,
  });
  destroyWhenSilent(client);
  return client;
}

export interface StatementEnds {
  answer?: () => void;
  failure?: (error: unknown, name: string) => void;
}

type Done = (error: Error | null | undefined, result: unknown) => void;

/**
 * Makes a connection end when an answer did not come within its `query_timeout` (spec 10 F1). The driver rejects the statement and keeps the
 * connection, which still waits for the answer: ROLLBACK and everything after it would wait as long again, for ever where the route to the
 * server is lost without a reset. The error gets the code of a time-out, so that it is classified like one (db-errors.ts).
 * @param on.answer called after every statement that the server answered
 * @param on.failure called with the name of a prepared statement that failed
 */
export function destroyWhenSilent(client: pg.ClientBase, on: StatementEnds = {}): void {
  const settle = (error: unknown, statement: unknown): void => {
    on.failure?.(error, (statement as { name?: string }).name ?? '');
    if (!(error instanceof Error) || error.message !== 'Query read timeout') return;
    Object.assign(error, { code: 'ETIMEDOUT' });
    (client as unknown as { connection: { stream: Socket } }).connection.stream.destroy();
  };
  // Looked up at each call: instrumentation that is put on the prototype of the driver later, as the tests do, records these statements too.
  const query = (...args: unknown[]): unknown => Reflect.apply(pg.Client.prototype.query, client, args);
  client.query = ((...args: unknown[]) => {
    const done = args.at(-1);
    if (typeof done === 'function') {
      const wrapped: Done = (error, result) => {
        if (error) settle(error, args[0]);
        else on.answer?.();
        (done as Done)(error, result);
      };
      return query(...args.slice(0, -1), wrapped);
    }
    const answer = query(...args);
    return answer instanceof Promise
      ? answer.then(
          (result) => {
            on.answer?.();
            return result;
          },
          (error: unknown) => {
            settle(error, args[0]);
            throw error;
          },
        )
      : answer;
  }) as pg.ClientBase['query'];
}
