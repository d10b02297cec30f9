import type { PGlite } from '@electric-sql/pglite';
import type { Pool } from 'pg';
import pg from 'pg';
import type { Prisma } from '../../generated/prisma/client.ts';
import type { SqlRunner } from './db.ts';
import { refuseInsideTransaction } from './root-guard.ts';

const INT8 = 20;
const NUMERIC = 1700;
const textOf = (value: string) => value;

/** int8 as number (our ids and kopeks stay below 2^53), numeric as text, everything else as node-postgres does. */
const serverTypes = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') => {
    if (oid === INT8) return Number;
    if (oid === NUMERIC) return textOf;
    return pg.types.getTypeParser(oid, format as 'text');
  }) as typeof pg.types.getTypeParser,
};

/** Plain SQL on a pool, as prepared statements with these names. */
export function poolSqlRunner(pool: Pool, nameOf: (text: string) => string): SqlRunner {
  return async <Row extends object>(text: string, values: readonly unknown[] = []) => {
    refuseInsideTransaction('sql');
    const result = await pool.query({ name: nameOf(text), text, values: values as unknown[], types: serverTypes });
    return result.rows as Row[];
  };
}

/** Plain SQL on the embedded database. */
export function embeddedSqlRunner(database: PGlite): SqlRunner {
  const parsers = { [INT8]: Number, [NUMERIC]: textOf };
  return async <Row extends object>(text: string, values: readonly unknown[] = []) => {
    refuseInsideTransaction('sql');
    const result = await database.query(text, values as unknown[], { parsers });
    return result.rows as Row[];
  };
}

/** Plain SQL on the connection of an interactive Prisma transaction. */
export function transactionSqlRunner(tx: Prisma.TransactionClient): SqlRunner {
  return async <Row extends object>(text: string, values: readonly unknown[] = []) => {
    const rows = await tx.$queryRawUnsafe<Record<string, unknown>[]>(text, ...values);
    for (const row of rows) {
      for (const key in row) {
        const value = row[key];
        if (typeof value === 'bigint') row[key] = Number(value);
        else if (isDecimal(value)) row[key] = value.toString();
      }
    }
    return rows as Row[];
  };
}

function isDecimal(value: unknown): value is { toString(): string } {
  return typeof value === 'object' && value !== null && 'toDecimalPlaces' in value;
}
