/** Asks each instance for `/readyz` again and again, as a load balancer does. */
import { setTimeout as wait } from 'node:timers/promises';
import type { Instance } from './instance.ts';

export interface ReadinessSample {
  instance: string;
  /** `performance.now()` of the question. */
  at: number;
  /** Until the answer. */
  tookMs: number;
  isReady: boolean;
}

export interface ReadinessWatch {
  readonly samples: readonly ReadinessSample[];
  close(): Promise<void>;
}

const LOOK_MS = 100;
const ANSWER_MS = 10_000;

export function watchReadiness(instances: readonly Pick<Instance, 'name' | 'url'>[]): ReadinessWatch {
  const samples: ReadinessSample[] = [];
  let isClosed = false;
  const watch = async ({ name, url }: Pick<Instance, 'name' | 'url'>): Promise<void> => {
    while (!isClosed) {
      const at = performance.now();
      const isReady = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(ANSWER_MS) }).then(
        (response) => response.ok,
        () => false,
      );
      samples.push({ instance: name, at, tookMs: performance.now() - at, isReady });
      await wait(LOOK_MS);
    }
  };
  const watching = instances.map(watch);
  return {
    samples,
    close: async () => {
      isClosed = true;
      await Promise.all(watching);
    },
  };
}

/** Milliseconds from a time until every instance was ready at or after it; infinite when one never was. */
export function allReadyAfterMs(samples: readonly ReadinessSample[], from: number): number {
  const names = new Set(samples.map(({ instance }) => instance));
  const first = [...names].map((name) => samples.find(({ instance, at, isReady }) => instance === name && at >= from && isReady));
  return Math.max(...first.map((sample) => (sample === undefined ? Number.POSITIVE_INFINITY : sample.at + sample.tookMs - from)));
}

/** How often an instance said that it is ready in a period: a question that was asked and answered within it. */
export function readyWithin(samples: readonly ReadinessSample[], from: number, to: number): number {
  return samples.filter(({ at, tookMs, isReady }) => isReady && at >= from && at + tookMs <= to).length;
}
