import { BULK_USERS } from '../ports.ts';

/** The squads after the move: without the source, and with the target once (spec 06 section 10). */
export function movedSquads(squads: readonly string[], source: string, target: string): string[] {
  const others = squads.filter((uuid) => uuid !== source);
  return others.includes(target) ? others : [...others, target];
}

/** Tries of one subscription after which it stays in the source squad. */
export const MAX_ATTEMPTS = 8;

/**
 * Users of one call, by the number of attempts: fewer with each attempt, so that a user whom the panel refuses is isolated and does not
 * block the five hundred others of the call.
 */
export function chunkFor(attempts: number): number {
  return [BULK_USERS, BULK_USERS, BULK_USERS, 100, 25, 5][attempts] ?? 1;
}

const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 4_000;

/**
 * Pause after a failed batch, by how often its subscriptions have been tried, doubling up to 4 s. Together the pauses are longer than
 * the circuit breaker stays open, and shorter than a request.
 */
export function pauseAfter(attempts: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** Math.min(attempts, 10), MAX_PAUSE_MS);
}

/** Groups users whose new squads are the same in any order. */
export function groupBySquads<T>(
  items: readonly T[],
  squadsOf: (item: T) => readonly string[],
): { squads: string[]; items: T[] }[] {
  const groups = new Map<string, { squads: string[]; items: T[] }>();
  for (const item of items) {
    const squads = [...squadsOf(item)].sort();
    const key = squads.join(' ');
    const group = groups.get(key);
    if (group) group.items.push(item);
    else groups.set(key, { squads, items: [item] });
  }
  return [...groups.values()];
}
