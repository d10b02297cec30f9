/** A client of `/ws` or `/cabinet/ws` that reconnects, goes on after the last id it has, and records what it gets. */
import { WebSocket } from 'ws';
import { type FeedName, frameIdentity } from './event-identity.ts';

export interface ResumingSocketOptions {
  feed: FeedName;
  /** `ws://host:port` of an instance or a balancer; asked before each attempt. */
  address: () => string;
  token: string;
  /** Pause before the next attempt, asked each time. */
  pauseMs: () => number;
  /** Called with each event as it arrives. */
  onEvent?: () => void;
}

interface SocketRecord {
  /** Identities of the events in the order of their arrival. */
  readonly events: readonly string[];
  /** Greetings after the first one. */
  readonly reconnects: number;
  /** Whether frames have an id, so that the service can resume after it. */
  readonly hasIds: boolean;
  /** How connections closed, with how often; refused upgrades by their status. */
  readonly endings: ReadonlyMap<string, number>;
  /** Frames that are neither an event nor known, by their type. */
  readonly otherFrames: ReadonlyMap<string, number>;
}

export interface ResumingSocket {
  readonly name: string;
  readonly feed: FeedName;
  readonly record: SocketRecord;
  isOpen(): boolean;
  /** Breaks the connection, as a network does; it connects again by itself. */
  cut(): void;
  /** Closes the connection for good. */
  stop(): void;
}

const PATHS: Record<FeedName, string> = { ws: '/ws', cabinet: '/cabinet/ws' };
const GREETINGS = ['connection', 'connected'];

/** Connects and keeps connected until `stop`. */
export function openResumingSocket(name: string, options: ResumingSocketOptions): ResumingSocket {
  const { feed } = options;
  const events: string[] = [];
  const endings = new Map<string, number>();
  const otherFrames = new Map<string, number>();
  const record = { events, endings, otherFrames, reconnects: -1, hasIds: false };
  let socket: WebSocket | null = null;
  let timer: NodeJS.Timeout | undefined;
  let lastId: string | null = null;
  let isGreeted = false;
  let isStopped = false;

  const receive = (text: string): void => {
    const frame = JSON.parse(text) as Record<string, unknown>;
    if (GREETINGS.includes(String(frame.type))) {
      isGreeted = true;
      record.reconnects += 1;
    } else {
      const identity = frameIdentity(feed, frame);
      if (identity === null) count(otherFrames, String(frame.type));
      else {
        events.push(identity);
        options.onEvent?.();
      }
    }
    if (typeof frame.id === 'string' || (feed === 'ws' && typeof frame.id === 'number')) {
      lastId = String(frame.id);
      record.hasIds = true;
    }
  };
  const connect = (): void => {
    const query = new URLSearchParams({ token: options.token, ...(lastId === null ? {} : { after: lastId }) });
    const current = new WebSocket(`${options.address()}${PATHS[feed]}?${query}`, {
      perMessageDeflate: false,
      handshakeTimeout: 10_000,
    });
    socket = current;
    isGreeted = false;
    current.on('message', (data) => receive(String(data)));
    current.on('error', (error: NodeJS.ErrnoException) => count(endings, error.code ?? error.message));
    current.on('close', (code, reason) => {
      if (isStopped) return;
      isGreeted = false;
      count(endings, `closed ${code} ${reason}`.trim());
      timer = setTimeout(connect, options.pauseMs());
    });
  };
  connect();
  return {
    name,
    feed,
    record,
    isOpen: () => isGreeted,
    cut: () => socket?.terminate(),
    stop: () => {
      isStopped = true;
      clearTimeout(timer);
      socket?.terminate();
    },
  };
}

function count(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
