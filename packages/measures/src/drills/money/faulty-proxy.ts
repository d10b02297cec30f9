/** A proxy in front of a fake system that loses, delays and refuses some of the requests. */
import { createServer, request as forward, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { SeededRandom } from '../seeded-random.ts';

export interface ProxyOptions {
  target: string;
  random: SeededRandom;
  /** Of the requests: lost before they had an effect, lost after it, and answered with 503. Each from 0 to 1. */
  shares: FaultShares;
  /** Requests of which a repeat may be a second effect, since the system knows no key, or forgets it: the answers to many of them are lost. */
  once: { isOnce: (path: string) => boolean; lostAfter: number };
  /** Carries out one of them whose answer nobody will get. Default: as any other one. */
  loses?: (path: string, carryOut: () => Promise<ProxiedAnswer>) => Promise<ProxiedAnswer>;
  /** Longest delay before a request is passed on. */
  maxDelayMs: number;
}

interface FaultShares {
  lostBefore: number;
  lostAfter: number;
  unavailable: number;
}

interface ProxiedAnswer {
  status: number;
  headers: Record<string, string | string[]>;
  body: Buffer;
}

export interface FaultyProxy {
  url: string;
  /** Whether faults are made; delays go on. */
  isFaulty: boolean;
  /** Every request is answered with 503. */
  isDown: boolean;
  /**
   * Runs `work` when the next request has had its effect and before it is answered, at the latest after `limitMs`.
   * @param which `once`: only a request of which a repeat may be a second effect
   */
  atNextEffect(work: () => Promise<void>, limitMs: number, which?: 'any' | 'once'): Promise<void>;
  /** `lostOnce`: answers to requests of which a repeat may be a second effect, lost here or by a kill. */
  readonly counts: { passed: number; lostBefore: number; lostAfter: number; unavailable: number; lostOnce: number };
  close(): Promise<void>;
}

export async function startFaultyProxy(options: ProxyOptions): Promise<FaultyProxy> {
  const { target, random, shares, once, loses = (_path, carryOut) => carryOut(), maxDelayMs } = options;
  const counts = { passed: 0, lostBefore: 0, lostAfter: 0, unavailable: 0, lostOnce: 0 };
  const proxy = { isFaulty: true, isDown: false, counts };
  let next: { work: () => Promise<void>; which: 'any' | 'once' } | null = null;
  const server = createServer((incoming, outgoing) => {
    void pass(incoming, outgoing).catch(() => incoming.socket.destroy());
  });

  const pass = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk);
    await wait(random.between(0, maxDelayMs));
    const path = new URL(incoming.url ?? '/', target).pathname;
    const isEffect = incoming.method !== 'GET';
    const isOnce = isEffect && once.isOnce(path);
    const fault = chooseFault(isOnce ? { ...shares, lostAfter: once.lostAfter } : shares);
    counts[fault] += 1;
    if (fault === 'unavailable') {
      outgoing.writeHead(503, { 'content-type': 'text/html' }).end('<html>Service unavailable</html>');
      return;
    }
    if (fault === 'lostBefore') {
      incoming.socket.destroy();
      return;
    }
    // Taken before the effect: what follows the effect at the system depends on whether its answer is lost.
    const aimed = isEffect && next && (isOnce || next.which === 'any') ? next : null;
    if (aimed) next = null;
    const carryOut = () => send(incoming, Buffer.concat(chunks));
    const isLostOnce = isOnce && (aimed !== null || fault === 'lostAfter');
    if (isLostOnce) counts.lostOnce += 1;
    const answer = await (isLostOnce ? loses(path, carryOut) : carryOut()).finally(() => aimed?.work());
    if (isLostOnce || fault === 'lostAfter') incoming.socket.destroy();
    else outgoing.writeHead(answer.status, answer.headers).end(answer.body);
  };

  const atNextEffect: FaultyProxy['atNextEffect'] = async (work, limitMs, which = 'any') => {
    const timer = new AbortController();
    const { promise: effect, resolve, reject } = Promise.withResolvers<void>();
    const mine = { work: () => work().then(resolve, reject), which };
    next = mine;
    const late = wait(limitMs, undefined, { signal: timer.signal }).then(async () => {
      // A request that has taken it runs it.
      if (next !== mine) return;
      next = null;
      await mine.work();
    });
    await Promise.race([effect, late.then(() => effect)]);
    timer.abort();
    await late.catch(() => undefined);
  };

  const chooseFault = ({ lostBefore, lostAfter, unavailable }: FaultShares): keyof FaultShares | 'passed' => {
    if (proxy.isDown) return 'unavailable';
    if (!proxy.isFaulty) return 'passed';
    const at = random.next();
    if (at < lostBefore) return 'lostBefore';
    if (at < lostBefore + lostAfter) return 'lostAfter';
    return at < lostBefore + lostAfter + unavailable ? 'unavailable' : 'passed';
  };

  const send = (incoming: IncomingMessage, body: Buffer) =>
    new Promise<ProxiedAnswer>((resolve, reject) => {
      const { 'content-length': _length, 'transfer-encoding': _encoding, connection: _connection, ...headers } = incoming.headers;
      const options = { method: incoming.method, headers: { ...headers, 'content-length': body.length } };
      const onward = forward(new URL(incoming.url ?? '/', target), options, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const { 'content-type': type = 'text/plain', location } = response.headers;
          const kept = { 'content-type': type, ...(location === undefined ? {} : { location }) };
          resolve({ status: response.statusCode ?? 502, headers: kept, body: Buffer.concat(chunks) });
        });
      });
      onward.on('error', reject);
      onward.end(body);
    });

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return Object.assign(proxy, {
    atNextEffect,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  });
}
