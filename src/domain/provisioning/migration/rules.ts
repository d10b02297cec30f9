import { BULK_USERS } from '../ports.ts';

/** The squads after the move: without the source, and with the target once (spec 06 section 10). */
export function movedSquads(squads: readonly string[], source: string, target: string): string[] {
  const kept = squads.filter((uuid) => uuid !== source);
  return kept.includes(target) ? kept : [...kept, target];
}

/** Tries of one subscription until it is left where it is. */
export const MAX_ATTEMPTS = 8;

/**
 * Users that one call names, by how often they have been tried: ever fewer, so that one whom the panel cannot take is found and does
 * not keep five hundred others from moving.
 */
export function chunkFor(attempts: number): number {
  return [BULK_USERS, BULK_USERS, BULK_USERS, 100, 25, 5][attempts] ?? 1;
}

const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 4_000;

/**
 * Rest for the panel after a failed batch, by how often its subscriptions have been tried, doubling up to 4 s. Together the pauses
 * outlast a circuit breaker's, and end within the time of a request.
 */
export function pauseAfter(attempts: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** Math.min(attempts, 10), MAX_PAUSE_MS);
}

/** Groups users whose new squads are the same, the order of squads aside. */
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
