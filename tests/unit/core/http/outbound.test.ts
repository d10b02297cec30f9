import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server as TcpServer } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createGuardedLookup, type Resolve } from '../../../../src/core/http/address-guard.ts';
import { type HttpClientOptions, OutboundError } from '../../../../src/core/http/http-client.ts';
import { createHttpClient, type HttpClientDeps, pathTemplate, retryAfterMs } from '../../../../src/core/http/outbound.ts';
import { createLogger } from '../../../../src/core/log.ts';

type Handler = (request: IncomingMessage, response: ServerResponse, hit: number) => void;

const servers: (Server | TcpServer)[] = [];

async function listen(server: Server | TcpServer): Promise<number> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

async function serve(handler: Handler) {
  const state = { hits: 0, connections: 0, url: '', port: 0 };
  const server = createServer((request, response) => {
    state.hits += 1;
    handler(request, response, state.hits);
  });
  server.on('connection', () => {
    state.connections += 1;
  });
  state.port = await listen(server);
  state.url = `http://127.0.0.1:${state.port}`;
  return state;
}

afterEach(async () => {
  for (const server of servers.splice(0)) {
    if ('closeAllConnections' in server) server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

function client(options: Partial<HttpClientOptions> = {}, deps: HttpClientDeps = {}) {
  const waits: number[] = [];
  const outcomes: string[] = [];
  const lines: string[] = [];
  const http = createHttpClient(
    { system: 'vpnpanel', ...options },
    {
      sleep: async (ms) => {
        waits.push(ms);
      },
      metrics: { observeOutbound: (system, outcome) => outcomes.push(`${system}:${outcome}`) },
      log: createLogger({ level: 'debug', format: 'json', stream: { write: (line) => lines.push(line) } }),
      ...deps,
    },
  );
  return { http, waits, outcomes, lines };
}

async function failureOf(promise: Promise<unknown>): Promise<OutboundError> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof OutboundError) return error;
    throw error;
  }
  throw new Error('the call succeeded');
}

describe('createHttpClient', () => {
  it('sends method, headers and body, and gives status, lower-case headers and text back', async () => {
    const seen: unknown[] = [];
    const server = await serve((request, response) => {
      let body = '';
      request.on('data', (chunk) => {
        body += chunk;
      });
      request.on('end', () => {
        seen.push([request.method, request.url, request.headers['x-one'], request.headers['user-agent'], body]);
        response.writeHead(201, { 'X-Answer': 'yes' }).end('привет');
      });
    });
    const { http, outcomes } = client();
    const text = await http.request({ method: 'POST', url: `${server.url}/a?b=1`, headers: { 'X-One': '1' }, body: '{"a":1}' });
    const bytes = await http.request({ method: 'PUT', url: server.url, body: new Uint8Array([104, 105]) });
    expect(text).toMatchObject({ status: 201, text: 'привет', headers: { 'x-answer': 'yes' } });
    expect(bytes.status).toBe(201);
    expect(seen).toEqual([
      ['POST', '/a?b=1', '1', 'subscription-service', '{"a":1}'],
      ['PUT', '/', undefined, 'subscription-service', 'hi'],
    ]);
    expect(outcomes).toEqual(['vpnpanel:ok', 'vpnpanel:ok']);
    expect(server.connections).toBe(1);
  });

  it('retries 5xx of idempotent calls with growing pauses, then returns the last answer', async () => {
    const server = await serve((_request, response, hit) => response.writeHead(hit < 3 ? 503 : 200).end(`try ${hit}`));
    const { http, waits, outcomes } = client();
    expect(await http.request({ method: 'GET', url: server.url })).toMatchObject({ status: 200, text: 'try 3' });
    expect(waits).toHaveLength(2);
    for (const ms of waits) expect(ms).toBeGreaterThanOrEqual(0);
    expect(Math.max(...waits)).toBeLessThanOrEqual(5_000);
    expect(outcomes).toEqual(['vpnpanel:server_error', 'vpnpanel:server_error', 'vpnpanel:ok']);

    const down = await serve((_request, response) => response.writeHead(500).end('down'));
    const second = client({ retries: 2 });
    expect(await second.http.request({ method: 'GET', url: down.url })).toMatchObject({ status: 500, text: 'down' });
    expect(down.hits).toBe(3);
  });

  it('does not repeat a POST after 5xx or a broken connection unless it is said to be idempotent', async () => {
    const failing = await serve((_request, response) => response.writeHead(502).end());
    const broken = await serve((request) => request.socket.destroy());
    const { http } = client({ breakerThreshold: 0 });
    expect((await http.request({ method: 'POST', url: failing.url, body: '' })).status).toBe(502);
    expect(failing.hits).toBe(1);
    expect((await failureOf(http.request({ method: 'PATCH', url: broken.url }))).failure).toBe('network');
    expect(broken.hits).toBe(1);
    await http.request({ method: 'POST', url: failing.url, idempotent: true });
    expect(failing.hits).toBe(5);
    await failureOf(http.request({ method: 'GET', url: broken.url }));
    expect(broken.hits).toBe(5);
    await failureOf(http.request({ method: 'GET', url: broken.url, idempotent: false }));
    expect(broken.hits).toBe(6);
  });

  it('retries 429 of any method and honours Retry-After within 30 s', async () => {
    const server = await serve((_request, response, hit) => {
      if (hit > 3) response.writeHead(200).end();
      else response.writeHead(429, { 'Retry-After': ['2', '9999', '0'][hit - 1] }).end();
    });
    const { http, waits } = client();
    expect((await http.request({ method: 'POST', url: server.url })).status).toBe(200);
    expect(waits).toEqual([2_000, 30_000, 0]);
  });

  it('returns 429 when the tries are used up, and does not count it against the system', async () => {
    const server = await serve((_request, response) => response.writeHead(429).end());
    const { http, outcomes } = client({ retries: 1, breakerThreshold: 2 });
    for (let i = 0; i < 3; i += 1) expect((await http.request({ method: 'GET', url: server.url })).status).toBe(429);
    expect(server.hits).toBe(6);
    expect(outcomes.every((outcome) => outcome === 'vpnpanel:client_error')).toBe(true);
  });

  it('opens the breaker after consecutive failures, refuses at once, and recovers through one probe', async () => {
    let isUp = false;
    const gates: (() => void)[] = [];
    const server = await serve((_request, response) => {
      if (!isUp) response.writeHead(500).end();
      else gates.push(() => response.writeHead(200).end('up'));
    });
    const { http, outcomes, lines } = client({ retries: 0, breakerThreshold: 3, breakerResetMs: 60_000 });
    for (let i = 0; i < 3; i += 1) await http.request({ method: 'GET', url: server.url });
    expect((await failureOf(http.request({ method: 'GET', url: server.url }))).failure).toBe('circuit_open');
    expect(server.hits).toBe(3);
    expect(outcomes.at(-1)).toBe('vpnpanel:circuit_open');

    isUp = true;
    onTestFinished(() => void vi.useRealTimers());
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 60_001 });
    const probe = http.request({ method: 'GET', url: server.url });
    await expect.poll(() => gates.length).toBe(1);
    expect((await failureOf(http.request({ method: 'GET', url: server.url }))).failure).toBe('circuit_open');
    gates[0]!();
    expect((await probe).text).toBe('up');
    const next = http.request({ method: 'GET', url: server.url });
    await expect.poll(() => gates.length).toBe(2);
    gates[1]!();
    expect((await next).status).toBe(200);
    const breakerLines = lines.map((line) => JSON.parse(line)).filter((line) => line.msg.startsWith('circuit breaker'));
    expect(breakerLines.map((line) => [line.level, line.msg, line.system])).toEqual([
      ['warn', 'circuit breaker opened', 'vpnpanel'],
      ['info', 'circuit breaker closed', 'vpnpanel'],
    ]);
  });

  it('gives the answer of the system, not circuit_open, when the breaker opens between two tries', async () => {
    const server = await serve((_request, response) => response.writeHead(503).end('busy'));
    const { http } = client({ retries: 3, breakerThreshold: 2 });
    expect(await http.request({ method: 'GET', url: server.url })).toMatchObject({ status: 503, text: 'busy' });
    expect(server.hits).toBe(2);
  });

  it('never follows a redirect', async () => {
    const target = await serve((_request, response) => response.end('inside'));
    const server = await serve((_request, response) =>
      response.writeHead(302, { Location: `${target.url}/secret` }).end('moved'),
    );
    const { http } = client();
    const answer = await http.request({ method: 'GET', url: server.url });
    expect(answer).toMatchObject({ status: 302, text: 'moved', headers: { location: `${target.url}/secret` } });
    expect(target.hits).toBe(0);
  });

  it('cuts the body, plain and compressed, and ends the connection', async () => {
    const closed: boolean[] = [];
    const server = await serve((request, response) => {
      response.on('close', () => closed.push(response.writableFinished));
      if (request.url === '/gzip') {
        response.writeHead(200, { 'Content-Encoding': 'gzip' }).end(gzipSync(Buffer.alloc(20_000_000, 'a')));
      } else if (request.url === '/utf8') {
        response.end('яяя');
      } else {
        const more = (): void => {
          while (!response.destroyed && response.write('x'.repeat(65_536)));
          if (!response.destroyed) response.once('drain', more);
        };
        more();
      }
    });
    const { http } = client({ maxResponseBytes: 1_000, totalTimeoutMs: 5_000 });
    expect((await http.request({ method: 'GET', url: `${server.url}/endless` })).text).toBe('x'.repeat(1_000));
    await expect.poll(() => closed).toEqual([false]);
    expect((await http.request({ method: 'GET', url: `${server.url}/gzip` })).text).toBe('a'.repeat(1_000));
    const { http: tiny } = client({ maxResponseBytes: 3 });
    expect((await tiny.request({ method: 'GET', url: `${server.url}/utf8` })).text).toBe('я');
  });

  it('ends a call that does not answer, or does not finish its answer, in time', async () => {
    const silent = await serve(() => {});
    const stalling = await serve((_request, response) => {
      response.writeHead(200).write('half');
    });
    const { http, outcomes } = client({ totalTimeoutMs: 60, retries: 1, breakerThreshold: 0 });
    const error = await failureOf(http.request({ method: 'GET', url: silent.url }));
    expect(error).toMatchObject({ failure: 'timeout', system: 'vpnpanel' });
    expect((await failureOf(http.request({ method: 'POST', url: stalling.url }))).failure).toBe('timeout');
    expect(outcomes).toEqual(['vpnpanel:timeout', 'vpnpanel:timeout']);
  });

  it('limits the time to connect: resolver and TLS handshake included', async () => {
    const never: Resolve = () => new Promise(() => {});
    const guarded = client(
      { connectTimeoutMs: 40, retries: 0, publicHostsOnly: { allowedPrivateHosts: [] } },
      { resolve: never },
    );
    expect((await failureOf(guarded.http.request({ method: 'GET', url: 'http://example.org/' }))).failure).toBe('timeout');
    const port = await listen(createTcpServer((socket) => socket.resume()));
    const tls = client({ connectTimeoutMs: 40, retries: 0 });
    expect((await failureOf(tls.http.request({ method: 'GET', url: `https://127.0.0.1:${port}/` }))).failure).toBe('timeout');
  });

  it('stops when the caller aborts: before, during, and between tries', async () => {
    const server = await serve((request, response) => {
      if (request.url === '/busy') response.writeHead(503, { 'Retry-After': '20' }).end();
    });
    const { http } = client({ totalTimeoutMs: 5_000 });
    expect((await failureOf(http.request({ method: 'GET', url: server.url, signal: AbortSignal.abort() }))).failure).toBe(
      'aborted',
    );
    expect(server.hits).toBe(0);
    const during = new AbortController();
    const call = failureOf(http.request({ method: 'GET', url: server.url, signal: during.signal }));
    await expect.poll(() => server.hits).toBe(1);
    during.abort();
    expect((await call).failure).toBe('aborted');
    const between = new AbortController();
    const sleeping = createHttpClient({ system: 'vpnpanel' });
    const busy = failureOf(sleeping.request({ method: 'GET', url: `${server.url}/busy`, signal: between.signal }));
    await expect.poll(() => server.hits).toBe(2);
    between.abort();
    expect((await busy).failure).toBe('aborted');
    expect(server.hits).toBe(2);
  });

  it('names no URL, query, header or token in errors and logs', async () => {
    const server = await serve((request) => request.socket.destroy());
    const { http, lines } = client({ retries: 0 });
    const url = `${server.url}/bot123456:ABCdef/send?api=sesame`;
    const error = await failureOf(http.request({ method: 'GET', url, headers: { 'x-custom': 'open-says-me' } }));
    const texts = [error.message, error.stack, (error.cause as Error).message, (error.cause as Error).stack, ...lines].join('\n');
    expect(texts).toContain('ECONNRESET');
    expect(texts).not.toMatch(/sesame|open-says-me|ABCdef|127\.0\.0\.1/);
    expect(JSON.parse(lines[0]!)).toMatchObject({
      level: 'debug',
      system: 'vpnpanel',
      method: 'GET',
      path: '/:id/send',
      failure: 'network',
      attempt: 1,
    });
    expect(JSON.parse(lines[0]!).ms).toBeTypeOf('number');
  });

  it.each(['file:///etc/passwd', 'data:text/plain,hello', 'http://user:pass@127.0.0.1/', 'nonsense'])(
    'refuses %s without a try',
    async (url) => {
      const { http, outcomes } = client();
      expect((await failureOf(http.request({ method: 'GET', url }))).failure).toBe('blocked');
      expect(outcomes).toEqual(['vpnpanel:blocked']);
    },
  );
});

describe('createHttpClient with publicHostsOnly', () => {
  const closed = { publicHostsOnly: { allowedPrivateHosts: [] } };

  it.each(['127.0.0.1', '2130706433', '0x7f.1', '0177.0.0.1', '[::ffff:127.0.0.1]', 'localhost'])(
    'refuses http://%s before connecting',
    async (host) => {
      const server = await serve((_request, response) => response.end('inside'));
      const { http } = client(closed);
      const error = await failureOf(http.request({ method: 'POST', url: `http://${host}:${server.port}/` }));
      expect(error.failure).toBe('blocked');
      expect(server.connections).toBe(0);
    },
  );

  it('is not fooled by a name that is public first and private at connect time', async () => {
    const server = await serve((_request, response) => response.end('inside'));
    const answers = [{ address: '93.184.216.34', family: 4 }];
    const resolve: Resolve = async () => [answers.shift() ?? { address: '127.0.0.1', family: 4 }];
    const checkedFirst = await new Promise((done) => {
      createGuardedLookup({ allowedPrivateHosts: [], resolve })('rebind.example.org', {}, (error, address) =>
        done(error ?? address),
      );
    });
    expect(checkedFirst).toBe('93.184.216.34');
    const { http, outcomes } = client(closed, { resolve });
    const error = await failureOf(http.request({ method: 'GET', url: `http://rebind.example.org:${server.port}/` }));
    expect(error.failure).toBe('blocked');
    expect(server.connections).toBe(0);
    expect(outcomes).toEqual(['vpnpanel:blocked']);
  });

  it('does not follow a redirect to a private address', async () => {
    const inside = await serve((_request, response) => response.end('inside'));
    const server = await serve((_request, response) => response.writeHead(307, { Location: inside.url }).end());
    const { http } = client(
      { publicHostsOnly: { allowedPrivateHosts: ['hooks.test'] } },
      {
        resolve: async () => [{ address: '127.0.0.1', family: 4 }],
      },
    );
    expect((await http.request({ method: 'POST', url: `http://hooks.test:${server.port}/` })).status).toBe(307);
    expect(server.hits).toBe(1);
    expect(inside.connections).toBe(0);
  });

  it('opens named private hosts', async () => {
    const server = await serve((_request, response) => response.end('inside'));
    const { http } = client({ publicHostsOnly: { allowedPrivateHosts: ['127.0.0.1', 'localhost'] } });
    expect((await http.request({ method: 'GET', url: server.url })).text).toBe('inside');
    expect((await http.request({ method: 'GET', url: `http://localhost:${server.port}/` })).text).toBe('inside');
  });
});

describe('retryAfterMs', () => {
  const now = Date.parse('2026-01-01T00:00:00Z');
  it.each([
    ['5', 5_000],
    ['0', 0],
    ['86400', 30_000],
    ['1.5', 1_500],
    ['Thu, 01 Jan 2026 00:00:10 GMT', 10_000],
    ['Thu, 01 Jan 2026 01:00:00 GMT', 30_000],
    ['Wed, 31 Dec 2025 00:00:00 GMT', 0],
    ['soon', null],
    ['', null],
    [undefined, null],
  ])('%s → %s', (header, expected) => {
    expect(retryAfterMs(header, now)).toBe(expected);
  });
});

describe('pathTemplate', () => {
  it.each([
    ['https://h/api/v1/users/42/by-uuid/1b2c?x=1', '/api/v1/users/:id/by-uuid/:id'],
    ['https://h/bot12:AbC/sendMessage', '/:id/sendMessage'],
    [`https://h/${'a'.repeat(60)}`, '/:id'],
    ['https://h/', '/'],
  ])('%s → %s', (url, expected) => {
    expect(pathTemplate(new URL(url))).toBe(expected);
  });
});
