import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { documented, meta, open, restServer, type TestServer, t, thingRouter } from './rest-fixture.ts';

let server: TestServer;
beforeAll(async () => {
  server = await restServer();
});
beforeEach(() => {
  server.logged.length = 0;
});
afterAll(() => server.app.close());

describe('answers', () => {
  it('writes dates as ISO 8601 with Z and says success where a procedure returns nothing', async () => {
    const got = await server.app.inject('/things/12');
    expect([got.statusCode, got.headers['content-type'], got.json()]).toEqual([
      200,
      'application/json; charset=utf-8',
      { id: 12, name: 'by id', created_at: '1970-01-01T00:00:00.000Z', remark: '' },
    ]);
    const removed = await server.app.inject({ method: 'DELETE', url: '/things/1', headers: { 'x-user': 'a' } });
    expect([removed.statusCode, removed.json()]).toEqual([200, { success: true }]);
  });

  it('streams files and keeps any file name', async () => {
    const name = 'отчёт "1".csv';
    const answer = await server.app.inject(`/things/file/${encodeURIComponent(name)}?stream=true`);
    expect([answer.statusCode, answer.body]).toEqual([200, 'a;b']);
    expect(answer.headers['content-disposition']).toBe(
      `attachment; filename="_____ _1_.csv"; filename*=UTF-8''%D0%BE%D1%82%D1%87%D1%91%D1%82%20%221%22.csv`,
    );
  });
});

describe('failures', () => {
  it('checks the credential before it validates the input', async () => {
    for (const payload of ['{broken', '{}', '']) {
      const answer = await server.app.inject({
        method: 'POST',
        url: '/things',
        payload,
        headers: { 'content-type': 'application/json' },
      });
      expect([answer.statusCode, answer.json(), answer.headers['www-authenticate']]).toEqual([
        401,
        { detail: 'Not authenticated' },
        'Bearer',
      ]);
    }
  });

  it('spec 10 U5: a refusal has its own status and detail, with the code under both names', async () => {
    const answer = await server.app.inject({ method: 'POST', url: '/bad/refused' });
    expect([answer.statusCode, answer.json()]).toEqual([
      402,
      { detail: { code: 'insufficient_funds', message: 'Not enough', missing_kopeks: 5, error_code: 'insufficient_funds' } },
    ]);
    expect(server.logged).toEqual([]);
  });

  it('logs a temporary refusal as one line with its reason, without a stack', async () => {
    expect((await server.app.inject('/bad/away')).statusCode).toBe(503);
    expect(server.logged).toMatchObject([
      { level: 'warn', details: { operation: 'things.away', code: 'maintenance', reason: 'panel timed out' } },
    ]);
    expect(server.logged[0]!.details).not.toHaveProperty('err');
  });

  it('treats wrong output as its own bug, not as 422', async () => {
    const answer = await server.app.inject('/bad/output');
    expect([answer.statusCode, answer.json()]).toEqual([500, { detail: 'Internal Server Error' }]);
    expect(server.logged).toHaveLength(1);
  });

  it('never shows the inside of an unknown failure, but logs it', async () => {
    const answer = await server.app.inject('/bad/crash');
    expect([answer.statusCode, answer.body]).toEqual([500, '{"detail":"Internal Server Error"}']);
    expect(server.logged).toMatchObject([
      { level: 'error', details: { operation: 'things.crash', err: { message: expect.stringContaining('ECONNREFUSED') } } },
    ]);
    expect((await server.app.inject('/bad/cyclic')).statusCode).toBe(500);
  });

  it('answers 404 and 405 whatever the body is, and 400 for a URL that cannot be decoded', async () => {
    const unknown = await server.app.inject({
      method: 'POST',
      url: '/none',
      payload: '<a/>',
      headers: { 'content-type': 'text/xml' },
    });
    expect([unknown.statusCode, unknown.json()]).toEqual([404, { detail: 'Not Found' }]);
    const method = await server.app.inject({
      method: 'PUT',
      url: '/things/run/?x=1',
      payload: '<a/>',
      headers: { 'content-type': 'text/xml' },
    });
    expect([method.statusCode, method.headers.allow]).toEqual([405, 'DELETE, GET, HEAD, PATCH, POST']);
    const url = await server.app.inject('/things/%E0%A4%A');
    expect([url.statusCode, url.json()]).toEqual([400, { detail: 'Bad Request' }]);
  });
});

describe('route table', () => {
  it('leaves procedures without an HTTP face out', () => {
    expect(documented(thingRouter).routes.some((route) => route.procedurePath === 'things.trpcOnly')).toBe(false);
  });

  it('refuses two procedures on one method and path shape', () => {
    const router = t.router({
      a: open
        .meta(meta('GET', '/x/{a}'))
        .input(z.object({ a: z.int() }))
        .query(() => 1),
      b: open
        .meta(meta('GET', '/x/{b}/'))
        .input(z.object({ b: z.int() }))
        .query(() => 2),
    });
    expect(() => documented(router)).toThrow('GET /x/{} is served by both a and b');
  });

  it('refuses a path parameter without an input key, and an input that is no object', () => {
    const lost = t.router({
      a: open
        .meta(meta('GET', '/x/{id}'))
        .input(z.object({ n: z.int() }))
        .query(() => 1),
    });
    expect(() => documented(lost)).toThrow('a: path id has no input key "id"');
    const text = t.router({
      a: open
        .meta(meta('POST', '/x'))
        .input(z.string())
        .mutation(() => 1),
    });
    expect(() => documented(text)).toThrow('must be an object schema');
  });

  it('merges the inputs of a base procedure and reports the faults of both', async () => {
    const base = t.procedure.input(z.object({ init_data: z.string().min(3) }));
    const router = t.router({
      a: base
        .meta(meta('POST', '/mini'))
        .input(z.object({ amount: z.int().min(1) }))
        .mutation(({ input }) => input),
    });
    const { app } = await restServer(router);
    expect((await app.inject({ method: 'POST', url: '/mini', payload: { init_data: 'abc', amount: 2 } })).json()).toEqual({
      init_data: 'abc',
      amount: 2,
    });
    const bad = await app.inject({ method: 'POST', url: '/mini', payload: { init_data: 'a', amount: 0 } });
    expect(bad.json().detail.map((issue: { loc: string[] }) => issue.loc)).toEqual([
      ['body', 'init_data'],
      ['body', 'amount'],
    ]);
    await app.close();
  });
});
