import { describe, expect, test } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { repeatWhenLost } from '../../../src/core/db/db-errors.ts';
import { systemRandom } from '../../../src/core/random.ts';

const root = { db: { begin: async () => undefined }, random: systemRandom } as unknown as App;
const inTransaction = { ...root, db: { begin: null } } as unknown as App;
const cut = () => new Error('Connection terminated unexpectedly');
const slow = () => Object.assign(new Error('canceling statement due to statement timeout'), { code: '57014' });

/** Work that fails with these errors, one an attempt, and then succeeds. */
function failing(...errors: Error[]) {
  const attempts = { count: 0 };
  const work = async () => {
    attempts.count += 1;
    const error = errors.shift();
    if (error) throw error;
    return 'done';
  };
  return { attempts, work };
}

describe('spec 08 L3: work whose session was cut', () => {
  test('is done by a second attempt', async () => {
    const { attempts, work } = failing(cut());
    expect(await repeatWhenLost(root, work)).toBe('done');
    expect(attempts.count).toBe(2);
  });

  test('is attempted twice, not more often', async () => {
    const { attempts, work } = failing(cut(), cut());
    await expect(repeatWhenLost(root, work)).rejects.toThrow('Connection terminated');
    expect(attempts.count).toBe(2);
  });

  test('is attempted once after a time-out, after a refusal and inside a transaction', async () => {
    for (const [app, error] of [
      [root, slow()],
      [root, new Error('Insufficient balance')],
      [inTransaction, cut()],
    ] as const) {
      const { attempts, work } = failing(error);
      await expect(repeatWhenLost(app, work)).rejects.toBe(error);
      expect(attempts.count).toBe(1);
    }
  });
});
