/** One SQL function claims idempotency keys, in one form (spec 00, Consistency). */
import { expect, test } from 'vitest';
import { MINUTE_MS } from '../../../src/core/clock.ts';
import { unique } from '../../support/builders.ts';
import { testApp } from '../../support/test-app.ts';

const { app } = await testApp();
const NOW = new Date('2026-05-01T12:00:00Z');

interface Claim {
  claimed: boolean;
  operation: string | null;
}

async function claim(key: string | null, { at = NOW, body = 'a', abandonedBefore = null as Date | null } = {}): Promise<Claim> {
  const [row] = await app.db.sql<Claim>(
    `SELECT c.claimed, (c.known).operation AS operation FROM claim_key('test', $1, 'op', $2, $3::timestamptz, $4::timestamptz) c`,
    [key, body, at, abandonedBefore],
  );
  return row!;
}

test('no other function writes a key', async () => {
  const rows = await app.db.sql<{ name: string }>(
    `SELECT proname AS name FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND prosrc ~* 'insert\\s+into\\s+idempotency_keys'`,
  );
  expect(rows).toEqual([{ name: 'claim_key' }]);
});

test('the first claim of a key is made, a second answers the row, and without a key each is made', async () => {
  const key = String(unique());
  expect(await claim(key)).toEqual({ claimed: true, operation: null });
  expect(await claim(key)).toEqual({ claimed: false, operation: 'op' });
  expect(await claim(null)).toEqual({ claimed: true, operation: null });
  expect(await claim(null)).toEqual({ claimed: true, operation: null });
});

test('a key without an answer is taken over by the same request when it is old enough, and then is new', async () => {
  const key = String(unique());
  await claim(key, { at: new Date(NOW.getTime() - 5 * MINUTE_MS) });
  expect(await claim(key)).toMatchObject({ claimed: false });
  const abandonedBefore = new Date(NOW.getTime() - 2 * MINUTE_MS);
  expect(await claim(key, { abandonedBefore, body: 'another' })).toMatchObject({ claimed: false });
  expect(await claim(key, { abandonedBefore })).toMatchObject({ claimed: true });
  expect(await claim(key, { abandonedBefore })).toMatchObject({ claimed: false });
});
