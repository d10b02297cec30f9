import { once } from 'node:events';
import { type ClientOptions, WebSocket } from 'ws';

export interface SocketClient {
  ws: WebSocket;
  /** Every message received so far, parsed, without its ids. */
  received: Record<string, unknown>[];
  /** The ids of these messages. */
  ids: unknown[];
  /** The `event_id` of each. */
  eventIds: unknown[];
  /** Resolves when the socket closes. */
  closed: Promise<{ code: number; reason: string }>;
  /** The next message that was not taken yet. */
  next(): Promise<Record<string, unknown>>;
  say(text: string): void;
  /** Sends a ping and waits for its pong: all that was sent before has arrived by then. */
  ping(): Promise<void>;
}

const open = new Set<WebSocket>();

/** Connects a WebSocket client that records what it receives. */
export function connect(url: string, options: { protocols?: string[]; client?: ClientOptions } = {}): SocketClient {
  const ws = new WebSocket(url, options.protocols ?? [], options.client);
  open.add(ws);
  const received: Record<string, unknown>[] = [];
  const ids: unknown[] = [];
  const eventIds: unknown[] = [];
  const pongs: (() => void)[] = [];
  const wanted: ((message: Record<string, unknown>) => void)[] = [];
  let taken = 0;
  const deliver = (): void => {
    while (wanted.length > 0 && taken < received.length) wanted.shift()!(received[taken++]!);
  };
  ws.on('message', (data) => {
    const { id, event_id: eventId, ...message } = JSON.parse(String(data)) as Record<string, unknown>;
    if (message.type === 'pong') pongs.shift()?.();
    else {
      received.push(message);
      ids.push(id);
      eventIds.push(eventId);
    }
    deliver();
  });
  ws.on('error', () => undefined);
  const closed = once(ws, 'close').then(([code, reason]) => {
    open.delete(ws);
    return { code: Number(code), reason: String(reason) };
  });
  return {
    ws,
    received,
    ids,
    eventIds,
    closed,
    next: () =>
      new Promise((resolve) => {
        wanted.push(resolve);
        deliver();
      }),
    say: (text) => ws.send(text),
    ping: () =>
      new Promise((resolve) => {
        pongs.push(resolve);
        ws.send('{"type":"ping"}');
      }),
  };
}

/** Ends every client of the file. */
export function disconnectAll(): void {
  for (const ws of open) ws.terminate();
}
