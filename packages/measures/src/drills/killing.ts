/** Kills processes at random and starts them again, until it is stopped. */
import { setTimeout as wait } from 'node:timers/promises';
import type { SeededRandom } from './seeded-random.ts';

/** A process that may be killed. */
export interface Victim {
  name: string;
  kill(): Promise<void>;
  start(): Promise<void>;
}

export interface Killing {
  /** How often each was killed. */
  readonly kills: ReadonlyMap<string, number>;
  /** Ends with everything running. @throws Error when something did not start again */
  stop(): Promise<void>;
}

export interface KillingOptions {
  /** Pause before each, in ms. Default: 1.5 to 6 s. */
  minBetweenMs?: number;
  maxBetweenMs?: number;
  /** Kills at a time of its choice. Default: now. */
  aim?: (kill: () => Promise<void>) => Promise<void>;
}

const MIN_BETWEEN_MS = 1_500;
const MAX_BETWEEN_MS = 6_000;
const MAX_DOWN_MS = 2_000;

/** One at a time: everything else goes on meanwhile. */
export function startKilling(victims: readonly Victim[], random: SeededRandom, options: KillingOptions = {}): Killing {
  const { minBetweenMs = MIN_BETWEEN_MS, maxBetweenMs = MAX_BETWEEN_MS, aim = (kill) => kill() } = options;
  const kills = new Map<string, number>();
  let isStopping = false;
  const run = async (): Promise<void> => {
    for (;;) {
      await wait(random.between(minBetweenMs, maxBetweenMs));
      if (isStopping) return;
      const victim = random.pick(victims);
      await aim(() => victim.kill());
      kills.set(victim.name, (kills.get(victim.name) ?? 0) + 1);
      await wait(random.between(0, MAX_DOWN_MS));
      await victim.start();
    }
  };
  const running = run();
  // Reported by `stop`; without this it would end the process before.
  running.catch(() => undefined);
  return {
    kills,
    stop: () => {
      isStopping = true;
      return running;
    },
  };
}
