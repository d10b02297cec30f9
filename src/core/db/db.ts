import type { Prisma, PrismaClient } from '../../generated/prisma/client.ts';

/** Prisma, at the root or inside a transaction. */
export type PrismaDb = PrismaClient | Prisma.TransactionClient;

/**
 * Plain SQL with `$1` placeholders, for hot paths, locks, statistics and SQL functions. Runs on the same connection as
 * `prisma` inside a transaction. Rows come back alike on both databases: int8 as `number`, timestamptz as `Date`, jsonb parsed.
 */
export type SqlRunner = <Row extends object>(text: string, values?: readonly unknown[]) => Promise<Row[]>;

/** Opens one interactive transaction, as Prisma and as plain SQL on its connection; only `inTransaction` calls it. */
export type BeginTransaction = <T>(work: TransactionWork<T>) => Promise<T>;

export type TransactionWork<T> = (tx: Prisma.TransactionClient, sql: SqlRunner) => Promise<T>;

export interface Db {
  readonly prisma: PrismaDb;
  readonly sql: SqlRunner;
  /** Null inside a transaction: they do not nest, callers join. */
  readonly begin: BeginTransaction | null;
}
