import type { Clock } from '../clock.ts';
import type { SqlRunner } from '../db/db.ts';

/** Payload and audience of each domain event, an `EventType`; filled by declaration merging in `domain/<module>/events.ts`. */
// biome-ignore lint/suspicious/noEmptyInterface: filled by declaration merging
export interface EventTypes {}

/**
 * Who receives an event: `feed` = `/ws` and outgoing webhooks, `user` = the owner's `/cabinet/ws` sockets,
 * `staff` = `/cabinet/ws` sockets of administrators, `instance` = every instance of the service, for what it keeps in memory.
 */
export type Audience = 'feed' | 'user' | 'staff' | 'instance';

/** Days after which the rows of events are deleted; as long a client can ask for what it missed. */
export const EVENT_RETENTION_DAYS = 7;

/** What is known of one event by its type. */
export interface EventType<Payload = unknown, To extends Audience = Audience> {
  payload: Payload;
  audience: To;
}

export type EventPayload<K extends keyof EventTypes> = EventTypes[K]['payload'];

/** Of an event of any type, as it is recorded. */
export interface EmittedTo {
  audience: Audience;
  userId?: number;
}

/** The types of the events that one audience receives. */
export type EventsTo<To extends Audience> = {
  [K in keyof EventTypes]: EventTypes[K]['audience'] extends To ? K : never;
}[keyof EventTypes];

/** Records domain events as rows of the current transaction; they are delivered after the commit (spec 00, outside effects). */
export interface EventRecorder {
  /** The audience is that of the definition and no other; an event for one user names the user. */
  emit<K extends EventsTo<'user'>>(type: K, payload: EventPayload<K>, to: { audience: 'user'; userId: number }): Promise<void>;
  /** @param to.userId whom the event is about */
  emit<K extends Exclude<keyof EventTypes, EventsTo<'user'>>>(
    type: K,
    payload: EventPayload<K>,
    to: { audience: EventTypes[K]['audience']; userId?: number },
  ): Promise<void>;
  /**
   * Events may have been committed by a statement that this recorder did not send: the instances look for them now and not with their
   * next regular look. `inTransaction` calls it after each commit; inside a transaction it does nothing.
   */
  announce(): void;
}

/** An event that was committed. */
export interface DomainEvent {
  id: number;
  type: string;
  payload: Record<string, unknown>;
  audience: Audience;
  userId: number | null;
  createdAt: Date;
}

/**
 * Records events outside of a transaction through the SQL function `emit_event` (prisma/sql/events.sql); those of a transaction are
 * recorded by `TransactionEffects`. An event is committed when the function returns, and is announced then.
 */
export function sqlEventRecorder(sql: SqlRunner, clock: Clock, announce: () => void): EventRecorder {
  return {
    emit: async (type: string, payload: unknown, options: EmittedTo) => {
      await sql('SELECT emit_event($1, $2::jsonb, $3, $4::int, $5::timestamptz) AS id', [
        type,
        JSON.stringify(payload),
        options.audience,
        options.userId ?? null,
        clock.now(),
      ]);
      announce();
    },
    announce,
  };
}
