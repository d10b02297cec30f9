import { describe, expect, it } from 'vitest';
import { clientOf, testServer } from '../support/api.ts';
import { testApp } from '../support/test-app.ts';

const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };

async function home(environment: Record<string, string>, instance: { isReady?: boolean; kinds?: string[] } = {}) {
  const { app } = await testApp({ environment });
  const { isReady = true, kinds = ['mail'] } = instance;
  const changed = { ...app.ports.instance, isReady: () => isReady, sandboxKinds: () => kinds };
  const server = await testServer({ ...app, ports: { ...app.ports, instance: changed } });
  const replies = {
    json: await clientOf(server).get('/'),
    page: await clientOf(server).get('/', { headers: BROWSER }),
  };
  await server.close();
  return replies;
}

it('08 C9: GET / names the service, its version, its state and the pages that are on', async () => {
  const { json, page } = await home({ WEB_API_DOCS_ENABLED: 'true' });
  expect(json).toMatchObject({ status: 200, headers: { vary: 'Origin, Accept, Accept-Language, Sec-Fetch-Mode' } });
  const facts = { name: 'Subscription Service', version: '0.0.0-test', state: 'ready' };
  expect(json.body).toEqual({ ...facts, documentation: '/docs', sandbox: '/sandbox' });
  expect(page.status).toBe(200);
  expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
  for (const text of ['Subscription Service', '0.0.0-test', 'Ready', 'href="/docs"', 'href="/sandbox"']) {
    expect(page.text).toContain(text);
  }
});

it('08 C9: without documentation, sandbox and readiness it says so, and no link leads to what is off', async () => {
  const { json, page } = await home({ WEB_API_DOCS_ENABLED: 'false' }, { isReady: false, kinds: [] });
  expect(json.body).toMatchObject({ state: 'not ready', documentation: null, sandbox: null });
  expect(page.text).toContain('Not ready');
  expect(page.text).not.toContain('<a ');
});

it('08 C9: the page loads nothing, runs no script, cannot be framed and shows no secret', async () => {
  const secret = 'home-page-secret-0123456789abcdef0123456789';
  const { json, page } = await home({ CABINET_JWT_SECRET: secret, WEB_API_DOCS_ENABLED: 'true' });
  const policy = String(page.headers['content-security-policy']);
  expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-[\w+/=]+'; img-src 'self'; .*frame-ancestors 'none'$/);
  expect(policy).not.toContain('unsafe');
  expect(page.text).not.toMatch(/<script|<img|https?:|src=/);
  expect(page.text + json.text).not.toContain(secret);
});

it.each([
  [{}, 'Subscription Service'],
  // The default of the setting, which is no title of this service.
  [{ WEB_API_TITLE: 'VpnPanel Bot Admin API' }, 'Subscription Service'],
  [{ WEB_API_TITLE: 'Our API' }, 'Our API'],
])('spec 10 O4: with %j the documentation has the title %s', async (environment, title) => {
  const { app } = await testApp({ environment: { ...environment, WEB_API_DOCS_ENABLED: 'true' } });
  const server = await testServer(app);
  expect((await clientOf(server).get('/docs')).text).toContain(`<title>${title}</title>`);
  expect((await clientOf(server).get('/openapi.json')).body.info.title).toBe(title);
  await server.close();
});

const NAVIGATION = { ...BROWSER, 'sec-fetch-mode': 'navigate', 'accept-language': 'ru-RU,ru;q=0.9,en;q=0.8' };

describe('spec 10 K7: in a browser', () => {
  it('the pages are in the language of the browser, light and dark', async () => {
    const { app } = await testApp();
    const client = clientOf(await testServer(app));
    const home = await client.get('/', { headers: NAVIGATION });
    expect(home.text).toContain('<html lang="ru">');
    expect(home.text).toContain('Версия 0.0.0-test');
    expect(home.text).toContain('color-scheme:light dark');
    const german = await client.get('/', { headers: { ...NAVIGATION, 'accept-language': 'de' } });
    expect(german.text).toContain('<html lang="en">');
  });

  it.for(['/nothing', '/cabinet', '/cabinet/nothing', '/docs'])(
    'a person who opens %s gets a page that says so',
    async (path) => {
      const { app } = await testApp({ environment: { WEB_API_DOCS_ENABLED: 'false' } });
      const client = clientOf(await testServer(app));
      const page = await client.get(path, { headers: NAVIGATION });
      expect([page.status, page.headers['content-type'], page.headers['cache-control']]).toEqual([
        404,
        'text/html; charset=utf-8',
        'no-cache',
      ]);
      expect(page.text).toContain('Страница не найдена');
      expect(String(page.headers['content-security-policy'])).toContain("frame-ancestors 'none'");
      expect(Number(page.headers['content-length'])).toBe(page.bytes.length);
    },
  );

  it.for<Record<string, string>>([
    {},
    { accept: '*/*' },
    { accept: 'application/json' },
    { accept: 'application/json, text/plain, */*' },
    { accept: 'application/json, text/html' },
    { accept: 'application/json, text/html;q=0.5' },
    { ...BROWSER, 'sec-fetch-mode': 'cors' },
  ])('a program that sends %j gets JSON, and caches know that it depends', async (headers) => {
    const { app } = await testApp();
    const client = clientOf(await testServer(app));
    const reply = await client.get('/cabinet/nothing', { headers });
    expect([reply.status, reply.text]).toEqual([404, '{"detail":"Not Found"}']);
    expect(reply.headers.vary).toContain('Accept');
    expect((await client.get('/', { headers })).body).toMatchObject({ name: 'Subscription Service' });
  });

  it('an operation answers JSON to a browser too', async () => {
    const { app } = await testApp();
    const client = clientOf(await testServer(app));
    const reply = await client.get('/cabinet/balance', { headers: NAVIGATION });
    expect([reply.status, reply.headers['content-type']]).toEqual([401, 'application/json; charset=utf-8']);
    expect((await client.post('/nothing', {}, { headers: NAVIGATION })).body).toEqual({ detail: 'Not Found' });
  });

  it('refused and unavailable pages are pages', async () => {
    const { app } = await testApp();
    const closed = { ...app, ports: { ...app.ports, gate: Object.create(app.ports.gate, { isClosed: { value: true } }) } };
    const server = await testServer(closed);
    const page = await clientOf(server).get('/', { headers: NAVIGATION });
    expect([page.status, page.headers['retry-after']]).toEqual([503, '10']);
    expect(page.text).toContain('Временно недоступно');
    const metrics = await server.inject({ url: '/metrics', headers: NAVIGATION, remoteAddress: '203.0.113.9' });
    expect([metrics.statusCode, metrics.body]).toEqual([403, expect.stringContaining('Доступ запрещён')]);
  });

  it('the pages have an icon', async () => {
    const { app } = await testApp();
    const client = clientOf(await testServer(app));
    for (const path of ['/favicon.svg', '/favicon.ico']) {
      const icon = await client.get(path);
      expect([icon.status, icon.headers['content-type']]).toEqual([200, 'image/svg+xml']);
    }
  });
});
