/** A proxy in front of a fake system that loses, delays and refuses some of the requests. */
import { createServer, request as forward, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { SeededRandom } from '../seeded-random.ts';

export interface ProxyOptions {
  target: string;
  random: SeededRandom;
  /** Of the requests: lost before they had an effect, lost after it, and answered with 503. Each from 0 to 1. */
  shares: { lostBefore: number; lostAfter: number; unavailable: number };
  /** Longest delay before a request is passed on. */
  maxDelayMs: number;
}

export interface FaultyProxy {
  url: string;
  /** Whether faults are made; delays go on. */
  isFaulty: boolean;
  /** Every request is answered with 503. */
  isDown: boolean;
  /** Runs `work` when the next request has had its effect and before it is answered, at the latest after `limitMs`. */
  atNextEffect(work: () => Promise<void>, limitMs: number): Promise<void>;
  readonly counts: { passed: number; lostBefore: number; lostAfter: number; unavailable: number };
  close(): Promise<void>;
}

export async function startFaultyProxy({ target, random, shares, maxDelayMs }: ProxyOptions): Promise<FaultyProxy> {
  const proxy = { isFaulty: true, isDown: false, counts: { passed: 0, lostBefore: 0, lostAfter: 0, unavailable: 0 } };
  let beforeAnswer: (() => Promise<void>) | null = null;
  const server = createServer((incoming, outgoing) => {
    void pass(incoming, outgoing).catch(() => incoming.socket.destroy());
  });

  const pass = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk);
    await wait(random.between(0, maxDelayMs));
    const fault = chooseFault();
    proxy.counts[fault] += 1;
    if (fault === 'unavailable') {
      outgoing.writeHead(503, { 'content-type': 'text/html' }).end('<html>Service unavailable</html>');
      return;
    }
    if (fault === 'lostBefore') {
      incoming.socket.destroy();
      return;
    }
    const answer = await send(incoming, Buffer.concat(chunks));
    if (incoming.method !== 'GET') await beforeAnswer?.();
    if (fault === 'lostAfter') incoming.socket.destroy();
    else outgoing.writeHead(answer.status, answer.headers).end(answer.body);
  };

  const atNextEffect: FaultyProxy['atNextEffect'] = async (work, limitMs) => {
    const timer = new AbortController();
    const effect = new Promise<void>((resolve, reject) => {
      beforeAnswer = async () => {
        beforeAnswer = null;
        await work().then(resolve, reject);
      };
    });
    const late = wait(limitMs, undefined, { signal: timer.signal }).then(() => beforeAnswer?.());
    await Promise.race([effect, late.then(() => effect)]);
    timer.abort();
    await late.catch(() => undefined);
  };

  const chooseFault = (): keyof typeof proxy.counts => {
    if (proxy.isDown) return 'unavailable';
    if (!proxy.isFaulty) return 'passed';
    const at = random.next();
    if (at < shares.lostBefore) return 'lostBefore';
    if (at < shares.lostBefore + shares.lostAfter) return 'lostAfter';
    return at < shares.lostBefore + shares.lostAfter + shares.unavailable ? 'unavailable' : 'passed';
  };

  const send = (incoming: IncomingMessage, body: Buffer) =>
    new Promise<{ status: number; headers: Record<string, string | string[]>; body: Buffer }>((resolve, reject) => {
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
