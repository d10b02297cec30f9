import { type Prisma, PrismaClient } from '../../generated/prisma/client.ts';
import { NO_TRACING, type Tracing } from '../telemetry/tracing.ts';
import type { BeginTransaction, Db, SqlRunner, TransactionWork } from './db.ts';
import { refuseInsideTransaction } from './root-guard.ts';
import { traceAdapter, tracedBegin } from './traced-statements.ts';
import { trackTransactionConnections } from './transaction-connection.ts';

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
