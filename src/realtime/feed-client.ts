import type { Duplex } from 'node:stream';
import type { RawData, WebSocket } from 'ws';
import { CLOSE, type RealtimeLimits } from './limits.ts';
import { textFrame } from './text-frame.ts';

const PONG = textFrame('{"type":"pong"}');
const RATE_WINDOW_MS = 10_000;
/** A peer that does not answer the close is cut off after this. */
const CLOSE_GRACE_MS = 1_000;

let lastNumber = 0;

/** Part of the queue's limit that a client which catches up may use, so that live frames have room beside it. */
const CATCH_UP_SHARE = 1 / 4;

/**
 * One open socket: answers pings, limits its queue and the number of its messages. It receives live frames after `join`, or between `collect` and
 * `release` stores them while it is given what it missed.
 */
export class FeedClient {
  /** Number of the first frame of the feed that this client is to receive; infinite before `join` and `collect`. */
  #firstFrame = Number.POSITIVE_INFINITY;
  /** Live frames that are sent when the client has what it missed. */
  #collected: Buffer[] | null = null;
  #collectedBytes = 0;
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

  get firstFrame(): number {
    return this.#firstFrame;
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

  /** Bytes that are written to this client at once while it catches up, and that are collected for it. */
  get catchUpBytes(): number {
    return this.#limits.maxQueuedBytes * CATCH_UP_SHARE;
  }

  /** Writes ready frames, however long; resolves when the connection has taken them, or is closed. */
  async sendAndWait(frames: Buffer): Promise<void> {
    if (!this.isOpen) return;
    await new Promise<void>((resolve) => {
      const finish = (): void => {
        this.#socket.off('close', finish);
        resolve();
      };
      this.#socket.on('close', finish);
      this.#socket.write(frames, finish);
    });
  }

  /** Sends live frames from now on. @param firstFrame number of the next frame of the feed */
  join(firstFrame: number): void {
    this.#firstFrame = firstFrame;
    this.#collected = null;
  }

  /** Stores live frames from now on, until `release` or until they are too many. @param firstFrame as of `join` */
  collect(firstFrame: number): void {
    this.#firstFrame = firstFrame;
    this.#collected = [];
    this.#collectedBytes = 0;
  }

  /** Sends what was collected; later live frames are sent as they come. @returns false when there was too much, so that it was dropped */
  release(): boolean {
    if (this.#collected === null) return false;
    const collected = this.#collected;
    this.#collected = null;
    if (collected.length > 0) this.send(Buffer.concat(collected));
    return true;
  }

  /** Sends or collects live frames; does nothing before `join` and `collect`. */
  sendLive(frames: Buffer): void {
    if (this.#firstFrame === Number.POSITIVE_INFINITY) return;
    if (this.#collected === null) {
      this.send(frames);
      return;
    }
    this.#collected.push(frames);
    this.#collectedBytes += frames.length;
    if (this.#collectedBytes <= this.catchUpBytes) return;
    this.#collected = null;
    this.#firstFrame = Number.POSITIVE_INFINITY;
  }

  /** Closes the connection with a reason; a peer that does not answer is cut off. */
  close(code: number, reason: string): void {
    if (!this.isOpen) return;
    this.#ws.close(code, reason);
    const timer = setTimeout(() => this.#ws.terminate(), CLOSE_GRACE_MS);
    timer.unref();
    this.#ws.once('close', () => clearTimeout(timer));
  }

  /**
   * Closes the connection of a peer that sends too much. What it still sends is read and discarded: closing a connection with unread
   * data resets it, and the peer would lose the close frame (1006 instead of 1008, spec 10 K6). The timer of `ws` cuts off a peer that does
   * not end.
   */
  #closeFlood(): void {
    if (!this.isOpen) return;
    this.#ws.close(CLOSE.policy, 'Too many messages');
    this.#socket.removeAllListeners('data').on('data', () => undefined);
    this.#socket.end();
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
    if (this.#windowCount > this.#limits.maxMessagesPer10s) this.#closeFlood();
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
