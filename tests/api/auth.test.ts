import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ApiClient, clientOf, testServer, tokenClient } from '../support/api.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

let t: TestApp;
let server: FastifyInstance;
let api: ApiClient & { token: string; tokenId: number };
beforeAll(async () => {
  t = await testApp();
  server = await testServer(t.app);
  api = await tokenClient(t.app, server);
});
afterAll(() => server.close());

describe('API tokens', () => {
  test('a created token is shown once, works in both headers and is listed without its text', async () => {
    const made = await api.post('/tokens', { name: '  Bot  ', description: 'reads' });
    expect(made.status).toBe(200);
    expect(made.body).toMatchObject({ name: 'Bot', description: 'reads', is_active: true, created_by: 'test', expires_at: null });
    const { token, ...shown } = made.body;
    expect(token).toMatch(/^sst_[A-Za-z0-9_-]{64}[0-9a-z]{7}$/);
    expect((await clientOf(server, { 'x-api-key': token }).get('/tokens')).status).toBe(200);
    expect((await clientOf(server, { authorization: `Bearer ${token}` }).get('/tokens')).status).toBe(200);
    const list = await api.get('/tokens');
    const listed = list.body.find((row: { id: number }) => row.id === shown.id);
    expect(listed).toMatchObject({ id: shown.id, name: 'Bot', prefix: token.slice(0, 8) });
    expect(list.text).not.toContain(token);
    const [row] = await t.app.db.sql<{ found: number }>(
      'SELECT count(*)::int AS found FROM web_api_tokens w WHERE w::text LIKE $1',
      [`%${token}%`],
    );
    expect(row!.found).toBe(0);
  });

  test('a revoked token is refused at once, an activated one works again', async () => {
    const other = await tokenClient(t.app, server, 'other');
    expect((await other.get('/tokens')).status).toBe(200);
    const revoked = await api.post(`/tokens/${other.tokenId}/revoke`);
    expect(revoked).toMatchObject({ status: 200, body: { id: other.tokenId, is_active: false } });
    expect(await other.get('/tokens')).toMatchObject({ status: 401, body: { detail: 'Invalid or expired API key' } });
    expect((await api.post(`/tokens/${other.tokenId}/activate`)).body.is_active).toBe(true);
    expect((await other.get('/tokens')).status).toBe(200);
    expect(await api.delete(`/tokens/${other.tokenId}`)).toMatchObject({ status: 200, body: { success: true } });
    expect((await other.get('/tokens')).status).toBe(401);
  });

  test('an expired token is refused', async () => {
    const made = await api.post('/tokens', {
      name: 'short',
      expires_at: new Date(t.clock.now().getTime() + 60_000).toISOString(),
    });
    const short = clientOf(server, { 'x-api-key': made.body.token });
    expect((await short.get('/tokens')).status).toBe(200);
    t.clock.advance(61_000);
    expect((await short.get('/tokens')).status).toBe(401);
  });

  test.each([
    ['no credential', {}, 'Missing API key'],
    ['an empty one', { 'x-api-key': '  ' }, 'Missing API key'],
    ['a made-up one', { 'x-api-key': 'sst_nonsense' }, 'Invalid or expired API key'],
    ['one with a wrong check sum', { 'x-api-key': `sst_${'A'.repeat(64)}0000000` }, 'Invalid or expired API key'],
  ])('%s is 401', async (_name, headers, detail) => {
    expect(await clientOf(server, headers as Record<string, string>).get('/tokens')).toMatchObject({
      status: 401,
      body: { detail },
    });
  });

  test('bad input is 422 with place and type, and unknown ids are 404', async () => {
    expect((await api.post('/tokens', {})).body.detail).toMatchObject([{ loc: ['body', 'name'], type: 'missing' }]);
    expect((await api.post('/tokens', { name: ' ' })).status).toBe(422);
    expect((await api.post('/tokens', { name: 'x'.repeat(256) })).body.detail).toMatchObject([
      { loc: ['body', 'name'], type: 'string_too_long', ctx: { max_length: 255 } },
    ]);
    expect((await api.post('/tokens', { name: '🎁'.repeat(255) })).status).toBe(200);
    expect((await api.post('/tokens', { name: 'x', expires_at: '2001-01-01T00:00:00' })).body.detail[0].loc).toEqual([
      'body',
      'expires_at',
    ]);
    expect((await api.post('/tokens/abc/revoke')).body.detail).toMatchObject([
      { loc: ['path', 'token_id'], type: 'int_parsing' },
    ]);
    for (const action of ['revoke', 'activate']) {
      expect(await api.post(`/tokens/999999/${action}`)).toMatchObject({ status: 404, body: { detail: 'Token not found' } });
    }
    expect((await api.delete('/tokens/999999')).status).toBe(404);
  });

  test('an id beyond every id is unknown too', async () => {
    for (const id of [2_147_483_648, -2_147_483_649, Number.MAX_SAFE_INTEGER]) {
      const replies = [
        await api.post(`/tokens/${id}/revoke`),
        await api.post(`/tokens/${id}/activate`),
        await api.delete(`/tokens/${id}`),
      ];
      for (const reply of replies) expect(reply).toMatchObject({ status: 404, body: { detail: 'Token not found' } });
    }
  });

  test('a NUL character is 422 with a detail of the service, not of the database', async () => {
    const reply = await api.post('/tokens', { name: 'a\u0000b' });
    expect(reply.status).toBe(422);
    expect(reply.body.detail).toMatchObject([
      { type: 'value_error', msg: 'Text must not hold the NUL character or half a surrogate pair' },
    ]);
    expect(reply.text).not.toMatch(/encoding|sequence/);
  });

  test('spec 01 H24: the use of a token is recorded at most once a minute', async () => {
    const { sql } = t.app.db;
    let updates = 0;
    const watched: typeof sql = (text, values) => {
      if (text.includes('SET last_used_at')) updates += 1;
      return sql(text, values);
    };
    const watchedServer = await testServer({ ...t.app, db: { ...t.app.db, sql: watched } });
    const other = await tokenClient(t.app, watchedServer, 'used');
    const lastUsed = async () =>
      (
        await t.app.db.sql<{ at: Date | null }>('SELECT last_used_at AS at FROM web_api_tokens WHERE id = $1::int', [
          other.tokenId,
        ])
      )[0]!.at;
    await other.get('/tokens');
    await expect.poll(lastUsed).not.toBeNull();
    const first = await lastUsed();
    t.clock.advance(30_000);
    await other.get('/tokens');
    expect(updates).toBe(1);
    t.clock.advance(31_000);
    await other.get('/tokens');
    await expect.poll(async () => (await lastUsed())!.getTime() - first!.getTime()).toBe(61_000);
    await watchedServer.close();
  });
});
