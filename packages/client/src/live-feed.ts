import { type LiveStatus, ReconnectingSocket, type SocketRules } from './reconnecting-socket.ts';

/** A message of a type that the caller did not name. */
export type AnyEvent = { type: string } & Record<string, unknown>;

/**
 * Handlers of one feed over one connection.
 * @typeParam Messages message by event type
 */
export class LiveFeed<Messages> {
  readonly #handlers = new Map<string, Set<(message: never) => void>>();
  readonly #anyHandlers = new Set<(message: AnyEvent) => void>();
  readonly #statusHandlers = new Set<(status: LiveStatus) => void>();
  readonly #socket: ReconnectingSocket;

  constructor(rules: Omit<SocketRules, 'onMessage' | 'onStatus'>) {
    this.#socket = new ReconnectingSocket({
      ...rules,
      onMessage: (message) => this.#deliver(message),
      onStatus: (status) => callAll(this.#statusHandlers, status),
    });
    // Browsers say when the network is back; elsewhere nobody does, and the pause ends by itself.
    const { addEventListener } = globalThis as { addEventListener?: (type: string, listener: () => void) => void };
    addEventListener?.call(globalThis, 'online', () => this.#socket.hurry());
  }

  /** State of the connection. */
  get status(): LiveStatus {
    return this.#socket.status;
  }

  /** Hears one type of events; the first handler opens the connection. @returns stops hearing */
  onEvent<Type extends keyof Messages & string>(type: Type, handler: (event: Messages[Type]) => void): () => void {
    const handlers = this.#handlers.get(type) ?? new Set();
    this.#handlers.set(type, handlers);
    return this.#listen(handlers, handler as (message: never) => void);
  }

  /** Hears every event, also of types that this version of the client does not know. @returns stops hearing */
  onAnyEvent(handler: (event: AnyEvent) => void): () => void {
    return this.#listen(this.#anyHandlers, handler);
  }

  /**
   * Hears every change of the connection. What happened while it was not `open` is not told again: after each `open`, read anew
   * what is shown.
   * @returns stops hearing
   */
  onStatus(handler: (status: LiveStatus) => void): () => void {
    this.#statusHandlers.add(handler);
    return () => {
      this.#statusHandlers.delete(handler);
    };
  }

  /** Connects anew with the present credential, if anybody listens. */
  restart(): void {
    this.#socket.restart();
  }

  /** Ends the connection; the next handler opens it again. */
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

  #deliver(message: Record<string, unknown>): void {
    if (typeof message.type !== 'string') return;
    callAll(this.#handlers.get(message.type) ?? [], message as never);
    callAll(this.#anyHandlers, message as AnyEvent);
  }
}

/** A handler that throws does not keep the others from hearing. */
function callAll<Value>(handlers: Iterable<(value: Value) => void>, value: Value): void {
  for (const handler of [...handlers]) {
    try {
      handler(value);
    } catch (error) {
      console.error(error);
    }
  }
}
