import { beforeAll, describe, expect, test } from 'vitest';
import type { SqlRunner } from '../../../src/core/db/db.ts';
import { inTransaction } from '../../../src/core/db/transaction.ts';
import { storeRow } from '../../support/stored-rows.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

describe('plain SQL inside a transaction', () => {
  let t: TestApp;
  beforeAll(async () => {
    t = await testApp();
  });

  const transactionId = async (sql: SqlRunner) => (await sql<{ id: string }>('SELECT txid_current()::text AS id'))[0]!.id;

  test('runs in the same transaction as Prisma', async () => {
    const [plain, prisma] = await inTransaction(t.app, async ({ db }) => [
      await transactionId(db.sql),
      (await db.prisma.$queryRawUnsafe<{ id: string }[]>('SELECT txid_current()::text AS id'))[0]!.id,
    ]);
    expect(plain).toBe(prisma);
  });

  test('two at once have a connection each', async () => {
    const ids = await Promise.all([1, 2, 3].map(() => inTransaction(t.app, ({ db }) => transactionId(db.sql))));
    expect(new Set(ids).size).toBe(3);
  });

  test('a statement after the end is refused, after a commit and after a rollback', async () => {
    let kept: SqlRunner | null = null;
    await inTransaction(t.app, async ({ db }) => {
      kept = db.sql;
    });
    await expect(transactionId(kept!)).rejects.toThrow('the transaction is over');
    const failing = inTransaction(t.app, async ({ db }) => {
      kept = db.sql;
      throw new Error('undo');
    });
    await expect(failing).rejects.toThrow('undo');
    await expect(transactionId(kept!)).rejects.toThrow('the transaction is over');
  });

  test('what failed in plain SQL is rolled back with what Prisma wrote', async () => {
    const key = `held-${t.app.random.int(1, 1_000_000)}`;
    const failing = inTransaction(t.app, async (tx) => {
      await storeRow(tx, 'ServiceState', { key, value: 1 });
      await storeRow(tx, 'ServiceState', { key, value: 2 });
    });
    await expect(failing).rejects.toMatchObject({ code: '23505' });
    expect(await t.app.db.sql('SELECT 1 AS one FROM service_state WHERE key = $1', [key])).toEqual([]);
  });
});
