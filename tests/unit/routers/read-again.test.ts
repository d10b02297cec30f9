import { TRPCError } from '@trpc/server';
import { describe, expect, test } from 'vitest';
import type { Db } from '../../../src/core/db/db.ts';
import { AppError } from '../../../src/core/errors.ts';
import { systemRandom } from '../../../src/core/random.ts';
import type { Context } from '../../../src/routers/context.ts';
import type { OperationMeta } from '../../../src/routers/operation-meta.ts';
import { readAgainWhenLost } from '../../../src/routers/read-again.ts';

const done = { ok: true } as const;
const failed = (cause: unknown) =>
  ({ ok: false, error: Object.assign(new TRPCError({ code: 'INTERNAL_SERVER_ERROR' }), { cause }) }) as const;
const cut = failed(Object.assign(new Error('terminating connection'), { code: '57P01' }));
const slow = failed(Object.assign(new Error('canceling statement'), { code: '57014' }));

/** Runs an operation whose attempts end like this. @returns the result and how many attempts there were */
async function run(type: 'query' | 'mutation', meta: OperationMeta, ...ends: (typeof done | ReturnType<typeof failed>)[]) {
  let attempts = 0;
  const app = { random: systemRandom, db: {} } as Context['app'];
  const result = await readAgainWhenLost({ type, meta }, { app }, async () => ends[attempts++]!);
  return { ok: result.ok, attempts };
}

test('spec 08 L3: a read is attempted twice when its session was cut', async () => {
  expect(await run('query', {}, cut, done)).toEqual({ ok: true, attempts: 2 });
  expect(await run('query', {}, cut, cut, done)).toEqual({ ok: false, attempts: 2 });
});

test('everything else is attempted once', async () => {
  const once = { ok: false, attempts: 1 };
  expect(await run('query', {}, slow, done)).toEqual(once);
  expect(await run('query', {}, failed(undefined), done)).toEqual(once);
  expect(await run('query', { writes: true }, cut, done)).toEqual(once);
  expect(await run('mutation', {}, cut, done)).toEqual(once);
  expect(await run('mutation', { idempotent: true }, cut, done)).toEqual(once);
  expect(await run('query', {}, done)).toEqual({ ok: true, attempts: 1 });
});

describe('spec 08 S10: a list is read from a standby', () => {
  const list: OperationMeta = { auth: 'KEY', openapi: { method: 'GET', path: '/users', tags: ['users'], summary: 'Users' } };
  const standby = { prisma: {}, sql: {}, begin: null } as unknown as Db;

  /** @returns the databases that the attempts were made on, and the failures that the standbys were notified of */
  async function readings(
    { meta = list, isUsable = true, type = 'query' }: { meta?: OperationMeta; isUsable?: boolean; type?: 'query' | 'mutation' },
    ...ends: (typeof done | ReturnType<typeof failed>)[]
  ) {
    const failures: unknown[] = [];
    const replica = { db: standby, isUsable: () => isUsable, failed: (error: unknown) => failures.push(error) };
    const app = { random: systemRandom, db: { replica } } as unknown as Context['app'];
    const places: string[] = [];
    const { ok } = await readAgainWhenLost({ type, meta }, { app }, async ({ app: { db } }) => {
      places.push(db === standby ? 'standby' : 'primary');
      return ends[places.length - 1]!;
    });
    return { ok, places, failures };
  }

  test('and from the primary where that fails, whatever the reason', async () => {
    expect(await readings({}, done)).toEqual({ ok: true, places: ['standby'], failures: [] });
    const reason = new Error('the standby has not replayed');
    expect(await readings({}, failed(reason), done)).toEqual({ ok: true, places: ['standby', 'primary'], failures: [reason] });
    expect(await readings({}, failed(reason), cut, done)).toMatchObject({ ok: true, places: ['standby', 'primary', 'primary'] });
  });

  test('but a refusal is the answer', async () => {
    const refused = failed(new AppError('user_not_found', 404, 'User not found'));
    expect(await readings({}, refused)).toEqual({ ok: false, places: ['standby'], failures: [] });
  });

  test.each([
    ['while no standby can be used', { isUsable: false }],
    ['a change', { type: 'mutation' as const }],
    ['a read that stores something', { meta: { ...list, writes: true } }],
    ['one thing by its id', { meta: { ...list, openapi: { ...list.openapi!, path: '/users/{user_id}' as const } } }],
    ['the reads of a customer', { meta: { ...list, auth: 'JWT' as const } }],
    ['what is about the primary', { meta: { ...list, replicas: false as const } }],
  ])('and never %s', async (_what, options) => {
    expect((await readings(options, done)).places).toEqual(['primary']);
  });
});
