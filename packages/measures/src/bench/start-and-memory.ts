/** Time until the service serves, and its memory when idle; as in production, without the sandbox. */
import { setTimeout as wait } from 'node:timers/promises';
import type { DatabaseKind } from './options.ts';
import { createScratch } from './scratch-database.ts';
import { startService } from './service.ts';
import { median } from './statistics.ts';

export interface StartResult {
  database: DatabaseKind;
  /** First start: makes the tables; embedded, the data folder too. */
  firstStartMs: number;
  /** Every later start. */
  laterStartMs: number;
  idleMemoryMiB: number | null;
}

const IDLE_SECONDS = 10;

export async function measureStarts(kind: DatabaseKind, serverUrl: string | null, quick: boolean): Promise<StartResult> {
  const repeats = quick ? 1 : 3;
  const first: number[] = [];
  const later: number[] = [];
  const memory: number[] = [];
  for (let repeat = 0; repeat < repeats; repeat += 1) {
    const scratch = await createScratch(kind, serverUrl);
    const environment = {
      ...scratch.environment,
      NODE_ENV: 'production',
      CABINET_JWT_SECRET: 'benchmark-only-benchmark-only-benchmark-only',
    };
    try {
      const once = await startService(environment);
      first.push(once.readyMs);
      await once.stop();
      const again = await startService(environment);
      later.push(again.readyMs);
      await wait((quick ? 3 : IDLE_SECONDS) * 1000);
      memory.push(again.memoryMiB() ?? Number.NaN);
      await again.stop();
    } finally {
      await scratch.drop();
    }
  }
  const idle = median(memory);
  return {
    database: kind,
    firstStartMs: median(first),
    laterStartMs: median(later),
    idleMemoryMiB: Number.isNaN(idle) ? null : idle,
  };
}
