import Fastify from 'fastify';
import { describe, expect, it } from 'vitest';
import { registerDocsPages } from '../../../src/rest/docs-pages.ts';
import { registerCors, registerSecurityHeaders, restServerOptions } from '../../../src/rest/http-limits.ts';

function server() {
  const state = {
    docs: true,
    title: 'A <service>',
    web: ['https://shop.example'] as string[],
    cabinet: ['https://cabinet.example/'] as string[],
  };
  const app = Fastify({ ...restServerOptions });
  registerSecurityHeaders(app);
  app.register(async (scope) => {
    await registerCors(scope, { webApiOrigins: () => state.web, cabinetOrigins: () => state.cabinet });
    scope.get('/thing', (_request, reply) => reply.send({ ok: true }));
  });
  registerDocsPages(app, {
    isEnabled: () => state.docs,
    title: () => state.title,
    document: async (title) => JSON.stringify({ openapi: '3.1.0', info: { title } }),
  });
  return { app, state };
}

describe('docs pages', () => {
  it('serve everything they refer to themselves, without inline scripts or other hosts', async () => {
    const { app } = server();
    for (const url of ['/docs', '/docs/', '/redoc']) {
      const page = await app.inject(url);
      expect(page.statusCode).toBe(200);
      expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
      expect(page.headers['content-security-policy']).toContain("script-src 'self';");
      expect(page.headers['content-security-policy']).not.toMatch(/https?:|unsafe-eval|script-src[^;]*unsafe-inline/);
      expect(page.body).toContain('<title>A &lt;service></title>');
      expect(page.body).not.toMatch(/https?:\/\/|<script>|\son\w+=/);
      const assets = [...page.body.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1]!);
      expect(assets.length).toBeGreaterThanOrEqual(3);
      for (const asset of assets) {
        const file = await app.inject(asset);
        expect([asset, file.statusCode, file.body.length > 20]).toEqual([asset, 200, true]);
        expect(file.headers['x-content-type-options']).toBe('nosniff');
      }
    }
    await app.close();
  });

  it('spec 10 O4: a new title is in effect at once, on the pages and in the document', async () => {
    const { app, state } = server();
    await app.inject('/openapi.json');
    state.title = 'New title';
    for (const url of ['/docs', '/redoc']) expect((await app.inject(url)).body).toContain('<title>New title</title>');
    expect((await app.inject('/openapi.json')).json()).toMatchObject({ info: { title: 'New title' } });
    await app.close();
  });

  it('are 404 while switched off', async () => {
    const { app, state } = server();
    expect((await app.inject('/openapi.json')).json()).toEqual({ openapi: '3.1.0', info: { title: 'A <service>' } });
    const redirect = await app.inject('/doc');
    expect([redirect.statusCode, redirect.headers.location]).toEqual([307, '/docs']);
    state.docs = false;
    for (const url of ['/docs', '/doc', '/redoc', '/openapi.json', '/docs/swagger-ui-bundle.js', '/redoc/start.js']) {
      const answer = await app.inject(url);
      expect([url, answer.statusCode, answer.json()]).toEqual([url, 404, { detail: 'Not Found' }]);
    }
    await app.close();
  });
});

describe('security headers', () => {
  it('stand on every answer', async () => {
    const { app } = server();
    for (const url of ['/thing', '/none', '/openapi.json']) {
      expect((await app.inject(url)).headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'content-security-policy': expect.stringContaining("frame-ancestors 'none'"),
        'referrer-policy': 'no-referrer',
      });
    }
    await app.close();
  });
});

describe('CORS', () => {
  const preflight = (origin: string) => ({
    method: 'OPTIONS' as const,
    url: '/thing',
    headers: { origin, 'access-control-request-method': 'PATCH', 'access-control-request-headers': 'x-api-key' },
  });

  it('allows the origins of both lists with credentials, and no other', async () => {
    const { app } = server();
    for (const origin of ['https://shop.example', 'https://cabinet.example']) {
      const { headers, statusCode } = await app.inject(preflight(origin));
      expect(statusCode).toBe(204);
      expect(headers['access-control-allow-origin']).toBe(origin);
      expect(headers['access-control-allow-credentials']).toBe('true');
      expect(headers['access-control-allow-methods']).toBe('GET, POST, PUT, PATCH, DELETE, OPTIONS');
      for (const name of [
        'Authorization',
        'X-API-Key',
        'X-CSRF-Token',
        'X-Messenger-Init-Data',
        'Idempotency-Key',
        'X-Request-Id',
      ]) {
        expect(headers['access-control-allow-headers']).toContain(name);
      }
    }
    expect((await app.inject(preflight('https://evil.example'))).headers['access-control-allow-origin']).toBeUndefined();
    expect((await app.inject({ url: '/thing', headers: { origin: 'https://shop.example' } })).headers.vary).toContain('Origin');
    await app.close();
  });

  it('allows everybody, but no credentials, when the Web API list is empty or a star, until the list changes', async () => {
    const { app, state } = server();
    await app.inject(preflight('https://evil.example'));
    for (const list of [[], ['*']]) {
      state.web = list;
      const { headers } = await app.inject({ url: '/thing', headers: { origin: 'https://evil.example' } });
      expect(headers['access-control-allow-origin']).toBe('*');
      expect(headers['access-control-allow-credentials']).toBeUndefined();
    }
    state.web = ['https://other.example'];
    const { headers } = await app.inject({ url: '/thing', headers: { origin: 'https://other.example' } });
    expect(headers['access-control-allow-origin']).toBe('https://other.example');
    await app.close();
  });
});
