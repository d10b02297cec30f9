import { DAY_MS, HOUR_MS, SECOND_MS } from '../core/clock.ts';
import type { SqlRunner } from '../core/db/db.ts';
import type { DeliveredEvent, EventBus } from '../core/events/event-bus.ts';
import type { EventScope } from '../core/events/event-log.ts';
import { type EventPosition, parsePosition, positionTexts } from '../core/events/event-position.ts';
import { EVENT_RETENTION_DAYS } from '../core/events/event-recorder.ts';
import { isSamePosition, replayEvents } from '../core/events/replay-events.ts';
import type { FeedClient } from './feed-client.ts';

/** Clients whose missed events are read at the same time: after a restart all clients come back together. */
const MAX_READERS = 4;
/** Rows are deleted by another clock than the one that issues positions. */
const MARGIN_MS = HOUR_MS;

/** The `id` of a frame for what has been delivered by now. */
export function presentPositionText(bus: Pick<EventBus, 'position'>): string {
  const { position } = bus;
  return positionTexts(position, Math.floor(Date.now() / SECOND_MS))(position.throughId);
}

/**
 * The position of which a client says that it has everything up to there.
 * @returns null when it is no position of this database, or so old that events after it may have been deleted
 * @throws when the database cannot be read
 */
export async function resumePosition(bus: Pick<EventBus, 'position' | 'refresh'>, text: string): Promise<EventPosition | null> {
  const parsed = parsePosition(text);
  if (parsed === null) return null;
  if (Date.now() - parsed.issuedAt * SECOND_MS > EVENT_RETENTION_DAYS * DAY_MS - MARGIN_MS) return null;
  // Another instance, from which the client has it, may be ahead of this one.
  await bus.refresh();
  return parsed.position.target.next <= bus.position.target.next ? parsed.position : null;
}

export interface Missing {
  client: FeedClient;
  from: EventPosition;
  /** What the client may see at present. */
  scope: () => EventScope;
  frameOf: (event: DeliveredEvent) => Buffer;
  /** Lets the client receive live events, those after the bus's present position. */
  join: () => void;
}

/** Sends clients the events that they missed, and joins them to the live ones without a gap or a repeat. */
export class CatchUp {
  readonly #sql: SqlRunner;
  readonly #bus: Pick<EventBus, 'position'>;
  #readers = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(sql: SqlRunner, bus: Pick<EventBus, 'position'>) {
    this.#sql = sql;
    this.#bus = bus;
  }

  /** Resolves when the client has joined or is closed. @throws when the database cannot be read */
  async run({ client, from, scope, frameOf, join }: Missing): Promise<void> {
    for (let at = from; client.isOpen; ) {
      const until = this.#bus.position;
      if (isSamePosition(at, until)) {
        join();
        return;
      }
      const pages = replayEvents((text, values) => this.#inTurn(() => this.#sql(text, values)), at, until, scope());
      for await (const events of pages) {
        client.send(Buffer.concat(events.map(frameOf)));
        await client.drained();
        if (!client.isOpen) return;
      }
      at = until;
    }
  }

  async #inTurn<T>(read: () => Promise<T>): Promise<T> {
    if (this.#readers >= MAX_READERS) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#readers += 1;
    try {
      return await read();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#readers -= 1;
    }
  }
}
