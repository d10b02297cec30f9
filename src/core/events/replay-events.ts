import type { SqlRunner } from '../db/db.ts';
import type { DeliveredEvent } from './event-bus.ts';
import { type EventScope, isOfRound, readIdRange, readNewEvents, readPage, type StoredEvent } from './event-log.ts';
import { type ClientPosition, type EventPosition, type EventSnapshot, isSameSnapshot, positionTexts } from './event-position.ts';

/** A page waits in memory while its client reads, so it is not larger than what may wait for a client that receives live events. */
const PAGE = 500;

/** A part of a round: the events with ids above `afterId`, up to and including `throughId`. */
interface Part {
  base: EventSnapshot;
  target: EventSnapshot;
  afterId: number;
  throughId: number;
}

/**
 * Reads what a client missed: the events after the position `from` that are delivered at the position `until`, in pages and in the order
 * in which they were, or could have been, delivered live (spec 08 S6). Their positions are as old as `from`: the events that a client has not
 * received when it leaves in between are deleted as early as those after `from`.
 * @param until a position of this instance that is not before `from`
 */
export async function* replayEvents(
  sql: SqlRunner,
  { position: from, ...origin }: ClientPosition,
  until: EventPosition,
  scope: EventScope,
): AsyncGenerator<DeliveredEvent[]> {
  for (const part of partsBetween(from, until)) {
    if (isSameSnapshot(part.base, part.target)) continue;
    const textAfter = positionTexts(part, origin);
    for await (const events of readPart(sql, part, scope)) {
      if (events.length > 0) yield events.map((event) => ({ ...event, positionText: textAfter(event.id) }));
    }
  }
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
  const ids = await readIdRange(sql, base, scope);
  if (ids === null) return;
  const lastId = Math.min(ids.last, throughId);
  for (let readThrough = Math.max(ids.first - 1, afterId); ; ) {
    const page = await readPage(sql, readThrough, lastId, { scope, limit: PAGE });
    yield page.filter(isWanted);
    if (page.length < PAGE) return;
    readThrough = page.at(-1)!.id;
  }
}
