/** The sockets of a drill, on all instances. */
import { setTimeout as wait } from 'node:timers/promises';
import type { Watcher } from './event-proof.ts';
import type { Fixture } from './fixture.ts';
import { openResumingSocket } from './resuming-socket.ts';
import type { SeededRandom } from './seeded-random.ts';

const MIN_PAUSE_MS = 100;
const MAX_PAUSE_MS = 1_000;
const OPEN_LIMIT_MS = 30_000;
const MIN_BETWEEN_CUTS_MS = 500;
const MAX_BETWEEN_CUTS_MS = 3_000;

export interface WatcherOptions {
  /** Sockets on `/ws` for each address. */
  feedSockets: number;
  /** Each gets a socket on `/cabinet/ws`. */
  users: readonly number[];
  /** Where they connect: those of the instances unless given. */
  urls?: readonly string[];
}

/**
 * Opens the sockets and waits until all are greeted. Each stays with its instance while that runs; after each lost connection it takes the next one,
 * because a client behind a balancer gets whichever serves. @throws Error when one of them is not greeted
 */
export async function openWatchers(fixture: Fixture, random: SeededRandom, options: WatcherOptions): Promise<Watcher[]> {
  const urls = (options.urls ?? fixture.instances.map((instance) => instance.url)).map((url) => url.replace('http', 'ws'));
  const pauseMs = () => random.between(MIN_PAUSE_MS, MAX_PAUSE_MS);
  const addressFrom = (first: number) => {
    let next = first;
    return () => urls[next++ % urls.length]!;
  };
  const watchers: Watcher[] = [];
  for (let index = 0; index < options.feedSockets * urls.length; index += 1) {
    const options = { feed: 'ws' as const, address: addressFrom(index), token: fixture.apiToken, pauseMs };
    watchers.push({ userId: null, socket: openResumingSocket(`/ws ${index + 1}`, options) });
  }
  for (const [index, userId] of options.users.entries()) {
    const options = { feed: 'cabinet' as const, address: addressFrom(index), token: fixture.tokenOf(userId), pauseMs };
    watchers.push({ userId, socket: openResumingSocket(`/cabinet/ws of user ${userId}`, options) });
  }
  const until = performance.now() + OPEN_LIMIT_MS;
  while (!watchers.every(({ socket }) => socket.isOpen())) {
    if (performance.now() > until) throw new Error(`sockets were not greeted within ${OPEN_LIMIT_MS / 1_000} s`);
    await wait(50);
  }
  return watchers;
}

/** Breaks connections of sockets at random, one at a time. @returns a function that ends it */
export function startCutting(watchers: readonly Watcher[], random: SeededRandom): () => void {
  let timer: NodeJS.Timeout;
  const schedule = (): void => {
    timer = setTimeout(
      () => {
        random.pick(watchers).socket.cut();
        schedule();
      },
      random.between(MIN_BETWEEN_CUTS_MS, MAX_BETWEEN_CUTS_MS),
    );
  };
  schedule();
  return () => clearTimeout(timer);
}
