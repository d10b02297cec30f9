import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * Marks the asynchronous flow of an open transaction. A query on the root connection from inside one would wait for itself
 * on the embedded database and silently run outside of the transaction on a server, so the guard refuses it on both.
 */
const openTransaction = new AsyncLocalStorage<true>();

export function runInsideTransaction<T>(fn: () => Promise<T>): Promise<T> {
  return openTransaction.run(true, fn);
}

/** Runs `fn` as if no transaction were open: for work that is started here and outlives the transaction (timers, workers). */
export function runOutsideTransaction<T>(fn: () => T): T {
  return openTransaction.exit(fn);
}

/** @throws Error when a transaction is open in this flow: the caller used the root `App` instead of the transaction's. */
export function refuseInsideTransaction(what: string): void {
  if (openTransaction.getStore()) {
    throw new Error(`${what} was called on the root database inside a transaction; use the App handed to inTransaction()`);
  }
}
