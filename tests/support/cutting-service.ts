import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventually } from './eventually.ts';

/** A service behind a proxy that loses an answer, or refuses everything for a while. */
export interface CuttingService {
  url: string;
  /** The next request to this path is carried out, but its answer is never sent. @returns when it has been carried out */
  withholdAnswer(path: string): Promise<void>;
  /** Answers 503 with Retry-After until `acceptAll`. */
  refuseAll(): void;
  acceptAll(): void;
  /** Waits until so many requests were refused. */
  hasRefused(count: number): Promise<void>;
  close(): Promise<void>;
}

export async function startCuttingService(target: string): Promise<CuttingService> {
  const withheld: { path: string; done: () => void }[] = [];
  let isAway = false;
  let refused = 0;
  const server = createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    if (isAway) {
      refused += 1;
      outgoing.writeHead(503, { 'retry-after': '1', 'content-type': 'application/json' }).end('{"detail":"away"}');
      return;
    }
    const { host: _host, connection: _connection, 'content-length': _length, ...headers } = incoming.headers;
    const body = chunks.length > 0 ? Buffer.concat(chunks) : null;
    const request = { method: incoming.method ?? 'GET', headers: headers as Record<string, string>, body };
    try {
      const response = await fetch(`${target}${incoming.url}`, request);
      const answer = Buffer.from(await response.arrayBuffer());
      if (withheld.some(({ path }) => path === incoming.url)) {
        for (const { done } of withheld.splice(0)) done();
        return;
      }
      const after = response.headers.get('retry-after');
      outgoing.writeHead(response.status, {
        'content-type': response.headers.get('content-type') ?? 'application/json',
        ...(after === null ? {} : { 'retry-after': after }),
      });
      outgoing.end(answer);
    } catch {
      incoming.socket.destroy();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    withholdAnswer: (path) =>
      new Promise((resolve) => {
        withheld.push({ path, done: resolve });
      }),
    refuseAll: () => {
      refused = 0;
      isAway = true;
    },
    acceptAll: () => {
      isAway = false;
    },
    hasRefused: (count) =>
      eventually(() => {
        if (refused < count) throw new Error(`${refused} requests were refused`);
      }),
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}
