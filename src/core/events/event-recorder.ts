/** Payload type of each domain event; filled by declaration merging in `domain/<module>/events.ts`. */
// biome-ignore lint/suspicious/noEmptyInterface: filled by declaration merging
export interface EventTypes {}

/**
 * Who receives an event: `feed` = `/ws` and outgoing webhooks, `user` = the owner's `/cabinet/ws` sockets,
 * `staff` = `/cabinet/ws` sockets of administrators, `instance` = every instance of the service, for what it keeps in memory.
 */
export type Audience = 'feed' | 'user' | 'staff' | 'instance';

/** Days after which the rows of events are deleted; as long a client can ask for what it missed. */
export const EVENT_RETENTION_DAYS = 7;

export interface EventOptions {
  audience: Audience;
  /** Owner of the event; required for the `user` audience. */
  userId?: number;
}

/** Records domain events as rows of the current transaction; they are delivered after the commit (spec 00, outside effects). */
export interface EventRecorder {
  emit<K extends keyof EventTypes>(type: K, payload: EventTypes[K], options: EventOptions): Promise<void>;
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
