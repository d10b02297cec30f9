import { type Prisma, PrismaClient } from '../../generated/prisma/client.ts';
import type { Db } from './db.ts';
import { refuseInsideTransaction } from './root-guard.ts';

/** How long a transaction may wait for a connection, and how long it may take. */
const MAX_WAIT_MS = 10_000;
const TIMEOUT_MS = 15_000;

/**
 * Opens Prisma over a driver adapter. Transactions begin on the bare client; what use cases get as root is an extended one that
 * refuses every operation made from inside an open transaction.
 */
export function openPrisma(adapter: NonNullable<Prisma.PrismaClientOptions['adapter']>): Pick<Db, 'prisma' | 'begin'> & {
  disconnect(): Promise<void>;
} {
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
    begin: (fn) => client.$transaction(fn, { maxWait: MAX_WAIT_MS, timeout: TIMEOUT_MS }),
    disconnect: () => client.$disconnect(),
  };
}
