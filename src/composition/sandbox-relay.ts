import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** Longer than a lease and the start of the fakes. */
const WAIT_MS = 10_000;
const LOOK_AGAIN_MS = 100;

export interface SandboxRelay {
  /** `http://127.0.0.1:{port}` */
  url: string;
  close(): Promise<void>;
}

/**
 * A port of this instance that leads to a fake of the instance that hosts it. Between two hosts a new connection waits, so that a caller gets
 * its answer a little later instead of a 502 (spec 10 F9).
 * @param look finds the fake's address now; null = no instance hosts the fakes
 */
export function startSandboxRelay(look: () => Promise<string | null>): Promise<SandboxRelay> {
  const sockets = new Set<Socket>();
  const known = (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    return socket;
  };
  const server = createServer({ allowHalfOpen: true }, (caller) => {
    known(caller);
    void connectToHost(look, () => caller.destroyed).then((host) => {
      if (!host) return caller.destroy();
      known(host);
      caller.on('close', () => host.destroy());
      host.on('close', () => caller.destroy());
      caller.pipe(host).pipe(caller);
    });
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      server.unref();
      resolve({
        url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
        close: () =>
          new Promise((done) => {
            server.close(() => done());
            for (const socket of sockets) socket.destroy();
          }),
      });
    });
  });
}

/** Null when there is no host within the time, or nobody waits any more. Never rejects. */
async function connectToHost(look: () => Promise<string | null>, isGone: () => boolean): Promise<Socket | null> {
  const end = performance.now() + WAIT_MS;
  while (performance.now() < end && !isGone()) {
    // Any failure: the database is away for the moment, and the next look finds the host.
    const url = await look().catch(() => null);
    const socket = url === null ? null : await open(url);
    if (socket) return socket;
    await delay(LOOK_AGAIN_MS);
  }
  return null;
}

function open(url: string): Promise<Socket | null> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.once('connect', () => resolve(socket));
    socket.once('error', () => resolve(null));
  });
}
