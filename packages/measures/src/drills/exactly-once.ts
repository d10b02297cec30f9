/** Compares what was to arrive with what arrived. */

export interface OnceDifferences {
  /** Expected, but arrived less often than expected; one entry for each that is missing. */
  missing: string[];
  /** Expected, but arrived more often than expected; one entry for each that is too many. */
  doubled: string[];
  /** Never expected. */
  unknown: string[];
}

/**
 * Compares by identity, as multisets: two events with the same identity are expected twice.
 * @returns empty lists where everything arrived exactly as often as expected
 */
export function compareOccurrences(expected: Iterable<string>, received: Iterable<string>): OnceDifferences {
  const open = new Map<string, number>();
  for (const identity of expected) open.set(identity, (open.get(identity) ?? 0) + 1);
  const doubled: string[] = [];
  const unknown: string[] = [];
  for (const identity of received) {
    const count = open.get(identity);
    if (count === undefined) unknown.push(identity);
    else if (count === 0) doubled.push(identity);
    else open.set(identity, count - 1);
  }
  const missing = [...open].flatMap(([identity, count]) => Array.from({ length: count }, () => identity));
  return { missing, doubled, unknown };
}
