/** Timers of one source file, which end when the test says so and not after real time. */
export interface ElapsedTimers {
  /** Ends the timers of this delay or less that were set since the start and not cleared; the process clock moves on by it. */
  elapse(delayMs: number): void;
  /** Restores the real functions. */
  stop(): void;
}

/**
 * Records the timers that a source file sets from now on; every one of them also ends after its real time.
 * @param source end of the path of the file
 */
export function recordTimers(source: string): ElapsedTimers {
  const { setTimeout: set, clearTimeout: clear } = globalThis;
  const now = performance.now.bind(performance);
  const armed = new Map<unknown, { delayMs: number; end: () => void }>();
  let elapsedMs = 0;
  const recordingSet = (run: (...values: unknown[]) => void, delayMs = 0, ...values: unknown[]) => {
    if (!new Error().stack?.includes(source)) return set(run, delayMs, ...values);
    const end = () => {
      armed.delete(timer);
      run(...values);
    };
    const timer = set(end, delayMs);
    armed.set(timer, { delayMs, end });
    return timer;
  };
  const recordingClear = (timer: Parameters<typeof clearTimeout>[0]) => {
    armed.delete(timer);
    clear(timer);
  };
  globalThis.setTimeout = Object.assign(recordingSet, set) as typeof setTimeout;
  globalThis.clearTimeout = recordingClear as typeof clearTimeout;
  performance.now = () => now() + elapsedMs;
  return {
    elapse: (delayMs) => {
      elapsedMs += delayMs;
      for (const [timer, { delayMs: set, end }] of [...armed]) {
        if (set > delayMs) continue;
        clear(timer as NodeJS.Timeout);
        end();
      }
    },
    stop: () => {
      globalThis.setTimeout = set;
      globalThis.clearTimeout = clear;
      performance.now = now;
    },
  };
}
