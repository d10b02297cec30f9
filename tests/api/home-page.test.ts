import { expect, it } from 'vitest';
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
  expect(json).toMatchObject({ status: 200, headers: { vary: 'Accept' } });
  const facts = { name: 'Subscription Service', version: '0.0.0-test', state: 'ready' };
  expect(json.body).toEqual({ ...facts, documentation: '/docs', sandbox: '/sandbox' });
  expect(page.status).toBe(200);
  expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
  for (const text of ['Subscription Service', '0.0.0-test', ', ready.', 'href="/docs"', 'href="/sandbox"']) {
    expect(page.text).toContain(text);
  }
});

it('08 C9: without documentation, sandbox and readiness it says so; no link leads to what is off', async () => {
  const { json, page } = await home({ WEB_API_DOCS_ENABLED: 'false' }, { isReady: false, kinds: [] });
  expect(json.body).toMatchObject({ state: 'not ready', documentation: null, sandbox: null });
  expect(page.text).toContain('not ready');
  expect(page.text).not.toContain('href');
});

it('08 C9: the page loads nothing, runs no script, cannot be framed and shows no secret', async () => {
  const secret = 'home-page-secret-0123456789abcdef0123456789';
  const { json, page } = await home({ CABINET_JWT_SECRET: secret, WEB_API_DOCS_ENABLED: 'true' });
  const policy = String(page.headers['content-security-policy']);
  expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-[\w+/=]+'; .*frame-ancestors 'none'$/);
  expect(policy).not.toContain('unsafe');
  expect(page.text).not.toMatch(/<script|<img|<link|https?:|src=/);
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
