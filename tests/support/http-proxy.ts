import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';

export interface HttpProxy {
  /** `127.0.0.1:{port}` */
  host: string;
  /** Destinations that were asked for, as named: `name:port`. */
  asked: string[];
  close(): Promise<void>;
}

/**
 * An HTTP proxy with CONNECT on loopback that leads every destination to `target`.
 * @param password where given, it asks for the user `user` with it
 */
export async function startHttpProxy(options: { target: { host: string; port: number }; password?: string }): Promise<HttpProxy> {
  const asked: string[] = [];
  const open = new Set<Socket>();
  const wanted =
    options.password === undefined ? undefined : `Basic ${Buffer.from(`user:${options.password}`).toString('base64')}`;
  const server = createServer();
  server.on('connection', (client) => open.add(client.on('error', () => undefined)));
  server.on('connect', (request, client) => {
    asked.push(request.url!);
    if (request.headers['proxy-authorization'] !== wanted) {
      client.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
      return;
    }
    client.write('HTTP/1.1 200 Connection established\r\n\r\n');
    const remote = connect(options.target);
    open.add(remote.on('error', () => client.destroy()));
    client.pipe(remote).pipe(client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of open) socket.destroy();
      }),
  };
}
