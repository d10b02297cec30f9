/** A TCP proxy in front of the database whose answers can be lost, as behind a lost route. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { undoAtEnd } from './cleanup.ts';

export interface SilentProxy {
  /** Address of the database through the proxy. */
  url: string;
  /** Answers are lost from now on without a reset, until `false`. A connection that lost one stays silent for good. */
  silence(isSilent: boolean): void;
  close(): Promise<void>;
}

/** @param url address of a database on the server */
export async function startSilentProxy(url: string): Promise<SilentProxy> {
  const target = new URL(url);
  const open = new Set<Socket>();
  let isSilent = false;
  const server = createServer((client) => {
    const upstream = connect(Number(target.port || 5432), target.hostname);
    let isLost = false;
    client.on('data', (data) => upstream.write(data));
    upstream.on('data', (data) => {
      isLost ||= isSilent;
      if (!isLost) client.write(data);
    });
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      open.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        open.delete(socket);
        other.destroy();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const proxied = new URL(url);
  proxied.hostname = '127.0.0.1';
  proxied.port = String((server.address() as AddressInfo).port);
  const close = undoAtEnd(async () => {
    for (const socket of open) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return {
    url: proxied.href,
    silence: (silent) => {
      isSilent = silent;
    },
    close: async () => void (await close()),
  };
}
