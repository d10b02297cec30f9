import { onTestFinished, vi } from 'vitest';
import { testSignal, untilAborted } from './abandoned-tests.ts';

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
 * never end; how long the effect takes depends on the machine and is not asserted. It ends with the test that waits.
 */
export function eventually<T>(check: () => T | Promise<T>): Promise<T> {
  let isAbandoned = false;
  testSignal()?.addEventListener('abort', () => {
    isAbandoned = true;
  });
  // Of an abandoned test nobody receives the value: it only ends the repetition.
  return untilAborted(() => vi.waitFor(() => (isAbandoned ? (undefined as T) : check()), { timeout: 60_000, interval: 10 }));
}
