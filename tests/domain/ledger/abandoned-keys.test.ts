import { expect, test } from 'vitest';
import { MINUTE_MS } from '../../../src/core/clock.ts';
import { runOnceAround } from '../../../src/domain/ledger/run-once.ts';
import { unique } from '../../support/builders.ts';
import { testApp } from '../../support/test-app.ts';

const actor = { kind: 'token', id: 1, name: 'test' } as never;

/** A caller whose process ended between its two transactions: the key is claimed, and nobody will store an answer. */
async function anAbandonedKey() {
  const { app, clock } = await testApp();
  const once = { key: `once-${unique()}`, operation: 'test.pay', input: { kopeks: 100 } };
  const run = (change: Partial<typeof once> = {}, answer = 'second') =>
    runOnceAround(
      app,
      actor,
      { ...once, ...change },
      async () => answer,
      async (prepared) => prepared,
    );
  void runOnceAround(
    app,
    actor,
    once,
    async () => 'first',
    () => new Promise<string>(() => undefined),
  ).catch(() => undefined);
  const claimed = () => app.db.sql('SELECT key FROM idempotency_keys WHERE key = $1', [once.key]);
  while ((await claimed()).length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  return { clock, run };
}

test('spec 10 G2: an abandoned key is taken over by a repeat of the same request, two minutes later and once', async () => {
  const { clock, run } = await anAbandonedKey();
  await expect(run()).rejects.toMatchObject({ status: 409 });
  clock.advance(2 * MINUTE_MS);
  await expect(run()).rejects.toMatchObject({ status: 409 });
  clock.advance(1);
  expect(await run()).toBe('second');
  clock.advance(2 * MINUTE_MS + 1);
  expect(await run({}, 'third')).toBe('second');
});

test('spec 10 G2: nor another body nor another operation takes it over', async () => {
  const { clock, run } = await anAbandonedKey();
  clock.advance(3 * MINUTE_MS);
  await expect(run({ input: { kopeks: 101 } })).rejects.toMatchObject({ status: 422 });
  await expect(run({ operation: 'test.other' })).rejects.toMatchObject({ status: 422 });
  expect(await run()).toBe('second');
});
