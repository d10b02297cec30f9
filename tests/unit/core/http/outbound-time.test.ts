import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { HttpClientOptions, HttpResponse } from '../../../../src/core/http/http-client.ts';
import { createHttpClient } from '../../../../src/core/http/outbound.ts';

const servers: Server[] = [];

async function serve(handler: (request: IncomingMessage, response: ServerResponse, hit: number) => void) {
  const state = { hits: 0, url: '' };
  const server = createServer((request, response) => {
    state.hits += 1;
    handler(request, response, state.hits);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  state.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return state;
}

afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

/** One GET whose pauses between tries are only noted down. @returns status or failure, and the pauses */
async function get(url: string, options: Partial<HttpClientOptions>) {
  const waits: number[] = [];
  const sleep = async (ms: number) => void waits.push(ms);
  const http = createHttpClient({ system: 'vpnpanel', retries: 3, breakerThreshold: 0, ...options }, { sleep });
  const outcome = await http.request({ method: 'GET', url }).then(
    (answer: HttpResponse) => answer.status,
    (error) => error.failure,
  );
  return { outcome, waits };
}

describe('the time that a failing system may cost', () => {
  it('is one time-out when it hangs', async () => {
    const silent = await serve(() => {});
    expect((await get(silent.url, { totalTimeoutMs: 3_000 })).outcome).toBe('timeout');
    expect(silent.hits).toBe(1);
  });

  it('counts from the first try: dropped at once, tried again, silent until the time is over', async () => {
    const dropsThenHangs = await serve((request, _response, hit) => void (hit === 1 && request.socket.destroy()));
    // The first pause is 275 ms at most.
    expect((await get(dropsThenHangs.url, { totalTimeoutMs: 5_000 })).outcome).toBe('timeout');
    expect(dropsThenHangs.hits).toBe(2);
  });

  it('is at most two time-outs when it hangs behind a gateway that answers 504 shortly before', async () => {
    const gateway = await serve((_request, response) => setTimeout(() => response.writeHead(504).end(), 3_500));
    // Shortly before, and still early enough for a busy machine.
    expect((await get(gateway.url, { totalTimeoutMs: 6_500 })).outcome).toBe(504);
    expect(gateway.hits).toBeLessThanOrEqual(2);
  });

  it('ends before a try that could not begin in time, without the pause', async () => {
    const busy = await serve((_request, response) => response.writeHead(503, { 'Retry-After': '10' }).end());
    expect(await get(busy.url, { totalTimeoutMs: 10_000 })).toEqual({ outcome: 503, waits: [] });
    expect(await get(busy.url, { totalTimeoutMs: 60_000 })).toEqual({ outcome: 503, waits: [10_000, 10_000, 10_000] });
    expect(busy.hits).toBe(5);
  });

  it('does not bound the pause that a system asks for with 429', async () => {
    const limited = await serve((_request, response, hit) =>
      hit === 1 ? response.writeHead(429, { 'Retry-After': '10' }).end() : response.end(),
    );
    expect(await get(limited.url, { totalTimeoutMs: 9_000 })).toEqual({ outcome: 200, waits: [10_000] });
  });
});
