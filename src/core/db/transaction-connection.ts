import { AsyncLocalStorage } from 'node:async_hooks';
import type { SqlDriverAdapterFactory, Transaction } from '@prisma/driver-adapter-utils';
import type { SqlRunner } from './db.ts';

/** The driver's transaction; both adapters keep its connection here, though their types do not say so. */
type DriverTransaction<Connection> = Transaction & { client: Connection };

interface Holder<Connection> {
  transaction: DriverTransaction<Connection> | null;
  isOver: boolean;
}

/**
 * Lets plain SQL run on the connection of a Prisma transaction directly. Through Prisma's raw queries each statement costs as much
 * again as the statement itself and cannot be a prepared one; money moves in transactions of several statements, so the
 * benchmark measures it (docs/performance.md). Prisma still begins, commits, rolls back and times out.
 * @returns runs `work`, in which one transaction is begun: `sql()` gives that transaction's SQL once it has begun, and `over()` says that
 *   nothing may be sent any more
 */
export function holdConnections<Connection>(
  factory: SqlDriverAdapterFactory,
  sqlOn: (connection: Connection) => SqlRunner,
): <T>(work: (sql: () => SqlRunner, over: () => void) => Promise<T>) => Promise<T> {
  const holders = new AsyncLocalStorage<Holder<Connection>>();
  const connect = factory.connect.bind(factory);
  factory.connect = async () => {
    const adapter = await connect();
    const start = adapter.startTransaction.bind(adapter);
    adapter.startTransaction = async (isolationLevel) => {
      const transaction = (await start(isolationLevel)) as DriverTransaction<Connection>;
      const holder = holders.getStore();
      if (holder && holder.transaction === null) hold(holder, transaction);
      return transaction;
    };
    return adapter;
  };
  return (work) => {
    const holder: Holder<Connection> = { transaction: null, isOver: false };
    const sql = () => {
      if (holder.transaction === null) throw new Error('the transaction has no connection');
      return guarded(holder, sqlOn(holder.transaction.client));
    };
    const over = () => {
      holder.isOver = true;
    };
    return holders.run(holder, () => work(sql, over));
  };
}

/** A transaction that ran out of time is rolled back while its work still goes on. */
function hold<Connection>(holder: Holder<Connection>, transaction: DriverTransaction<Connection>): void {
  const rollback = transaction.rollback.bind(transaction);
  transaction.rollback = () => {
    holder.isOver = true;
    return rollback();
  };
  holder.transaction = transaction;
}

/** Once the transaction is over its connection is the pool's again: a late statement would run in somebody else's transaction. */
function guarded<Connection>(holder: Holder<Connection>, sql: SqlRunner): SqlRunner {
  return (text, values) =>
    holder.isOver ? Promise.reject(new Error('the transaction is over; a statement was not awaited in it')) : sql(text, values);
}
