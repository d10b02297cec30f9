import { DAY_MS, HOUR_MS, SECOND_MS } from '../core/clock.ts';
import type { SqlRunner } from '../core/db/db.ts';
import type { DeliveredEvent, EventBus } from '../core/events/event-bus.ts';
import { type EventScope, isInScope, replayEvents, wasBroughtBack } from '../core/events/event-log.ts';
import { type ClientPosition, parsePosition, positionTexts } from '../core/events/event-position.ts';
import { EVENT_RETENTION_DAYS } from '../core/events/event-recorder.ts';
import type { FeedClient } from './feed-client.ts';

/** Clients whose missed events are read at the same time: after a restart all clients come back together. */
const MAX_READERS = 4;
/** Rows are deleted by another clock than the one that issues positions. */
const MARGIN_MS = HOUR_MS;

/** The `id` of a frame for what has been delivered by now. */
export function presentPositionText(bus: Pick<EventBus, 'position' | 'origin'>): string {
  const { position } = bus;
  return positionTexts(position, bus.origin)(position.throughId);
}

/**
 * The position of which a client says that it has everything up to there.
 * @returns null when it is no position of this database, so old that events after it may have been deleted, or from before the database was
 * brought back to an earlier point in time
 * @throws when the database cannot be read
 */
export async function resumePosition(
  sql: SqlRunner,
  bus: Pick<EventBus, 'position' | 'origin' | 'refresh'>,
  text: string,
): Promise<ClientPosition | null> {
  const parsed = parsePosition(text);
  if (parsed === null || parsed.database !== bus.origin.database) return null;
  if (Date.now() - parsed.issuedAt * SECOND_MS > EVENT_RETENTION_DAYS * DAY_MS - MARGIN_MS) return null;
  // Another instance, from which the client has it, may be ahead of this one.
  await bus.refresh();
  const [had, has] = [parsed.position.target, bus.position.target];
  return had.next <= has.next && !(await wasBroughtBack(sql, had, has)) ? parsed : null;
}

export interface Missing {
  client: FeedClient;
  from: ClientPosition;
  /** What the client may see at present. */
  scope: () => EventScope;
  frameOf: (event: DeliveredEvent) => Buffer;
  /** Lets the client collect live events: those after the bus's present position. */
  collect: () => void;
}

/** Sends clients the events that they missed, and joins them to the live ones without a gap or a repeat. */
export class CatchUp {
  readonly #sql: SqlRunner;
  readonly #bus: Pick<EventBus, 'position' | 'origin'>;
  #readers = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(sql: SqlRunner, bus: Pick<EventBus, 'position' | 'origin'>) {
    this.#sql = sql;
    this.#bus = bus;
  }

  /**
   * Resolves when the client has joined or is closed. What is delivered during a round is collected for the client and sent after it: on a busy
   * service something new is committed during each read, so that a client that only reads would never be done. A round during which
   * more was delivered than may be collected is followed by another one.
   * @throws when the database cannot be read
   */
  async run(missing: Missing): Promise<void> {
    const { client, collect } = missing;
    for (let from = missing.from; client.isOpen; ) {
      const until = { position: this.#bus.position, ...this.#bus.origin };
      collect();
      await this.#send(missing, from, until);
      if (client.release()) return;
      from = until;
    }
  }

  async #send({ client, scope, frameOf }: Missing, from: ClientPosition, until: ClientPosition): Promise<void> {
    const read: SqlRunner = (text, values) => this.#inTurn(client, () => this.#sql(text, values));
    try {
      for await (const events of replayEvents(read, from, until.position, scope())) {
        for (const frames of framesOf(events, { scope, frameOf, limit: client.catchUpBytes })) {
          await client.sendAndWait(frames);
          if (!client.isOpen) return;
        }
      }
    } catch (error) {
      if (client.isOpen) throw error;
    }
  }

  /** @throws when the client has left meanwhile: nobody needs the answer */
  async #inTurn<T>(client: FeedClient, read: () => Promise<T>): Promise<T> {
    if (this.#readers >= MAX_READERS) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#readers += 1;
    try {
      if (!client.isOpen) throw new Error('the client has left');
      return await read();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#readers -= 1;
    }
  }
}

/** Frames in buffers of about `limit` bytes. They are made when they are needed, by the rights that the client has then. */
function* framesOf(
  events: readonly DeliveredEvent[],
  { scope, frameOf, limit }: Pick<Missing, 'scope' | 'frameOf'> & { limit: number },
): Generator<Buffer> {
  let frames: Buffer[] = [];
  let size = 0;
  for (const event of events) {
    if (!isInScope(scope(), event)) continue;
    const frame = frameOf(event);
    frames.push(frame);
    size += frame.length;
    if (size < limit) continue;
    yield Buffer.concat(frames, size);
    frames = [];
    size = 0;
  }
  if (size > 0) yield Buffer.concat(frames, size);
}
