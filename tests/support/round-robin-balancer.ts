import { once } from 'node:events';
import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

const CHECK_EVERY_MS = 200;

/** A load balancer as an operator has one: keeps connections to its instances, asks `/readyz`, repeats nothing. */
export interface Balancer {
  url: string;
  add(instanceUrl: string): void;
  /** Forgets an instance that has ended. */
  remove(instanceUrl: string): void;
  /** Whether requests are sent to the instance: by the last check it was ready. */
  uses(instanceUrl: string): boolean;
  /** Requests that the instance has not answered yet. */
  underWay(instanceUrl: string): number;
  close(): Promise<void>;
}

interface Instance {
  url: URL;
  isReady: boolean;
  underWay: number;
}

export async function startBalancer(): Promise<Balancer> {
  const instances = new Map<string, Instance>();
  const agent = new Agent({ keepAlive: true });
  let turn = 0;
  const next = (): Instance | undefined => {
    const ready = [...instances.values()].filter(({ isReady }) => isReady);
    turn += 1;
    return ready[turn % ready.length];
  };
  const server = createServer((incoming, outgoing) => {
    const instance = next();
    const fail = (reason: string) => {
      if (!outgoing.headersSent) outgoing.writeHead(502, { 'content-type': 'text/plain' });
      outgoing.end(reason);
    };
    if (!instance) return fail('no instance is ready');
    instance.underWay += 1;
    const forwarded = request(
      { host: instance.url.hostname, port: instance.url.port, method: incoming.method, path: incoming.url, agent },
      (answer) => {
        // These belong to one connection, not to the answer.
        const { connection: _connection, 'keep-alive': _keepAlive, 'transfer-encoding': _encoding, ...headers } = answer.headers;
        outgoing.writeHead(answer.statusCode ?? 502, headers);
        answer.pipe(outgoing);
        answer.on('error', (error) => fail(String(error)));
      },
    );
    for (const name of ['content-type', 'content-length', 'x-api-key', 'idempotency-key']) {
      const value = incoming.headers[name];
      if (value !== undefined) forwarded.setHeader(name, value);
    }
    forwarded.on('close', () => {
      instance.underWay -= 1;
    });
    forwarded.on('error', (error) => fail(String((error as { code?: string }).code ?? error)));
    incoming.pipe(forwarded);
  });
  const check = async (instance: Instance): Promise<void> => {
    const answered = await fetch(new URL('/readyz', instance.url)).then(
      ({ status }) => status === 200,
      () => false,
    );
    instance.isReady = answered;
  };
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;
  const checkAll = async (): Promise<void> => {
    await Promise.all([...instances.values()].map(check));
    if (!isClosed) timer = setTimeout(checkAll, CHECK_EVERY_MS);
  };
  await checkAll();
  // A stalled process does not find its connection closed.
  server.keepAliveTimeout = 0;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    add: (url) => void instances.set(url, { url: new URL(url), isReady: false, underWay: 0 }),
    remove: (url) => void instances.delete(url),
    uses: (url) => instances.get(url)?.isReady ?? false,
    underWay: (url) => instances.get(url)?.underWay ?? 0,
    close: async () => {
      isClosed = true;
      clearTimeout(timer);
      agent.destroy();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
