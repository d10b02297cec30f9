import type { CabinetEvents, FeedEvents } from './event-types.ts';

export type CabinetEventType = keyof CabinetEvents;

/** Of every event. */
interface EventIds {
  /** Opaque position in the feed after this event; changes with the connection. `createFeedClient` takes it as `after`. */
  id?: string;
  /** Opaque id of the event, the same on every instance and after every resume: recognizes repeats. */
  event_id?: string;
}

/** One event as a handler gets it. */
export type CabinetEvent<Type extends CabinetEventType = CabinetEventType> = { type: Type } & EventIds & CabinetEvents[Type];

/** Message of `/cabinet/ws` by type. */
export type CabinetMessages = { [Type in CabinetEventType]: CabinetEvent<Type> };

export type FeedEventType = keyof FeedEvents;

export interface FeedEvent<Type extends FeedEventType = FeedEventType> extends EventIds {
  type: Type;
  payload: FeedEvents[Type];
  /** ISO 8601 in UTC, without a zone. */
  timestamp: string;
}

/** Message of `/ws` by type. */
export type FeedMessages = { [Type in FeedEventType]: FeedEvent<Type> };
