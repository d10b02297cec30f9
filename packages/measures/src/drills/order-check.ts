/** Order of what one receiver got, within each group (a user). */

export interface Disorder {
  group: string;
  /** Arrived after `earlier`, although it comes before it. */
  identity: string;
  earlier: string;
}

export interface OrderedPlace {
  group: string;
  position: number;
}

/**
 * Finds each arrival whose place in its group lies before the place of an arrival before it. What has no place is left out, and so is a
 * repeat of what has arrived: it is a double, not a disorder.
 */
export function findDisorder(received: Iterable<string>, places: ReadonlyMap<string, OrderedPlace>): Disorder[] {
  const last = new Map<string, { identity: string; position: number }>();
  const seen = new Set<string>();
  const found: Disorder[] = [];
  for (const identity of received) {
    const place = places.get(identity);
    if (place === undefined || seen.has(identity)) continue;
    seen.add(identity);
    const before = last.get(place.group);
    if (before !== undefined && before.position > place.position)
      found.push({ group: place.group, identity, earlier: before.identity });
    else last.set(place.group, { identity, position: place.position });
  }
  return found;
}
