/** How long a probe waits for a database that does not answer (spec 10 D5). Apart, because the timers of the process are fakes. */
import { afterEach, expect, test, vi } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { probeDatabase, requireReady } from '../../../src/domain/ops/check-health.ts';

afterEach(() => {
  vi.useRealTimers();
});

const silent = {
  db: { sql: () => new Promise<never>(() => undefined) },
  ports: { instance: { isReady: () => true, clockSkewMs: () => 0 } },
} as unknown as App;

test('/readyz says within a second that it is not ready, while the health of the database is waited for longer', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const [ready, health] = [vi.fn(), vi.fn()];
  void requireReady(silent).catch((error: unknown) => ready(error));
  void probeDatabase(silent).then(health);
  await vi.advanceTimersByTimeAsync(999);
  expect(ready).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(ready).toHaveBeenCalledWith(expect.objectContaining({ status: 503, code: 'not_ready' }));
  expect(health).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(4_000);
  expect(health).toHaveBeenCalledWith({ status: 'timeout', latencyMs: null });
});
