import type { Prisma, PrismaClient } from '../../generated/prisma/client.ts';
import type { LongWork } from './database.ts';
import type { TableVacuum } from './open-embedded.ts';
import type { ReplicaReads } from './replica.ts';
import type { TransactionEffects } from './transaction-effects.ts';

/** Prisma, at the root or inside a transaction. */
export type PrismaDb = PrismaClient | Prisma.TransactionClient;

/**
 * Plain SQL with `$1` placeholders, for hot paths, locks, statistics and SQL functions. Runs on the same connection as
 * `prisma` inside a transaction. Rows come back alike on both databases and under the names of the Prisma fields: a column `user_id` is
 * `userId`, int8 is `number`, numeric `string`, timestamptz `Date`, jsonb parsed (its keys stay as they are). Types of rows and lists of
 * columns come from `columns.ts`.
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
  /** Of the transaction; absent outside of one. */
  readonly effects?: TransactionEffects;
  /** Backups and restores; absent inside a transaction. */
  readonly long?: LongWork;
  /** Embedded database only; absent inside a transaction. */
  readonly vacuum?: TableVacuum;
  /** Where `DATABASE_REPLICA_URL` is set; absent inside a transaction. */
  readonly replica?: ReplicaReads;
  /** Of the standbys' database: the one that can be written. */
  readonly primary?: Db;
}

/** For what a read stores besides: the count of a limit, an entry that is kept for minutes. */
export const primaryOf = (db: Db): Db => db.primary ?? db;
