import type { Duplex } from 'node:stream';
import type { RawData, WebSocket } from 'ws';
import { MINUTE_MS, SECOND_MS } from '../core/clock.ts';
import type { DeliveredEvent } from '../core/events/event-bus.ts';
import type { Random } from '../core/random.ts';

/** Bounds of the sockets; tests pass smaller ones. */
export interface RealtimeLimits {
  /** Longest message a client may send, in bytes; a longer one closes with 1009. */
  maxMessageBytes: number;
  /** Messages and pings a client may send in ten seconds; more closes with 1008. */
  maxMessagesPer10s: number;
  /** Bytes that may wait for a slow client; more closes with 1013. */
  maxQueuedBytes: number;
  /** Sockets of one user on `/cabinet/ws`, on this instance. */
  maxPerUser: number;
  /** Sockets of both feeds on this instance. */
  maxSockets: number;
  /** Pause between the server's pings to a client. */
  heartbeatMs: number;
  /** A client that sends nothing for this long, not even a pong, is gone. */
  idleMs: number;
  /** How often heartbeats, expiries and credentials are checked. */
  tickMs: number;
  /** A checked API token is checked again after this; it needs a query only if the shared cache has dropped it. */
  recheckTokenMs: number;
  /** All sessions with sockets of the cabinet are looked at again after this, in one query; what changes between is notified (spec 10 U3). */
  recheckUserMs: number;
}

export const DEFAULT_LIMITS: RealtimeLimits = {
  maxMessageBytes: 16 * 1024,
  maxMessagesPer10s: 200,
  maxQueuedBytes: 1024 * 1024,
  maxPerUser: 20,
  maxSockets: 20_000,
  heartbeatMs: 30 * SECOND_MS,
  idleMs: 65 * SECOND_MS,
  tickMs: SECOND_MS / 2,
  recheckTokenMs: SECOND_MS / 2,
  recheckUserMs: MINUTE_MS,
};

/** Close codes of RFC 6455 and its registry that the service uses. */
export const CLOSE = { goingAway: 1001, policy: 1008, restart: 1012, tryLater: 1013 } as const;

const TEXT_FRAME = 0x81;
const LENGTH_16 = 126;
const LENGTH_64 = 127;

/**
 * A whole unmasked WebSocket text frame (RFC 6455 section 5.2). What a server sends is not masked, so one frame made once serves
 * every socket.
 */
export function textFrame(text: string): Buffer {
  const length = Buffer.byteLength(text);
  const headLength = length < LENGTH_16 ? 2 : length < 65_536 ? 4 : 10;
  const frame = Buffer.allocUnsafe(headLength + length);
  frame[0] = TEXT_FRAME;
  if (headLength === 2) frame[1] = length;
  else if (headLength === 4) {
    frame[1] = LENGTH_16;
    frame.writeUInt16BE(length, 2);
  } else {
    frame[1] = LENGTH_64;
    frame.writeBigUInt64BE(BigInt(length), 2);
  }
  frame.write(text, headLength);
  return frame;
}

/**
 * `event_id` of a frame: the same for an event on every instance and after every resume or restart, while `id` is a position (spec 10 K4).
 * The time distinguishes events whose row numbers were given again after a restore of the database to an earlier point in time.
 */
export function eventIdOf({ id, createdAt }: Pick<DeliveredEvent, 'id' | 'createdAt'>): string {
  return `evt_${id.toString(36)}_${createdAt.getTime().toString(36)}`;
}

/**
 * An event as `/ws` sends it: UTC time without a zone, to the microsecond as clients know it (spec 00, Times). `id` is opaque: a client that
 * connects again with it as `after` receives what it missed (spec 08 S6).
 */
export function feedText(event: DeliveredEvent): string {
  const { type, payload, createdAt, positionText } = event;
  const timestamp = `${createdAt.toISOString().slice(0, -1)}000`;
  return JSON.stringify({ type, payload, timestamp, id: positionText, event_id: eventIdOf(event) });
}

/** An event as `/cabinet/ws` sends it: the payload's fields, `id` and `event_id` beside the type (spec 05 section 12.2). */
export function cabinetText(event: DeliveredEvent): string {
  const type = { type: event.type };
  // First for the reader, and again at the end so that no field of the payload replaces it.
  return JSON.stringify({ ...type, ...event.payload, ...type, id: event.positionText, event_id: eventIdOf(event) });
}

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

  /** Writes ready frames. A client whose queue grows too large is dropped instead. */
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

  /** `{type: 'ping'}` is answered; everything else is ignored. */
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

const REASON = 'Service Restart';

/**
 * Asks the clients to connect again, at times spread over `ms`, each at a random time of its share: all at once they would reach the
 * other instances at the same time (spec 08 S11).
 * @returns stops it; the sockets that are left stay open
 */
export function closeSpread(sockets: Iterable<WebSocket>, ms: number, random: Random): () => void {
  const all = [...sockets];
  const share = ms / all.length;
  const timers = all.map((socket, index) =>
    setTimeout(
      () => {
        // A paused socket would not read the client's answer.
        socket.resume();
        socket.close(CLOSE.restart, REASON);
      },
      Math.floor(share * (index + random.int(0, 1_000) / 1_000)),
    ),
  );
  return () => {
    for (const timer of timers) clearTimeout(timer);
  };
}
