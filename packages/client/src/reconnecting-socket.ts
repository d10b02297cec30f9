import { FeedPosition } from './feed-position.ts';

/** The part of a browser's WebSocket that is needed. */
export interface WebSocketLike {
  send(data: string): void;
  close(code?: number, reason?: string): void;
  onmessage: ((event: { data: unknown }) => void) | null;
  onclose: ((event: { code: number; reason: string }) => void) | null;
}

export type WebSocketConstructor = new (url: string, protocols?: string[]) => WebSocketLike;

/**
 * `idle` no handlers, or no credential · `connecting` · `open` signed in · `waiting` the next attempt starts by itself ·
 * `refused` the credential is not accepted; no more attempts until it changes.
 */
export type LiveStatus = 'idle' | 'connecting' | 'open' | 'waiting' | 'refused';

export interface SocketRules {
  WebSocket: WebSocketConstructor;
  /** Address and protocols of a connection. @returns null without a credential: the socket stays idle until `restart` */
  target(): Promise<{ url: string; protocols?: string[] } | null>;
  /** The service refused the credential. @returns whether another attempt makes sense */
  renew(reason: string): Promise<boolean>;
  onMessage(message: Record<string, unknown>): void;
  /** A connection does not continue an earlier one; called before its first message. */
  onGap(): void;
  /** `id` of the last message that was processed, by an earlier process for example; the first connection continues there. */
  after?: string;
  onStatus(status: LiveStatus): void;
  timing?: Partial<SocketTiming>;
}

export interface SocketTiming {
  pingMs: number;
  /** No message for this long after a ping means that the connection is dead. */
  pongMs: number;
  /** Time for connecting and greeting. */
  openMs: number;
  firstPauseMs: number;
  maxPauseMs: number;
}

const TIMING: SocketTiming = { pingMs: 25_000, pongMs: 10_000, openMs: 15_000, firstPauseMs: 500, maxPauseMs: 30_000 };
const CLOSE_POLICY = 1008;

/** Keeps one socket open: pings, detects a dead connection, reconnects after growing, jittered pauses, renews a refused credential, continues after the last message. */
export class ReconnectingSocket {
  readonly #rules: SocketRules;
  readonly #timing: SocketTiming;
  readonly #position: FeedPosition;
  #isWanted = false;
  /** Grows with every new start; messages of an older connection are ignored. */
  #era = 0;
  #socket: WebSocketLike | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #failures = 0;
  #status: LiveStatus = 'idle';

  constructor(rules: SocketRules) {
    this.#rules = rules;
    this.#timing = { ...TIMING, ...rules.timing };
    this.#position = new FeedPosition(rules.after);
  }

  get status(): LiveStatus {
    return this.#status;
  }

  start(): void {
    if (this.#isWanted) return;
    this.#isWanted = true;
    this.#connectAtOnce();
  }

  stop(): void {
    this.#isWanted = false;
    this.#position.forget();
    this.#drop();
    this.#say('idle');
  }

  /** Begins again at once, for example with the credential of another user. Connects only after `start`. */
  restart(): void {
    this.#position.forget();
    if (this.#isWanted) this.#connectAtOnce();
  }

  /** The network is back: does not wait for the pause to end. */
  hurry(): void {
    if (this.#status === 'waiting') this.#connectAtOnce();
  }

  #connectAtOnce(): void {
    this.#drop();
    this.#failures = 0;
    void this.#connect();
  }

  #drop(): void {
    this.#era += 1;
    clearTimeout(this.#timer);
    const socket = this.#socket;
    this.#socket = null;
    if (!socket) return;
    socket.onmessage = null;
    socket.onclose = null;
    socket.close(1000);
  }

  async #connect(): Promise<void> {
    const era = this.#era;
    this.#say('connecting');
    let target: Awaited<ReturnType<SocketRules['target']>>;
    try {
      target = await this.#rules.target();
    } catch {
      if (era === this.#era) this.#again();
      return;
    }
    if (era !== this.#era) return;
    if (target === null) {
      this.#say('idle');
      return;
    }
    const socket = new this.#rules.WebSocket(this.#position.urlAfter(target.url), target.protocols);
    this.#socket = socket;
    socket.onmessage = ({ data }) => this.#receive(String(data));
    socket.onclose = ({ code, reason }) => void this.#closed(code, reason);
    this.#expect(this.#timing.openMs);
  }

  #receive(text: string): void {
    let message: unknown;
    try {
      message = JSON.parse(text);
    } catch {
      return;
    }
    if (typeof message !== 'object' || message === null) return;
    // Any message proves that the connection is alive; the first message is the greeting.
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#ping(), this.#timing.pingMs);
    const isGreeting = this.#status !== 'open';
    this.#failures = 0;
    const fields = message as Record<string, unknown>;
    const isGap = isGreeting && !this.#position.greeted(fields);
    this.#position.received(fields);
    this.#say('open');
    if (isGap) this.#rules.onGap();
    if (!isGreeting && fields.type !== 'pong') this.#rules.onMessage(fields);
  }

  #ping(): void {
    this.#socket?.send('{"type":"ping"}');
    this.#expect(this.#timing.pongMs);
  }

  /** Closes the connection when no message arrives in time. */
  #expect(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#drop();
      this.#again();
    }, ms);
  }

  async #closed(code: number, reason: string): Promise<void> {
    this.#socket = null;
    this.#era += 1;
    const era = this.#era;
    clearTimeout(this.#timer);
    if (code !== CLOSE_POLICY) {
      this.#again();
      return;
    }
    this.#say('connecting');
    const mayTry = await this.#rules.renew(reason).catch(() => true);
    if (era !== this.#era) return;
    if (!mayTry) this.#say('refused');
    // A renewed credential gets one attempt at once; if it is refused again, the pause applies.
    else if (this.#failures === 0) {
      this.#failures = 1;
      void this.#connect();
    } else this.#again();
  }

  #again(): void {
    const { firstPauseMs, maxPauseMs } = this.#timing;
    const pauseMs = Math.min(maxPauseMs, firstPauseMs * 2 ** Math.min(this.#failures, 16));
    this.#failures += 1;
    this.#say('waiting');
    clearTimeout(this.#timer);
    // Clients that lost the service at the same time must not reconnect at the same time.
    this.#timer = setTimeout(() => void this.#connect(), pauseMs * (0.5 + Math.random() / 2));
  }

  #say(status: LiveStatus): void {
    if (status === this.#status) return;
    this.#status = status;
    this.#rules.onStatus(status);
  }
}
