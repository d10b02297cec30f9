/** While `INTERFACE_WORDS` is empty, nothing of it is there (spec 09 W17), and while it is set, the root is as before. */
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { interfaceWordsOf } from '../../src/composition/interface-words.ts';
import { testServer } from '../support/api.ts';
import { testApp } from '../support/test-app.ts';

let off: FastifyInstance;
let server: FastifyInstance;

beforeAll(async () => {
  off = await testServer((await testApp({ environment: { INTERFACE_WORDS_HOSTS: 'old.example' } })).app);
  server = await testServer((await testApp({ environment: { INTERFACE_WORDS: 'telegram=messenger,remnawave=vpnpanel' } })).app);
});
afterAll(async () => {
  await off.close();
  await server.close();
});

it('there is no mount', async () => {
  const statuses = await Promise.all(
    ['/compat', '/compat/health', '/compat/openapi.json'].map(
      async (url) => (await off.inject({ method: 'GET', url })).statusCode,
    ),
  );
  const atHost = await off.inject({ method: 'GET', url: '/cabinet/branding/telegram-widget', headers: { host: 'old.example' } });
  expect([...statuses, atHost.statusCode]).toEqual([404, 404, 404, 404]);
});

it('no hook runs, requests have no field for it, and operations no names to change', async () => {
  const { env } = await testApp().then(({ app }) => app);
  expect(interfaceWordsOf(env)).toBeUndefined();
  const hooksOf = (one: FastifyInstance) =>
    one
      .printRoutes({ includeHooks: true })
      .match(/\(onRequest\) .*/)?.[0]
      .split(',').length;
  expect(hooksOf(server)).toBe(hooksOf(off)! + 1);
  expect([server, off].map((one) => one.hasRequestDecorator('mount'))).toEqual([true, false]);
  expect(off.printRoutes({ includeHooks: false })).toBe(server.printRoutes({ includeHooks: false }));
});

it.each([
  ['GET', '/openapi.json'],
  ['GET', '/docs'],
  ['GET', '/cabinet/branding'],
  ['GET', '/cabinet/auth/me'],
  ['POST', '/cabinet/auth/messenger'],
  ['OPTIONS', '/miniapp/subscription'],
  ['GET', '/nothing'],
] as const)('%s %s is answered at the root byte for byte as while it is on', async (method, url) => {
  const headers = { origin: 'https://a.example', 'access-control-request-method': 'GET', 'x-request-id': 'the-same' };
  const [on, without] = await Promise.all([server, off].map((one) => one.inject({ method, url, headers })));
  const { date: _on, ...headersOn } = on!.headers;
  const { date: _without, ...headersWithout } = without!.headers;
  expect([without!.statusCode, headersWithout, without!.body]).toEqual([on!.statusCode, headersOn, on!.body]);
});
