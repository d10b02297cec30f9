import { expect, test } from 'vitest';
import { systemRandom } from '../../../src/core/random.ts';
import type { Context } from '../../../src/routers/context.ts';
import type { OperationMeta } from '../../../src/routers/operation-meta.ts';
import { readAgainWhenLost } from '../../../src/routers/read-again.ts';

const ctx = { app: { random: systemRandom } as Context['app'] };
const done = { ok: true } as const;
const failed = (cause: unknown) => ({ ok: false, error: { cause } }) as const;
const cut = failed(Object.assign(new Error('terminating connection'), { code: '57P01' }));
const slow = failed(Object.assign(new Error('canceling statement'), { code: '57014' }));

/** Runs an operation whose attempts end like this. @returns the result and how many attempts there were */
async function run(type: 'query' | 'mutation', meta: OperationMeta, ...ends: (typeof done | ReturnType<typeof failed>)[]) {
  let attempts = 0;
  const result = await readAgainWhenLost({ ctx, type, meta }, async () => ends[attempts++]!);
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
