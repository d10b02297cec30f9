/** A TCP proxy to PostgreSQL that ends a session as a server does that is shut down. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface EndingProxy {
  /** Address of the server with host and port of the proxy. */
  url: string;
  /** The next packet that ends a statement carries the end of the session too; the promise resolves when it was sent. */
  endAfterStatement(): Promise<void>;
  close(): Promise<void>;
}

/** `ReadyForQuery` outside of a transaction, the last message of every statement. */
const READY = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);

export async function startEndingProxy(serverUrl: string): Promise<EndingProxy> {
  const target = new URL(serverUrl);
  const sockets = new Set<Socket>();
  let onEnded: (() => void) | null = null;
  const server = createServer((client) => {
    const upstream = connect(Number(target.port || 5432), target.hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        client.destroy();
        upstream.destroy();
      });
    }
    client.pipe(upstream);
    upstream.on('data', (chunk: Buffer) => {
      const isStatementEnd = chunk.subarray(-READY.length).equals(READY);
      if (onEnded === null || !isStatementEnd) {
        client.write(chunk);
        return;
      }
      client.end(Buffer.concat([chunk, endOfSession()]));
      onEnded();
      onEnded = null;
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(serverUrl);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    endAfterStatement: () =>
      new Promise((resolve) => {
        onEnded = resolve;
      }),
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** `ErrorResponse`, as a server sends it to every session when it stops. */
function endOfSession(): Buffer {
  const fields = ['SFATAL', 'VFATAL', 'C57P01', 'Mterminating connection due to administrator command'];
  const body = Buffer.from(`${fields.join('\0')}\0\0`);
  const head = Buffer.alloc(5);
  head.write('E');
  head.writeUInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}
