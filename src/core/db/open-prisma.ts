import { AsyncLocalStorage } from 'node:async_hooks';
import type { SqlDriverAdapterFactory, Transaction } from '@prisma/driver-adapter-utils';
import { type Prisma, PrismaClient } from '../../generated/prisma/client.ts';
import { NO_TRACING, type Tracing } from '../telemetry/tracing.ts';
import type { BeginTransaction, Db, SqlRunner, TransactionWork } from './db.ts';
import { refuseInsideTransaction } from './root-guard.ts';
import { traceAdapter, tracedBegin } from './traced-statements.ts';

export interface WaitLimits {
  /** How long a statement may wait for a connection of the pool. */
  connectMs: number;
  /** How long a transaction may wait until it has begun. */
  beginMs: number;
  /** How long a transaction may take. */
  transactionMs: number;
}

/** What the service allows. Tests that no limit concerns allow more, so that none fails on a busy machine. */
export const WAIT_LIMITS: WaitLimits = { connectMs: 5_000, beginMs: 10_000, transactionMs: 15_000 };

/**
 * Opens Prisma over a driver adapter. Transactions begin on the client itself; use cases get as root an extended client that
 * refuses every operation made from inside an open transaction.
 * @param options.sqlOn runs plain SQL on the driver's connection of a transaction
 * @param options.checksBeforeCommit the driver loses an error that COMMIT itself raises (deferred constraints, such as the job
 *   queue's), so they are checked by a statement of its own before it
 */
export function openPrisma<Connection>(
  adapter: NonNullable<Prisma.PrismaClientOptions['adapter']>,
  options: {
    sqlOn: (connection: Connection) => SqlRunner;
    checksBeforeCommit?: boolean;
    limits?: WaitLimits;
    tracing?: Tracing | undefined;
  },
): Pick<Db, 'prisma' | 'begin'> & { disconnect(): Promise<void> } {
  const { beginMs, transactionMs } = options.limits ?? WAIT_LIMITS;
  const { tracing = NO_TRACING } = options;
  if (tracing.isOn) traceAdapter(adapter, tracing);
  const connections = trackTransactionConnections(adapter, options.sqlOn);
  const client = new PrismaClient({ adapter, errorFormat: 'minimal' });
  const guarded = client.$extends({
    query: {
      $allOperations({ args, query, model, operation }) {
        refuseInsideTransaction(`${model ?? 'prisma'}.${operation}`);
        return query(args);
      },
    },
  });
  const begin: BeginTransaction = (fn) => {
    const work = options.checksBeforeCommit ? withChecks(fn) : fn;
    return connections.run(({ sql, close }) =>
      client.$transaction((tx) => work(tx, sql()).finally(close), { maxWait: beginMs, timeout: transactionMs }),
    );
  };
  return {
    // The extension changes no types: one `Db` serves root and transaction.
    prisma: guarded as unknown as PrismaClient,
    begin: tracing.isOn ? tracedBegin(begin, tracing) : begin,
    disconnect: () => client.$disconnect(),
  };
}

function withChecks<T>(fn: TransactionWork<T>): TransactionWork<T> {
  return async (tx, sql) => {
    const result = await fn(tx, sql);
    await sql('SET CONSTRAINTS ALL IMMEDIATE');
    return result;
  };
}

// The only file that relies on internals of Prisma and of its driver adapters. Everything it assumes beyond their types:
//
// 1. Prisma calls `startTransaction` of the adapter in the async context of the `$transaction` call.
// 2. A transaction of the adapter keeps the driver's connection in the field `client`, and the connection has a method `query`.
// 3. Prisma ends a transaction that ran out of time on that same object: by the statement `ROLLBACK` and then `rollback()`, or by
//    `rollback()` alone.
//
// `tests/unit/core/adapter-internals.test.ts` checks each of them on the installed versions.

/** Returns plain SQL on the connection of a transaction that Prisma has begun. */
interface TransactionConnections {
  /** Runs `work`, in which exactly one transaction is begun through Prisma. */
  run<T>(work: (connection: TransactionConnection) => Promise<T>): Promise<T>;
}

export interface TransactionConnection {
  /**
   * @returns plain SQL in this transaction; its statements are rejected once the transaction is over
   * @throws Error naming the assumption that does not hold, see above, or when no transaction has begun yet
   */
  sql(): SqlRunner;
  /** Says that the transaction is over: the connection belongs to the pool again. */
  close(): void;
}

interface Slot {
  transaction: Transaction | null;
  isOver: boolean;
  /** Prisma ended the transaction itself. While its work goes on, the only reason is that the time is over. */
  isRolledBack: boolean;
}

/**
 * Lets plain SQL run on the connection of a Prisma transaction directly. Through Prisma's raw queries each statement costs as much
 * again as the statement itself and cannot be a prepared one; money moves in transactions of several statements, so the
 * benchmark measures it (docs/performance.md). Prisma still begins, commits, rolls back and times out.
 * @param factory is changed: the adapters that it makes record the transactions that they begin
 * @param sqlOn makes plain SQL out of the driver's connection
 */
export function trackTransactionConnections<Connection>(
  factory: SqlDriverAdapterFactory,
  sqlOn: (connection: Connection) => SqlRunner,
): TransactionConnections {
  const slots = new AsyncLocalStorage<Slot>();
  const connect = factory.connect.bind(factory);
  factory.connect = async () => {
    const adapter = await connect();
    const start = adapter.startTransaction.bind(adapter);
    adapter.startTransaction = async (isolationLevel) => {
      const transaction = await start(isolationLevel);
      const slot = slots.getStore();
      if (slot && slot.transaction === null) fill(slot, transaction);
      return transaction;
    };
    return adapter;
  };
  return {
    run: (work) => {
      const slot: Slot = { transaction: null, isOver: false, isRolledBack: false };
      const sql = () => {
        if (slot.transaction === null) {
          throw new Error(
            'no transaction was begun in this async context: did Prisma stop calling startTransaction inside $transaction?',
          );
        }
        return untilOver(slot, sqlOn(connectionOf<Connection>(slot.transaction)));
      };
      const close = () => {
        slot.isOver = true;
      };
      return slots.run(slot, () => work({ sql, close }));
    },
  };
}

/**
 * The driver's connection of a transaction, which no type of the adapters promises.
 * @throws Error that names the adapter and the fields that its transaction has instead
 */
function connectionOf<Connection>(transaction: Transaction): Connection {
  const { client } = transaction as { client?: { query?: unknown } };
  if (typeof client?.query === 'function') return client as Connection;
  const found =
    client === undefined ? `its fields are: ${Object.keys(transaction).join(', ')}` : '`client` has no method `query`';
  throw new Error(
    `a transaction of ${transaction.adapterName} no longer keeps the driver's connection in \`client\` (${found}); ` +
      'has its version changed? src/core/db/open-prisma.ts must follow',
  );
}

/** A transaction that ran out of time is rolled back by Prisma while its work still goes on. */
function fill(slot: Slot, transaction: Transaction): void {
  const rollback = transaction.rollback.bind(transaction);
  transaction.rollback = () => {
    setRolledBack(slot);
    return rollback();
  };
  const execute = transaction.executeRaw.bind(transaction);
  transaction.executeRaw = (query) => {
    if (query.sql === 'ROLLBACK') setRolledBack(slot);
    return execute(query);
  };
  slot.transaction = transaction;
}

function setRolledBack(slot: Slot): void {
  if (slot.isOver) return;
  slot.isOver = true;
  slot.isRolledBack = true;
}

/**
 * A late statement would be queued behind ROLLBACK and commit by itself, or, the connection being the pool's again, run in the
 * transaction of another caller.
 */
function untilOver(slot: Slot, sql: SqlRunner): SqlRunner {
  return (text, values) => (slot.isOver ? Promise.reject(lateStatement(slot)) : sql(text, values));
}

/** With Prisma's code for a transaction that took too long, where that is the reason: the caller answers with 503. */
function lateStatement({ isRolledBack }: Slot): Error {
  if (isRolledBack) return Object.assign(new Error('the transaction is over: it took too long'), { code: 'P2028' });
  return new Error('the transaction is over; a statement was not awaited in it');
}
