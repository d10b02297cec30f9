/**
 * Clients of the existing product, which say `telegram` and `remnawave`, by the ways in which their address can be configured (spec 09 section 2, W15):
 * none of their calls is refused that was not refused behind a proxy that renames.
 */
import { createServer, request as httpRequest, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WITH_BAN_SYSTEM } from '../contract/ban-system-writes.ts';
import { adminClient } from '../support/actors.ts';
import { testServer, tokenClient } from '../support/api.ts';
import { aUser, unique } from '../support/builders.ts';
import { initDataOf } from '../support/init-data.ts';
import { aStoredSubscription, topUp } from '../support/sale-samples.ts';
import { documentOfService } from '../support/served-routes.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

const HOST = 'mini-app.example';

let t: TestApp;
let server: FastifyInstance;
let renaming: Server;
let reverseProxy: Server;

beforeAll(async () => {
  const words = { INTERFACE_WORDS: 'telegram=messenger,remnawave=vpnpanel', INTERFACE_WORDS_HOSTS: HOST };
  const environment = { ...words, ...WITH_BAN_SYSTEM };
  t = await testApp({ environment });
  server = await testServer(t.app);
  await server.listen({ host: '127.0.0.1', port: 0 });
  renaming = await startProxy({ path: inOurs, request: inOurs, answer: inTheirs });
  reverseProxy = await startProxy({ path: (path) => path.replace(/^\/api\//, '/compat/') });
});
afterAll(async () => {
  for (const each of [renaming, reverseProxy]) await new Promise((done) => each.close(done));
  await server.close();
});

const inOurs = (text: string): string =>
  text.replaceAll('telegram', 'messenger').replaceAll('remnawave', 'vpnpanel').replaceAll('REMNAWAVE', 'VPNPANEL');
const inTheirs = (text: string): string =>
  text.replaceAll('messenger', 'telegram').replaceAll('vpnpanel', 'remnawave').replaceAll('VPNPANEL', 'REMNAWAVE');

interface Changes {
  path: (path: string) => string;
  request?: (body: string) => string;
  answer?: (body: string) => string;
}

/** A reverse proxy in front of the service. */
async function startProxy({ path, request = (body) => body, answer = (body) => body }: Changes): Promise<Server> {
  const proxy = createServer(async (incoming, outgoing) => {
    const { host: _host, 'content-length': _length, ...headers } = incoming.headers;
    const body = request((await buffer(incoming)).toString());
    const reply = await exchange(portOf(server.server), {
      method: incoming.method!,
      path: path(incoming.url!),
      headers: headers as Record<string, string>,
      body,
    });
    outgoing.writeHead(reply.status, { 'content-type': reply.type });
    outgoing.end(answer(reply.text));
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  return proxy;
}

const portOf = (listening: Server | FastifyInstance['server']): number => (listening.address() as AddressInfo).port;

interface Sent {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string;
}

/** Not by `fetch`, which sends a `Host` of its own. */
function exchange(port: number, { method, path, headers, body }: Sent): Promise<{ status: number; type: string; text: string }> {
  return new Promise((resolve, reject) => {
    const length = { 'content-length': String(Buffer.byteLength(body)) };
    const sending = httpRequest({ host: '127.0.0.1', port, method, path, headers: { ...headers, ...length } }, async (reply) => {
      const text = (await buffer(reply)).toString();
      resolve({ status: reply.statusCode!, type: reply.headers['content-type'] ?? '', text });
    });
    sending.on('error', reject);
    sending.end(body);
  });
}

interface Way {
  port: () => number;
  /** What the client puts before its paths. */
  base: string;
  host?: string;
}

const BEHIND_RENAMING: Way = { port: () => portOf(renaming), base: '' };
const WAYS: Record<string, Way> = {
  'the address of the mount': { port: () => portOf(server.server), base: '/compat' },
  'a reverse proxy of its own': { port: () => portOf(reverseProxy), base: '/api' },
  'a host of its own': { port: () => portOf(server.server), base: '', host: HOST },
};

/** A client: what it called, and how that was answered. */
class Client {
  readonly calls: string[] = [];
  headers: Record<string, string> = {};
  readonly #way: Way;

  constructor(way: Way) {
    this.#way = way;
  }

  // The journeys read fields of any answer.
  // biome-ignore lint/suspicious/noExplicitAny: a journey reads any field of an answer
  async call(method: string, path: string, body?: unknown): Promise<any> {
    const { port, base, host } = this.#way;
    const type: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' };
    const reply = await exchange(port(), {
      method,
      path: `${base}${path}`,
      headers: { ...this.headers, ...type, ...(host === undefined ? {} : { host }) },
      body: body === undefined ? '' : JSON.stringify(body),
    });
    this.calls.push(`${method} ${path.replace(/\/\d+/g, '/N')} ${reply.status}`);
    return reply.type.includes('json') ? JSON.parse(reply.text) : reply.text;
  }
}

/** Paths of everything that a page reads without knowing an id. */
const pagesOf = (area: (path: string, auth: string) => boolean): string[] =>
  Object.entries(documentOfService.paths as Record<string, { get?: { 'x-auth': string } }>)
    .filter(([path, { get }]) => get && !path.includes('{') && area(path, get['x-auth']))
    .map(([path]) => inTheirs(path));

async function readPages(client: Client, paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    await t.app.db.sql('DELETE FROM rate_limit_windows');
    await client.call('GET', path);
  }
}

const JOURNEYS: Record<string, (client: Client) => Promise<void>> = {
  async 'cabinet of a customer'(client) {
    const user = await aUser(t.app);
    await topUp(t.app, user.id, 100_000);
    await aStoredSubscription(t.app, user.id);
    const signedIn = await client.call('POST', '/cabinet/auth/telegram', { init_data: initDataOf(t, user) });
    expect(signedIn.user).toMatchObject({ telegram_id: user.messengerId, auth_type: 'telegram' });
    // It keeps the first refresh token (spec 10 U2).
    for (let time = 0; time < 2; time += 1) {
      const refreshed = await client.call('POST', '/cabinet/auth/refresh', { refresh_token: signedIn.refresh_token });
      client.headers = { authorization: `Bearer ${refreshed.access_token}` };
    }
    expect(await client.call('GET', '/cabinet/auth/me')).toMatchObject({ telegram_id: user.messengerId });
    const { id } = await client.call('POST', '/cabinet/tickets', {
      title: 'telegram does not open',
      message: 'Since remnawave 3',
    });
    await client.call('GET', `/cabinet/tickets/${id}`);
    await client.call('POST', `/cabinet/tickets/${id}/messages`, { message: 'Still not' });
    await readPages(
      client,
      pagesOf((path, auth) => path.startsWith('/cabinet/') && (auth === 'JWT' || auth === 'NONE')),
    );
    await client.call('POST', '/cabinet/auth/logout', { refresh_token: signedIn.refresh_token });
  },
  async 'cabinet of an administrator'(client) {
    const { user, accessToken } = await adminClient(t.app, server, ['*:*'], 900);
    client.headers = { authorization: `Bearer ${accessToken}` };
    expect((await client.call('GET', '/cabinet/auth/me')).telegram_id).toBe(user.messengerId);
    const role = { name: `Role ${unique()}`, level: 5, permissions: ['remnawave:read', 'users:read'] };
    expect((await client.call('POST', '/cabinet/admin/rbac/roles', role)).permissions).toEqual(role.permissions);
    await readPages(
      client,
      pagesOf((_path, auth) => auth === 'JWT_ADMIN'),
    );
  },
  async 'dashboard and bot'(client) {
    client.headers = { 'x-api-key': (await tokenClient(t.app, server)).token };
    const telegramId = 60_000_000_000 + unique();
    const made = await client.call('POST', '/users', {
      telegram_id: telegramId,
      first_name: 'telegram',
      username: `remnawave${unique()}`,
    });
    expect(made).toMatchObject({ telegram_id: telegramId, first_name: 'telegram' });
    expect((await client.call('GET', `/users/by-telegram-id/${telegramId}`)).id).toBe(made.id);
    await client.call('POST', `/users/${made.id}/balance`, { amount_kopeks: 5_000 });
    const key = 'REMNAWAVE_AUTO_SYNC_ENABLED';
    expect((await client.call('PUT', `/settings/${key}`, { value: true })).key).toBe(key);
    await client.call('DELETE', `/settings/${key}`);
    await readPages(
      client,
      pagesOf((_path, auth) => auth === 'KEY'),
    );
  },
  async 'mini-app'(client) {
    const user = await aUser(t.app);
    await topUp(t.app, user.id, 100_000);
    await aStoredSubscription(t.app, user.id);
    const caller = { initData: initDataOf(t, user) };
    const page = await client.call('POST', '/miniapp/subscription', caller);
    expect(page.user.telegram_id).toBe(user.messengerId);
    for (const path of ['/miniapp/payments/methods', '/miniapp/subscription/settings']) await client.call('POST', path, caller);
  },
};

const cases = Object.keys(JOURNEYS).flatMap((journey) => Object.keys(WAYS).map((way) => [journey, way] as const));

test.each(cases)('%s by %s is answered as behind a proxy that renames', async (journey, way) => {
  const [behind, direct] = [new Client(BEHIND_RENAMING), new Client(WAYS[way]!)];
  for (const client of [behind, direct]) await JOURNEYS[journey]!(client);
  expect(direct.calls.length).toBeGreaterThan(2);
  expect(direct.calls).toEqual(behind.calls);
  expect(direct.calls.filter((call) => / 5\d\d$/.test(call))).toEqual([]);
});
