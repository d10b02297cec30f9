import { vi } from 'vitest';

/**
 * Below the 15 s for which an instance trusts a checked token and the roles of a user: what takes effect within it was brought by a
 * notice, on however slow a machine.
 */
export const NOTICE_LIMIT_MS = 12_000;

/**
 * Repeats a check until it holds: for what another connection, process or timer brings about. The limit only ends a test that would
 * wait for ever; how long it takes depends on the machine and is nobody's assertion.
 */
export function eventually<T>(check: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(check, { timeout: 60_000, interval: 10 });
}
