import { vi } from 'vitest';

/**
 * Less than the 15 s for which an instance caches a checked token and the roles of a user: a change that takes effect within it was
 * caused by a notification, also on a slow machine.
 */
export const NOTICE_LIMIT_MS = 12_000;

/**
 * Repeats a check until it succeeds: for effects of another connection, process or timer. The limit only ends a test that would
 * never end; how long the effect takes depends on the machine and is not asserted.
 */
export function eventually<T>(check: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(check, { timeout: 60_000, interval: 10 });
}
