import type { WebSocket } from 'ws';
import type { Random } from '../core/random.ts';
import { CLOSE } from './limits.ts';

const REASON = 'Service Restart';

/**
 * Asks the clients to connect again, at times spread over `ms`, each at a random moment of its share: all at once they would reach the
 * other instances at the same moment (spec 08 S11).
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
