/** `/trpc` serves the same procedures as REST, with the same guards, limits and answers. */
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { putSetting, resetSetting } from '../../src/domain/settings/change-setting.ts';
import { type ActorClient, userClient } from '../support/actors.ts';
import { type ApiClient, clientOf, testServer, tokenClient } from '../support/api.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

let t: TestApp;
let server: FastifyInstance;
let user: ActorClient;
let token: ApiClient & { token: string; tokenId: number };
beforeAll(async () => {
  t = await testApp();
  server = await testServer(t.app);
  user = await userClient(t.app, server);
  token = await tokenClient(t.app, server);
});
afterAll(() => server.close());

const batch = (inputs: unknown[]) => ({
  batch: '1',
  input: JSON.stringify(Object.fromEntries(inputs.map((input, i) => [i, input]))),
});

describe('/trpc', () => {
  test('a batch answers each call, and each call is checked by itself', async () => {
    const reply = await user.get('/trpc/cabinet.balance.get,cabinet.auth.me,web.auth.list', { query: batch([]) });
    expect(reply.status).toBe(207);
    const [balance, me, foreign] = reply.body;
    expect(balance.result.data).toMatchObject({ balance_kopeks: 0 });
    expect(me.result.data.id).toBe(user.user.id);
    expect(foreign.error.data).toMatchObject({ status: 401, appCode: 'api_key_invalid', detail: 'Invalid or expired API key' });
  });

  test('without a credential it is 401 as on REST, and the answer has no stack', async () => {
    const reply = await clientOf(server).get('/trpc/cabinet.balance.get');
    expect(reply.status).toBe(401);
    expect(reply.body.error.data).toMatchObject({ status: 401, detail: 'Authentication required' });
    expect(reply.text).not.toMatch(/stack|at .*\.ts/);
  });

  test('bad input has the fields and types of the 422 of REST', async () => {
    const rest = await token.post('/tokens', { name: 7 });
    const trpc = await token.post('/trpc/web.auth.create', { name: 7 });
    expect(trpc.body.error.data.status).toBe(422);
    expect(trpc.body.error.data.detail).toMatchObject(
      rest.body.detail.map(({ loc, type }: { loc: string[]; type: string }) => ({ loc, type })),
    );
  });

  test('a refusal has its code and detail', async () => {
    const missing = await token.post('/trpc/web.auth.revoke', { token_id: 999_999 });
    expect(missing.status).toBe(404);
    expect(missing.body.error.data).toMatchObject({ status: 404, appCode: 'token_not_found', detail: 'Token not found' });
  });

  test('a text is not read as a number', async () => {
    // REST reads "7" of a path as a number; a typed client sends numbers, so here a text is refused.
    await token.post('/tokens/7/revoke');
    expect((await token.post('/trpc/web.auth.revoke', { token_id: '7' })).body.error.data.status).toBe(422);
  });

  test('a batch beyond the limit is refused', async () => {
    const names = Array.from({ length: 40 }, () => 'cabinet.balance.get').join(',');
    expect((await user.get(`/trpc/${names}`, { query: batch([]) })).status).toBe(400);
  });

  test('sign-in limits count both transports together', async () => {
    const statuses: number[] = [];
    for (let i = 0; i < 12; i++) {
      const transports = [
        () => clientOf(server).post('/trpc/cabinet.auth.messenger', { init_data: 'x' }),
        () => clientOf(server).post('/cabinet/auth/messenger', { init_data: 'x' }),
      ];
      statuses.push((await transports[i % 2]!()).status);
    }
    expect(statuses).toEqual([...Array(10).fill(401), 429, 429]);
  });

  test('a refusal has the headers of REST: Retry-After and WWW-Authenticate', async () => {
    const client = clientOf(server, { 'x-forwarded-for': '203.0.113.77' });
    expect((await client.get('/trpc/cabinet.auth.me')).headers['www-authenticate']).toBe('Bearer');
    const email = 'limited@example.com';
    for (let i = 0; i < 5; i++) await client.post('/trpc/cabinet.auth.password.forgot', { email });
    const limited = await client.post('/trpc/cabinet.auth.password.forgot', { email });
    expect([limited.status, limited.headers['retry-after']]).toEqual([429, '60']);
    const names = 'cabinet.auth.password.forgot,cabinet.auth.logout';
    const both = await client.post(`/trpc/${names}?batch=1`, { 0: { email } });
    expect(both.headers).toMatchObject({ 'retry-after': '60' });
    expect((await user.get('/trpc/cabinet.auth.me')).headers).not.toHaveProperty('www-authenticate');
  });

  test('a disabled cabinet is closed on both transports, health stays open', async () => {
    const closed = await testApp({ environment: { CABINET_ENABLED: 'false' } });
    const other = await testServer(closed.app);
    expect((await clientOf(other).get('/trpc/cabinet.balance.get')).status).toBe(404);
    expect((await clientOf(other).get('/cabinet/balance')).status).toBe(404);
    expect((await clientOf(other).get('/health')).status).toBe(200);
    await other.close();
  });

  test('a disabled Web API is closed on both transports, the cabinet is not, and the other way round', async () => {
    const secret = token.token;
    const status = async (environment: Record<string, string>, path: string) => {
      const other = await testServer((await testApp({ environment })).app);
      const answer = await clientOf(other, { 'x-api-key': secret }).get(path);
      await other.close();
      return answer.status;
    };
    const noWebApi = { WEB_API_ENABLED: 'false' };
    expect(await status(noWebApi, '/trpc/web.auth.list')).toBe(404);
    expect(await status(noWebApi, '/tokens')).toBe(404);
    expect(await status(noWebApi, '/trpc/cabinet.balance.get')).toBe(401);
    expect(await status(noWebApi, '/trpc/web.health.check')).toBe(200);
    expect(await status({ CABINET_ENABLED: 'false' }, '/trpc/web.auth.list')).toBe(200);
  });

  test('CABINET_ENABLED closes the landing pages below /cabinet, while the mini-app is closed by neither setting', async () => {
    const slug = encodeURIComponent(JSON.stringify({ slug: 'none' }));
    for (const [environment, page] of [
      [{ WEB_API_ENABLED: 'false' }, 'Landing page not found'],
      [{ CABINET_ENABLED: 'false' }, 'Not Found'],
    ] as const) {
      const other = await testServer((await testApp({ environment })).app);
      const client = clientOf(other);
      expect((await client.get('/cabinet/landing/none')).body).toEqual({ detail: page });
      expect((await client.get(`/trpc/cabinet.landingPages.get?input=${slug}`)).body.error.data).toMatchObject({ detail: page });
      expect((await client.post('/miniapp/maintenance/status', { initData: 'x' })).status).toBe(401);
      expect((await client.post('/trpc/miniapp.maintenance', { initData: 'x' })).status).toBe(401);
      await other.close();
    }
  });

  test('an area that is closed by a setting is closed at once', async () => {
    const closing = await testApp();
    const other = await testServer(closing.app);
    expect((await clientOf(other).get('/cabinet/balance')).status).toBe(401);
    await putSetting(closing.app, { kind: 'system' }, 'CABINET_ENABLED', false);
    expect((await clientOf(other).get('/cabinet/balance')).status).toBe(404);
    expect((await clientOf(other).get('/trpc/cabinet.balance.get')).status).toBe(404);
    await resetSetting(closing.app, { kind: 'system' }, 'CABINET_ENABLED');
    expect((await clientOf(other).get('/cabinet/balance')).status).toBe(401);
    await other.close();
  });
});
