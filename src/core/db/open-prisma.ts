import { type Prisma, PrismaClient } from '../../generated/prisma/client.ts';
import type { Db, SqlRunner, TransactionWork } from './db.ts';
import { refuseInsideTransaction } from './root-guard.ts';
import { holdConnections } from './transaction-connection.ts';

/** How long a transaction may wait for a connection, and how long it may take. */
const MAX_WAIT_MS = 10_000;
const TIMEOUT_MS = 15_000;

/**
 * Opens Prisma over a driver adapter. Transactions begin on the client itself; use cases get as root an extended client that
 * refuses every operation made from inside an open transaction.
 * @param options.sqlOn runs plain SQL on the driver's connection of a transaction
 * @param options.checksBeforeCommit the driver loses an error that COMMIT itself raises (deferred constraints, such as the job
 *   queue's), so they are checked by a statement of its own before it
 */
export function openPrisma<Connection>(
  adapter: NonNullable<Prisma.PrismaClientOptions['adapter']>,
  options: { sqlOn: (connection: Connection) => SqlRunner; checksBeforeCommit?: boolean },
): Pick<Db, 'prisma' | 'begin'> & { disconnect(): Promise<void> } {
  const withConnection = holdConnections(adapter, options.sqlOn);
  const client = new PrismaClient({ adapter, errorFormat: 'minimal' });
  const guarded = client.$extends({
    query: {
      $allOperations({ args, query, model, operation }) {
        refuseInsideTransaction(`${model ?? 'prisma'}.${operation}`);
        return query(args);
      },
    },
  });
  return {
    // The extension changes no types: one `Db` serves root and transaction.
    prisma: guarded as unknown as PrismaClient,
    begin: (fn) => {
      const work = options.checksBeforeCommit ? withChecks(fn) : fn;
      return withConnection((sql, over) =>
        client.$transaction((tx) => work(tx, sql()).finally(over), { maxWait: MAX_WAIT_MS, timeout: TIMEOUT_MS }),
      );
    },
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
