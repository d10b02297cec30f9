import { onTestFinished, vi } from 'vitest';

/**
 * Until the end of the test nothing that a cache of this process has stored expires: a change that takes effect was then caused by its
 * notice, however slow the machine is.
 */
export function cachesStayFresh(): void {
  const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now());
  onTestFinished(() => clock.mockRestore());
}

/**
 * Repeats a check until it succeeds: for effects of another connection, process or timer. The limit only ends a test that would
 * never end; how long the effect takes depends on the machine and is not asserted.
 */
export function eventually<T>(check: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(check, { timeout: 60_000, interval: 10 });
}
