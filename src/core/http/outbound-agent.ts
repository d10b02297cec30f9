import { type ClientRequestArgs, Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { LookupFunction } from 'node:net';
import type { Duplex } from 'node:stream';

/** The connection was not established in time. */
class ConnectTimeoutError extends Error {
  readonly code = 'ECONNECTTIMEOUT';

  constructor() {
    super('The connection took too long');
    this.name = 'ConnectTimeoutError';
  }
}

export interface AgentOptions {
  connectTimeoutMs: number;
  /** Resolves names to addresses; the address guard is used here. */
  lookup?: LookupFunction;
}

/** Shorter than the keep-alive time of common servers (5 s and more), so that a reused socket is not one that is being closed. */
const IDLE_SOCKET_MS = 4_000;

type ConnectCallback = (error: Error | null, stream: Duplex) => void;

function limitConnectTime(socket: Duplex | null | undefined, readyEvent: string, timeoutMs: number): void {
  if (!socket) return;
  const timer = setTimeout(() => socket.destroy(new ConnectTimeoutError()), timeoutMs);
  const stop = (): void => clearTimeout(timer);
  socket.once(readyEvent, stop);
  socket.once('close', stop);
}

class GuardedHttpAgent extends HttpAgent {
  readonly #connectTimeoutMs: number;

  constructor({ connectTimeoutMs, lookup }: AgentOptions) {
    super({ keepAlive: true, timeout: IDLE_SOCKET_MS, lookup });
    this.#connectTimeoutMs = connectTimeoutMs;
  }

  override createConnection(options: ClientRequestArgs, callback?: ConnectCallback): Duplex | null | undefined {
    const socket = super.createConnection(options, callback);
    limitConnectTime(socket, 'connect', this.#connectTimeoutMs);
    return socket;
  }
}

class GuardedHttpsAgent extends HttpsAgent {
  readonly #connectTimeoutMs: number;

  constructor({ connectTimeoutMs, lookup }: AgentOptions) {
    super({ keepAlive: true, timeout: IDLE_SOCKET_MS, lookup });
    this.#connectTimeoutMs = connectTimeoutMs;
  }

  override createConnection(options: ClientRequestArgs, callback?: ConnectCallback): Duplex | null | undefined {
    const socket = super.createConnection(options, callback);
    limitConnectTime(socket, 'secureConnect', this.#connectTimeoutMs);
    return socket;
  }
}

/** Keep-alive agents with a connect time-out and, for user-given URLs, a `lookup` that checks every address before a byte is sent. */
export function createAgents(options: AgentOptions): (url: URL) => HttpAgent {
  const http = new GuardedHttpAgent(options);
  const https = new GuardedHttpsAgent(options);
  return (url) => (url.protocol === 'https:' ? https : http);
}
