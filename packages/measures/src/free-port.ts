import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * A port that is free, and that no `listen(0)` and no outgoing connection gets while its owner starts or is started again: from below
 * the range that systems give those.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(15_000, 30_000);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
    });
    if (isFree) return port;
  }
}
