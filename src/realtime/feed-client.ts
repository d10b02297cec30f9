import type { Duplex } from 'node:stream';
import type { RawData, WebSocket } from 'ws';
import { CLOSE, type RealtimeLimits } from './limits.ts';
import { textFrame } from './text-frame.ts';

const PONG = textFrame('{"type":"pong"}');
const RATE_WINDOW_MS = 10_000;
/** A peer that does not answer the close is cut off after this. */
const CLOSE_GRACE_MS = 1_000;

let lastNumber = 0;

/** One open socket: answers pings, limits its queue and the number of its messages. */
export class FeedClient {
  /** Number of the first frame of the feed that this client is to receive; infinite while it is given what it missed. */
  firstFrame = Number.POSITIVE_INFINITY;
  readonly #ws: WebSocket;
  readonly #socket: Duplex;
  readonly #limits: RealtimeLimits;
  #lastSeenAt = performance.now();
  #lastPingAt: number;
  #windowStart = 0;
  #windowCount = 0;

  /** @param socket the connection below `ws`; complete frames are written to it directly, between those of `ws` */
  constructor(ws: WebSocket, socket: Duplex, limits: RealtimeLimits) {
    this.#ws = ws;
    this.#socket = socket;
    this.#limits = limits;
    // Clients that connect together are not pinged together.
    lastNumber += 1;
    this.#lastPingAt = performance.now() - ((lastNumber * 97) % limits.heartbeatMs);
    ws.on('message', (data, isBinary) => this.#receive(data, isBinary));
    ws.on('ping', () => this.#count());
    ws.on('pong', () => {
      this.#lastSeenAt = performance.now();
    });
  }

  /** Whether the client receives events as they happen. */
  get isLive(): boolean {
    return this.firstFrame !== Number.POSITIVE_INFINITY;
  }

  get isOpen(): boolean {
    return this.#ws.readyState === this.#ws.OPEN;
  }

  /** Writes ready frames. A client whose queue grows too large is dropped instead (spec 06 section 2.2). */
  send(frames: Buffer): void {
    if (!this.isOpen) return;
    const waiting = this.#socket.writableLength;
    if (waiting > 0 && waiting + frames.length > this.#limits.maxQueuedBytes) this.close(CLOSE.tryLater, 'Too slow');
    else this.#socket.write(frames);
  }

  /** Resolves when the client has read what was sent, or is closed. */
  async drained(): Promise<void> {
    if (!this.isOpen || !this.#socket.writableNeedDrain) return;
    await new Promise<void>((resolve) => {
      const finish = (): void => {
        this.#socket.off('drain', finish);
        this.#socket.off('close', finish);
        resolve();
      };
      this.#socket.on('drain', finish);
      this.#socket.on('close', finish);
    });
  }

  /** Closes the connection with a reason; a peer that does not answer is cut off. */
  close(code: number, reason: string): void {
    if (!this.isOpen) return;
    this.#ws.close(code, reason);
    const timer = setTimeout(() => this.#ws.terminate(), CLOSE_GRACE_MS);
    timer.unref();
    this.#ws.once('close', () => clearTimeout(timer));
  }

  terminate(): void {
    this.#ws.terminate();
  }

  /** Pings when it is due and drops a peer that is gone or does not read. */
  beat(now: number): void {
    if (now - this.#lastSeenAt > this.#limits.idleMs) {
      this.#ws.terminate();
    } else if (this.#socket.writableLength > this.#limits.maxQueuedBytes) {
      this.close(CLOSE.tryLater, 'Too slow');
    } else if (this.isOpen && now - this.#lastPingAt >= this.#limits.heartbeatMs) {
      this.#lastPingAt = now;
      this.#ws.ping();
    }
  }

  /** `{type: 'ping'}` is answered; everything else is ignored (spec 05 section 12). */
  #receive(data: RawData, isBinary: boolean): void {
    this.#count();
    if (!isBinary && this.isOpen && isPing(String(data))) this.send(PONG);
  }

  #count(): void {
    const now = performance.now();
    this.#lastSeenAt = now;
    if (now - this.#windowStart > RATE_WINDOW_MS) {
      this.#windowStart = now;
      this.#windowCount = 0;
    }
    this.#windowCount += 1;
    if (this.#windowCount > this.#limits.maxMessagesPer10s) this.close(CLOSE.policy, 'Too many messages');
  }
}

function isPing(text: string): boolean {
  try {
    const message: unknown = JSON.parse(text);
    return typeof message === 'object' && message !== null && 'type' in message && message.type === 'ping';
  } catch {
    return false;
  }
}
