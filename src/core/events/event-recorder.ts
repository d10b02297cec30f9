/** Payload type of each domain event; filled by declaration merging in `domain/<module>/events.ts`. */
// biome-ignore lint/suspicious/noEmptyInterface: filled by declaration merging
export interface EventTypes {}

/**
 * Who receives an event: `feed` = `/ws` and outgoing webhooks, `user` = the owner's `/cabinet/ws` sockets,
 * `staff` = `/cabinet/ws` sockets of administrators.
 */
export type Audience = 'feed' | 'user' | 'staff';

export interface EventOptions {
  audience: Audience;
  /** Owner of the event; required for the `user` audience. */
  userId?: number;
}

/** Records domain events as rows of the current transaction; they are delivered after the commit (spec 00, outside effects). */
export interface EventRecorder {
  emit<K extends keyof EventTypes>(type: K, payload: EventTypes[K], options: EventOptions): Promise<void>;
  /** Says that events were committed: the readers of this instance look now. `committedStatement` calls it. */
  announce(): void;
}

/** An event as the bus delivers it on every instance after commit. */
export interface DomainEvent {
  id: number;
  type: string;
  payload: Record<string, unknown>;
  audience: Audience;
  userId: number | null;
  createdAt: Date;
}
