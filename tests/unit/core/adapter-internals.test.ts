/**
 * What `transaction-connection.ts` assumes of the installed versions of Prisma and its driver adapters. A test that fails here after an
 * update names what has changed. The drivers are fakes: they record what the adapters send.
 */
import type { PGlite } from '@electric-sql/pglite';
import { PrismaPg } from '@prisma/adapter-pg';
import type { SqlDriverAdapterFactory, Transaction } from '@prisma/driver-adapter-utils';
import pg from 'pg';
import { PrismaPGlite } from 'pglite-prisma-adapter';
import { describe, expect, test } from 'vitest';
import type { SqlRunner } from '../../../src/core/db/db.ts';
import { type TransactionConnection, trackTransactionConnections } from '../../../src/core/db/open-prisma.ts';
import { PrismaClient } from '../../../src/generated/prisma/client.ts';

const NO_ROWS = { rows: [], fields: [], rowCount: 0, affectedRows: 0 };

interface FakeDriver {
  factory: SqlDriverAdapterFactory;
  /** What the driver gives the adapter for one transaction. */
  connection: object;
  /** Resolves when the adapter gives up the transaction. */
  rolledBack: Promise<void>;
}

function fakeServer(): FakeDriver {
  const { promise: rolledBack, resolve } = Promise.withResolvers<void>();
  const connection = {
    query: async ({ text }: { text: string }) => {
      // The driver still waits for the server's answer: the connection is not the pool's yet.
      if (text === 'ROLLBACK') resolve();
      return NO_ROWS;
    },
    on: () => undefined,
    removeListener: () => undefined,
    release: () => undefined,
  };
  const pool = Object.assign(new pg.Pool(), { connect: async () => connection });
  return { factory: new PrismaPg(pool), connection, rolledBack };
}

function fakeEmbedded(): FakeDriver {
  const { promise: rolledBack, resolve } = Promise.withResolvers<void>();
  const connection = { query: async () => NO_ROWS, rollback: async () => resolve() };
  const database = { transaction: (work: (tx: object) => Promise<void>) => Promise.resolve(connection).then(work) };
  return { factory: new PrismaPGlite(database as unknown as PGlite), connection, rolledBack };
}

const sent: SqlRunner = async () => [];

describe.each([
  ['@prisma/adapter-pg', fakeServer],
  ['pglite-prisma-adapter', fakeEmbedded],
])('%s', (_name, fakeDriver) => {
  test('Prisma begins the transaction in the async context of the call, and it holds the connection in `client`', async () => {
    const { factory, connection } = fakeDriver();
    const used: object[] = [];
    const connections = trackTransactionConnections<object>(factory, (driverConnection) => {
      used.push(driverConnection);
      return sent;
    });
    const client = new PrismaClient({ adapter: factory });
    await connections.run(({ sql }) => client.$transaction(async () => void sql()));
    expect(used).toEqual([connection]);
    expect(used[0]).toBe(connection);
  });

  test('Prisma ends a transaction that ran out of time by its `rollback`', async () => {
    const { factory, rolledBack } = fakeDriver();
    const connections = trackTransactionConnections<object>(factory, () => sent);
    const client = new PrismaClient({ adapter: factory });
    const { promise: late, resolve: setLate } = Promise.withResolvers<SqlRunner>();
    const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>();
    const timedOut = connections
      .run(({ sql }) =>
        client.$transaction(
          async () => {
            setLate(sql());
            await mayEnd;
          },
          { timeout: 20 },
        ),
      )
      .catch((error: unknown) => error);
    const sql = await late;
    await rolledBack;
    await expect(sql('SELECT 1')).rejects.toThrow('the transaction is over');
    end();
    expect(String(await timedOut)).toMatch(/expired transaction|Transaction already closed/i);
  });
});

describe('an adapter that has changed', () => {
  const begun = (transaction: object) => {
    const fields = {
      adapterName: 'adapter-of-tomorrow',
      rollback: async () => undefined,
      executeRaw: async () => 0,
      ...transaction,
    };
    const adapter = { startTransaction: async () => fields };
    const factory = { connect: async () => adapter } as unknown as SqlDriverAdapterFactory;
    const connections = trackTransactionConnections<object>(factory, () => sent);
    return connections.run(async (connection: TransactionConnection) => {
      const started: Transaction = await (await factory.connect()).startTransaction();
      expect(started.adapterName).toBe('adapter-of-tomorrow');
      return connection.sql();
    });
  };

  test('with the connection in `client` it works', async () => {
    expect(await begun({ client: { query: () => undefined } })).toBeTypeOf('function');
  });

  test('with the connection in another field it is named together with the fields found', async () => {
    await expect(begun({ connection: {} })).rejects.toThrow(
      "a transaction of adapter-of-tomorrow no longer keeps the driver's connection in `client` (its fields are: adapterName, rollback, executeRaw, connection)",
    );
  });

  test('with another kind of connection it says what is missing', async () => {
    await expect(begun({ client: { run: () => undefined } })).rejects.toThrow('`client` has no method `query`');
  });

  test('with a transaction begun elsewhere it says so', async () => {
    const factory = { connect: async () => ({}) } as unknown as SqlDriverAdapterFactory;
    const connections = trackTransactionConnections<object>(factory, () => sent);
    await expect(connections.run(async ({ sql }) => sql())).rejects.toThrow('no transaction was begun in this async context');
  });
});
