/** What `scripts/shrink-prisma-client.mjs` leaves of the generated client: values of queries and writes are parameters of a cached plan. */
import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import { expect, test, vi } from 'vitest';
import { PrismaClient } from '../../../src/generated/prisma/client.ts';

/** Without types of its own; in a variable, so that the compiler does not look for them. */
const COMPILER = '@prisma/client/runtime/query_compiler_fast_bg.postgresql.mjs';
const NO_ROWS = { rows: [], fields: [], rowCount: 0 };

test('a query and a write are compiled once, whatever their values are', async () => {
  const pool = Object.assign(new pg.Pool(), { query: async () => NO_ROWS });
  const client = new PrismaClient({ adapter: new PrismaPg(pool) });
  const { QueryCompiler } = (await import(COMPILER)) as { QueryCompiler: { prototype: { compile(query: string): unknown } } };
  const compile = vi.spyOn(QueryCompiler.prototype, 'compile');
  const day = new Date('2026-01-01T00:00:00Z');
  for (const [id, name] of [
    [1, 'first'],
    [2, 'second'],
  ] as const) {
    await client.apiToken.findMany({ where: { id: { in: [id, 7] }, name, createdAt: { lt: day } } });
    await client.apiToken.updateMany({ where: { id }, data: { name } });
    await client.apiToken.create({ data: { name, tokenHash: `${name}-hash`, tokenPrefix: `${name}-` } });
    await client.tariff.findMany({
      where: { subscriptions: { some: { userId: id } } },
      include: { subscriptions: { where: { id } } },
    });
  }
  const compiled = compile.mock.calls.map(([query]) => (JSON.parse(query) as { action: string }).action);
  compile.mockRestore();
  expect(compiled.sort()).toEqual(['createOne', 'findMany', 'findMany', 'updateMany']);
});
