import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { createCourier } from '../../../packages/measures/src/drills/money/courier.ts';
import { type FaultyProxy, startFaultyProxy } from '../../../packages/measures/src/drills/money/faulty-proxy.ts';
import { createRandom } from '../../../packages/measures/src/drills/seeded-random.ts';

/** What the drill of money does between the service and the fakes: it makes the situations that a repeat has to survive. */
const NONE = { lostBefore: 0, lostAfter: 0, unavailable: 0 };
const closes: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closes.splice(0)) await close();
});

/** A server that keeps what it was asked for. */
async function aServer(): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = [];
  const server: Server = createServer((request, response) => {
    request.resume().on('end', () => {
      asked.push(`${request.method} ${request.url}`);
      response.end('done');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closes.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

async function aProxy(target: string, lostAfter: number, lost: string[] = []): Promise<FaultyProxy> {
  const proxy = await startFaultyProxy({
    target,
    random: createRandom(1),
    shares: NONE,
    maxDelayMs: 0,
    once: { isOnce: (path) => path.endsWith('/refunds'), lostAfter },
    loses: (path, carryOut) => {
      lost.push(path);
      return carryOut();
    },
  });
  closes.push(() => proxy.close());
  return proxy;
}

const answerOf = (url: string, method = 'POST') =>
  fetch(url, { method }).then(
    (response) => response.status,
    () => null,
  );

describe('the proxy of the drill', () => {
  test('carries out a refund whose answer it loses, and answers everything else', async () => {
    const { url, asked } = await aServer();
    const lost: string[] = [];
    const proxy = await aProxy(url, 1, lost);
    expect(await answerOf(`${proxy.url}/wata/refunds`)).toBeNull();
    expect(await answerOf(`${proxy.url}/wata/refunds`, 'GET')).toBe(200);
    expect(await answerOf(`${proxy.url}/wata/links`)).toBe(200);
    expect(asked).toEqual(['POST /wata/refunds', 'GET /wata/refunds', 'POST /wata/links']);
    expect([lost, proxy.counts.lostOnce]).toEqual([['/wata/refunds'], 1]);
    proxy.isFaulty = false;
    expect(await answerOf(`${proxy.url}/wata/refunds`)).toBe(200);
  });

  test('aims at the next refund: after its effect, without an answer', async () => {
    const { url, asked } = await aServer();
    const proxy = await aProxy(url, 0);
    let askedBefore: string[] = [];
    const work = async () => {
      askedBefore = [...asked];
    };
    const aimed = proxy.atNextEffect(work, 60_000, 'once');
    expect(await answerOf(`${proxy.url}/wata/links`)).toBe(200);
    expect(askedBefore).toEqual([]);
    expect(await answerOf(`${proxy.url}/wata/refunds`)).toBeNull();
    await aimed;
    expect(askedBefore).toEqual(['POST /wata/links', 'POST /wata/refunds']);
    expect(await answerOf(`${proxy.url}/wata/refunds`)).toBe(200);
  });

  test('does not wait longer than asked', async () => {
    const { url } = await aServer();
    const proxy = await aProxy(url, 0);
    const runs: string[] = [];
    await proxy.atNextEffect(async () => void runs.push('run'), 10, 'once');
    expect(await answerOf(`${proxy.url}/wata/refunds`)).toBe(200);
    expect(runs).toEqual(['run']);
  });
});

test('the courier keeps the callbacks of a provider in trouble until they are delivered late', async () => {
  const { url, asked } = await aServer();
  const courier = createCourier({
    random: createRandom(1),
    targets: () => [url],
    doubledShare: 0,
    maxDelayMs: 0,
    maxLateDelayMs: 0,
    lateShare: (path) => (path.startsWith('/wata') ? 1 : 0),
  });
  closes.push(async () => courier.close());
  const send = (path: string) => courier.request({ method: 'POST', url: `http://service.invalid${path}`, idempotent: false });
  const late = send('/wata-webhook');
  expect((await send('/platega-webhook')).status).toBe(200);
  expect(asked).toEqual(['POST /platega-webhook']);
  courier.deliverLate();
  expect((await late).status).toBe(200);
  expect(asked).toEqual(['POST /platega-webhook', 'POST /wata-webhook']);
});
