import { once } from 'node:events';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { createServer } from 'node:tls';
import { inspect } from 'node:util';
import { afterEach, describe, expect, test } from 'vitest';
import { isCertainlyUnsent, type OutboundError } from '../../../../src/core/http/http-client.ts';
import { createHttpClient } from '../../../../src/core/http/outbound.ts';
import { openTunnel, ProxyError } from '../../../../src/core/http/proxy-tunnel.ts';
import { startHttpProxy } from '../../../support/http-proxy.ts';
import { startRecorder } from '../../../support/loopback-http.ts';
import { startSocksProxy } from '../../../support/socks-proxy.ts';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

async function setup(options: { password?: string; isRefusing?: boolean } = {}) {
  const destination = await startRecorder(() => ({ status: 200, contentType: 'text/plain', body: 'through the proxy' }));
  const port = Number(new URL(destination.server.url).port);
  const proxy = await startSocksProxy({ target: { host: '127.0.0.1', port }, ...options });
  open.push(destination.server, proxy);
  return { destination, proxy, port };
}

const client = (proxy: string | null, totalTimeoutMs = 5_000) =>
  createHttpClient({ system: 'test', retries: 0, breakerThreshold: 0, totalTimeoutMs, proxy: () => proxy });
const failureOf = (call: Promise<unknown>) =>
  call.then(
    () => null,
    (error: OutboundError) => error,
  );
/** A name that only the proxy can lead anywhere. */
const url = 'http://lknpd.example.invalid/api/v1/income';

describe('a client with a proxy', () => {
  test.each(['socks5', 'socks5h', 'socks4'])('calls through %s, which resolves the name', async (scheme) => {
    const { proxy, destination } = await setup();
    const body = JSON.stringify({ text: 'x'.repeat(100_000) });
    const response = await client(`${scheme}://${proxy.host}`).request({ method: 'POST', url, body });
    expect(response).toMatchObject({ status: 200, text: 'through the proxy' });
    expect(proxy.asked).toEqual(['lknpd.example.invalid:80']);
    expect(destination.requests[0]).toMatchObject({ path: '/api/v1/income', body });
  });

  test('spec 10 O3: calls through CONNECT of an HTTP proxy, which resolves the name', async () => {
    const { destination, port } = await setup();
    const proxy = await startHttpProxy({ target: { host: '127.0.0.1', port }, password: 'pa:ss' });
    open.push(proxy);
    const body = JSON.stringify({ text: 'x'.repeat(100_000) });
    const call = (password: string) => client(`http://user:${password}@${proxy.host}`).request({ method: 'POST', url, body });
    expect(await call('pa%3Ass')).toMatchObject({ status: 200, text: 'through the proxy' });
    expect(proxy.asked).toEqual(['lknpd.example.invalid:80']);
    expect(destination.requests[0]).toMatchObject({ path: '/api/v1/income', body });
    const error = (await failureOf(call('other')))!;
    expect(isCertainlyUnsent(error)).toBe(true);
    expect(`${error.message}${error.stack}${JSON.stringify(error)}`).not.toMatch(/other|pa:ss/);
  });

  test('signs in to the proxy, where a wrong password is a call that was not sent', async () => {
    const { proxy, destination } = await setup({ password: 'pa:ss' });
    const call = (password: string) => client(`socks5://user:${password}@${proxy.host}`).request({ method: 'GET', url });
    expect((await call('pa%3Ass')).status).toBe(200);
    const error = (await failureOf(call('other')))!;
    expect(isCertainlyUnsent(error)).toBe(true);
    expect(`${error.message}${error.stack}${JSON.stringify(error)}`).not.toMatch(/other|pa:ss/);
    expect(destination.requests).toHaveLength(1);
  });

  test('whose proxy refuses, is not there, or is none, was not sent', async () => {
    const { proxy, port } = await setup({ isRefusing: true });
    const closed = await setup();
    await closed.proxy.close();
    for (const address of [
      `socks5://${proxy.host}`,
      `socks4://${proxy.host}`,
      `socks5://${closed.proxy.host}`,
      'http://127.0.0.1:9',
    ])
      expect(isCertainlyUnsent((await failureOf(client(address).request({ method: 'GET', url })))!)).toBe(true);
    expect((await client(null).request({ method: 'GET', url: `http://127.0.0.1:${port}/` })).status).toBe(200);
  });

  test('speaks TLS with the destination and not with the proxy', async () => {
    // Without a certificate the server refuses every handshake; that it gets one shows with whom the client speaks.
    const server = createServer({}).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const handshake = new Promise<string>((resolve) => server.once('tlsClientError', (error) => resolve(String(error))));
    const proxy = await startSocksProxy({ target: { host: '127.0.0.1', port: (server.address() as AddressInfo).port } });
    open.push(server, proxy);
    const call = client(`socks5://${proxy.host}`).request({ method: 'GET', url: 'https://lknpd.example.invalid/' });
    expect(isCertainlyUnsent((await failureOf(call))!)).toBe(true);
    expect(await handshake).toMatch(/SSL routines/);
    expect(proxy.asked).toEqual(['lknpd.example.invalid:443']);
  });
});

describe('a tunnel through SOCKS', () => {
  const target = { host: 'lknpd.example.invalid', port: 443 };
  const faultOf = (proxyUrl: string, timeoutMs = 5_000, destination = target) =>
    openTunnel(proxyUrl, destination, timeoutMs).then(
      () => null,
      (error: ProxyError) => error,
    );

  test.each([
    ['asks for credentials', [[5, 0xff]], 'The proxy asks for credentials'],
    [
      'refuses the credentials',
      [
        [5, 2],
        [1, 1],
      ],
      'The proxy refuses the credentials',
    ],
    [
      'cannot connect',
      [
        [5, 0],
        [5, 4, 0, 1, 0, 0, 0, 0, 0, 0],
      ],
      'The proxy could not connect',
    ],
    ['speaks HTTP', [[...Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')]], 'The proxy could not be used'],
    ['closes the connection', [[]], 'The proxy could not be used'],
    ['does not answer', [], 'The proxy took too long'],
  ])(
    'a proxy that %s: the fault names neither host nor credentials, and the connection is closed',
    async (_what, answers, text) => {
      const left = answers.map((bytes) => Buffer.from(bytes));
      const closed = Promise.withResolvers<void>();
      const server = createTcpServer((socket: Socket) => {
        socket.on('error', () => undefined).on('close', () => closed.resolve());
        socket.on('data', () => {
          const answer = left.shift();
          if (answer?.length === 0) socket.end();
          else if (answer) socket.write(answer);
        });
      }).listen(0, '127.0.0.1');
      await once(server, 'listening');
      open.push(server);
      const { port } = server.address() as AddressInfo;
      const fault = await faultOf(`socks5://user:pa%3Ass@127.0.0.1:${port}`, text.includes('too long') ? 100 : 5_000);
      expect(fault).toBeInstanceOf(ProxyError);
      expect(fault!.message).toBe(text);
      expect(inspect(fault, { depth: 10 })).not.toMatch(/pa:ss|lknpd/);
      await closed.promise;
    },
  );

  test('names and credentials of more than 255 bytes, which the protocol cannot carry, are refused', async () => {
    const { proxy } = await setup({ password: 'pa:ss' });
    const long = 'x'.repeat(256);
    for (const user of [`${long}:pa%3Ass`, `user:${long}`])
      expect((await faultOf(`socks5://${user}@${proxy.host}`))?.message).toBe('The credentials of the proxy are too long');
    expect(await faultOf(`socks5://user:pa%3Ass@${proxy.host}`, 5_000, { host: long, port: 443 })).toBeInstanceOf(ProxyError);
    expect(proxy.asked).toEqual([]);
  });
});

describe('a call without an answer', () => {
  test('is certainly unsent without a connection, and may be carried out after a reset or a time-out', async () => {
    const cut = await startRecorder(() => ({ status: 200, contentType: 'text/plain', body: '', isCut: true }));
    const silent = await startRecorder(() => new Promise<never>(() => undefined) as never);
    open.push(cut.server, silent.server);
    const failure = async (address: string, limitMs?: number) =>
      (await failureOf(client(null, limitMs).request({ method: 'POST', url: address })))!;
    expect(isCertainlyUnsent(await failure('http://127.0.0.1:9/'))).toBe(true);
    expect(isCertainlyUnsent(await failure(cut.server.url))).toBe(false);
    expect(isCertainlyUnsent(await failure(silent.server.url, 2_000))).toBe(false);
    expect(silent.requests).toHaveLength(1);
  });
});
