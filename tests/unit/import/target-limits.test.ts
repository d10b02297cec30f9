/** Spec 07 section 9: a server with a small table of locks is found before anything is loaded. */
import { expect, test } from 'vitest';
import type { SqlRunner } from '../../../src/core/db/db.ts';
import { requireLocks } from '../../../src/domain/import/target-limits.ts';

const server = (each: number, sessions: number): SqlRunner => (async () => [{ each, sessions }]) as never as SqlRunner;

test('a server for 20 connections by default settings is refused with what to set', async () => {
  await expect(requireLocks(server(64, 43))).rejects.toMatchObject({
    code: 'target_locks_too_few',
    details: { locks: 2_752, needed: 4_500 },
    message: expect.stringContaining('max_locks_per_transaction = 105'),
  });
});

test('a server by default settings has room', async () => {
  await expect(requireLocks(server(64, 122))).resolves.toBeUndefined();
});
