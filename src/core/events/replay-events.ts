import { SECOND_MS } from '../clock.ts';
import type { SqlRunner } from '../db/db.ts';
import type { DeliveredEvent } from './event-bus.ts';
import { type EventScope, isInScope, isOfRound, readIdRange, readNewEvents, readPage, type StoredEvent } from './event-log.ts';
import { type EventPosition, type EventSnapshot, isSameSnapshot, positionTexts } from './event-position.ts';

const PAGE = 1_000;

/** A part of a round: the events with ids above `afterId`, up to and including `throughId`. */
interface Part {
  base: EventSnapshot;
  target: EventSnapshot;
  afterId: number;
  throughId: number;
}

/**
 * Reads what a client missed: the events after the position `from` that are delivered at the position `until`, in pages and in the order
 * in which they were, or could have been, delivered live (spec 08 S6).
 * @param until a position of this instance that is not before `from`
 */
export async function* replayEvents(
  sql: SqlRunner,
  from: EventPosition,
  until: EventPosition,
  scope: EventScope,
): AsyncGenerator<DeliveredEvent[]> {
  for (const part of partsBetween(from, until)) {
    if (isSameSnapshot(part.base, part.target)) continue;
    const textAfter = positionTexts(part, Math.floor(Date.now() / SECOND_MS));
    for await (const events of readPart(sql, part, scope)) {
      if (events.length > 0) yield events.map((event) => ({ ...event, positionText: textAfter(event.id) }));
    }
  }
}

export function isSamePosition(a: EventPosition, b: EventPosition): boolean {
  return isSameSnapshot(a.base, b.base) && isSameSnapshot(a.target, b.target) && a.throughId === b.throughId;
}

function partsBetween(from: EventPosition, until: EventPosition): Part[] {
  if (isSameSnapshot(from.base, until.base) && isSameSnapshot(from.target, until.target)) {
    return [{ base: from.base, target: from.target, afterId: from.throughId, throughId: until.throughId }];
  }
  const everything = { afterId: 0, throughId: Number.MAX_SAFE_INTEGER };
  return [
    { ...everything, base: from.base, target: from.target, afterId: from.throughId },
    { ...everything, base: from.target, target: until.base },
    { ...everything, base: until.base, target: until.target, throughId: until.throughId },
  ];
}

async function* readPart(sql: SqlRunner, part: Part, scope: EventScope): AsyncGenerator<StoredEvent[]> {
  const { base, target, afterId, throughId } = part;
  const isWanted = (event: StoredEvent) => event.id > afterId && event.id <= throughId && isOfRound(event, base, target);
  const found = await readNewEvents(sql, base, { scope, limit: PAGE, below: target.next });
  if (!found.isCut) {
    yield found.events.filter(isWanted);
    return;
  }
  const ids = await readIdRange(sql, base);
  if (ids === null) return;
  const lastId = Math.min(ids.last, throughId);
  for (let readThrough = Math.max(ids.first - 1, afterId); ; ) {
    const page = await readPage(sql, readThrough, lastId, PAGE);
    yield page.filter((event) => isWanted(event) && isInScope(scope, event));
    if (page.length < PAGE) return;
    readThrough = page.at(-1)!.id;
  }
}
