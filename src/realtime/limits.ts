import { MINUTE_MS, SECOND_MS } from '../core/clock.ts';

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
