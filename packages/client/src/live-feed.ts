import { type LiveStatus, ReconnectingSocket, type SocketRules } from './reconnecting-socket.ts';

/** A message of a type that the caller did not name. */
export type AnyEvent = { type: string } & Record<string, unknown>;

/** Repeats come soon after the first time, so few ids are enough. */
const REMEMBERED_EVENTS = 1_000;

/**
 * Handlers of one feed over one connection.
 * @typeParam Messages message by event type
 */
export class LiveFeed<Messages> {
  readonly #handlers = new Map<string, Set<(message: never) => void>>();
  readonly #anyHandlers = new Set<(message: AnyEvent) => void>();
  readonly #statusHandlers = new Set<(status: LiveStatus) => void>();
  readonly #gapHandlers = new Set<(gap: undefined) => void>();
  /** `event_id` of the latest events, the oldest first. */
  readonly #seen = new Set<string>();
  readonly #socket: ReconnectingSocket;

  constructor(rules: Omit<SocketRules, 'onMessage' | 'onStatus' | 'onGap'>) {
    this.#socket = new ReconnectingSocket({
      ...rules,
      onMessage: (message) => this.#deliver(message),
      onGap: () => callAll(this.#gapHandlers, undefined),
      onStatus: (status) => callAll(this.#statusHandlers, status),
    });
    // Browsers report when the network is back; elsewhere the pause ends by itself.
    const { addEventListener } = globalThis as { addEventListener?: (type: string, listener: () => void) => void };
    addEventListener?.call(globalThis, 'online', () => this.#socket.hurry());
  }

  /** State of the connection. */
  get status(): LiveStatus {
    return this.#socket.status;
  }

  /** Receives events of one type; the first handler opens the connection. @returns ends the subscription */
  onEvent<Type extends keyof Messages & string>(type: Type, handler: (event: Messages[Type]) => void): () => void {
    const handlers = this.#handlers.get(type) ?? new Set();
    this.#handlers.set(type, handlers);
    return this.#listen(handlers, handler as (message: never) => void);
  }

  /** Receives every event, also of types that this version of the client does not know. @returns ends the subscription */
  onAnyEvent(handler: (event: AnyEvent) => void): () => void {
    return this.#listen(this.#anyHandlers, handler);
  }

  /**
   * Is called when there may be events that were not received: load again what is shown. That is so at the first connection, at the first
   * of another session, after an interruption of more than seven days, and after a restore of the service's database to an earlier point in
   * time. After other interruptions the events that were missed are delivered, in order and once, before the new ones, and this is not
   * called. Does not open the connection.
   * @returns ends the subscription
   */
  onGap(handler: () => void): () => void {
    this.#gapHandlers.add(handler);
    return () => {
      this.#gapHandlers.delete(handler);
    };
  }

  /** Receives every change of the connection, to show it; what to load again says `onGap`. @returns ends the subscription */
  onStatus(handler: (status: LiveStatus) => void): () => void {
    this.#statusHandlers.add(handler);
    return () => {
      this.#statusHandlers.delete(handler);
    };
  }

  /** Begins again with the current credential, if there is a handler: the connection does not continue the one before. */
  restart(): void {
    this.#socket.restart();
  }

  /** Ends the connection; the next handler opens a new one, which does not continue it. */
  close(): void {
    this.#socket.stop();
  }

  #listen<Handler>(handlers: Set<Handler>, handler: Handler): () => void {
    handlers.add(handler);
    this.#socket.start();
    return () => {
      handlers.delete(handler);
    };
  }

  /** An event that was delivered already: handlers get each one once, whatever connection brings it. */
  #isRepeat(eventId: unknown): boolean {
    if (typeof eventId !== 'string') return false;
    if (this.#seen.has(eventId)) return true;
    this.#seen.add(eventId);
    if (this.#seen.size > REMEMBERED_EVENTS) this.#seen.delete(this.#seen.values().next().value!);
    return false;
  }

  #deliver(message: Record<string, unknown>): void {
    if (typeof message.type !== 'string' || this.#isRepeat(message.event_id)) return;
    callAll(this.#handlers.get(message.type) ?? [], message as never);
    callAll(this.#anyHandlers, message as AnyEvent);
  }
}

/** A handler that throws does not affect the others. */
function callAll<Value>(handlers: Iterable<(value: Value) => void>, value: Value): void {
  for (const handler of [...handlers]) {
    try {
      handler(value);
    } catch (error) {
      console.error(error);
    }
  }
}
