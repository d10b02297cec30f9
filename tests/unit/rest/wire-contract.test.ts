import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { Filters, restServer, type TestServer, t, thingRouter } from './rest-fixture.ts';

let server: TestServer;
beforeAll(async () => {
  server = await restServer();
});
afterAll(() => server.app.close());

const get = (url: string, headers: Record<string, string> = {}) => server.app.inject({ method: 'GET', url, headers });
const send = (
  method: 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  url: string,
  payload?: object | string,
  headers: Record<string, string> = {},
) => server.app.inject({ method, url, headers, ...(payload === undefined ? {} : { payload }) });

describe('what a generic OpenAPI handler gets wrong (docs/architecture.md)', () => {
  it('1: reads boolean words, and an empty value is neither false nor zero', async () => {
    for (const [word, value] of [
      ['true', true],
      ['1', true],
      ['yes', true],
      ['ON', true],
      ['false', false],
      ['0', false],
      ['no', false],
      ['off', false],
    ] as const) {
      expect((await get(`/things?active=${word}`)).json()).toMatchObject({ active: value });
    }
    expect((await get('/things?active=maybe')).json().detail).toEqual([
      {
        type: 'bool_parsing',
        loc: ['query', 'active'],
        msg: 'Input should be a valid boolean, unable to interpret input',
        input: 'maybe',
      },
    ]);
    const empty = await get('/things?active=&limit=&ratio=&since=&status=');
    expect(empty.statusCode).toBe(422);
    expect(empty.json().detail.map((issue: { loc: string[]; type: string }) => [issue.loc[1], issue.type])).toEqual([
      ['limit', 'int_parsing'],
      ['active', 'bool_parsing'],
      ['ratio', 'float_parsing'],
      ['status', 'enum'],
      ['since', 'datetime_from_date_parsing'],
    ]);
  });

  it('2: never touches the schema: a string stays refused over tRPC after REST has read one', async () => {
    expect((await get('/things?limit=7')).json()).toMatchObject({ limit: 7 });
    const caller = t.createCallerFactory(thingRouter)({ user: undefined });
    await expect(caller.things.list({ limit: '7' } as unknown as { limit: number })).rejects.toMatchObject({
      code: 'BAD_REQUEST',
    });
    expect(Filters.safeParse({ limit: '7' }).success).toBe(false);
  });

  it('3: a write without a body takes none at all, with or without a content type', async () => {
    expect((await send('POST', '/things/run')).json()).toEqual({ ran: true });
    expect((await send('POST', '/things/run', undefined, { 'content-type': 'application/json' })).json()).toEqual({ ran: true });
    expect((await send('POST', '/things/run', undefined, { 'content-type': 'text/plain' })).json()).toEqual({ ran: true });
    expect((await send('POST', '/things/run', '{broken', { 'content-type': 'application/json' })).json()).toEqual({ ran: true });
    expect((await send('POST', '/things/run', 'a=1', { 'content-type': 'application/x-www-form-urlencoded' })).json()).toEqual({
      ran: true,
    });
  });

  it('4: reads the query of a POST and the body of a DELETE', async () => {
    expect((await send('POST', '/things/5/click?source=menu&times=3')).json()).toEqual({ thing_id: 5, source: 'menu', times: 3 });
    expect((await send('DELETE', '/things/5/full', { reason: 'spam', hard: true })).json()).toEqual({
      thing_id: 5,
      reason: 'spam',
      hard: true,
    });
    expect((await send('DELETE', '/things/5/full')).json()).toEqual({ thing_id: 5, hard: false });
  });

  it('5: a static path wins over a parameter path declared before it, and paths are case-sensitive', async () => {
    expect((await get('/things/summary')).json()).toEqual({ total: 7 });
    expect((await get('/things/12')).json()).toMatchObject({ id: 12 });
    expect((await get('/Things/12')).statusCode).toBe(404);
  });

  it('6: takes a nullable body, a map as body, and one name in both path and body', async () => {
    expect((await send('PUT', '/things/status', 'null', { 'content-type': 'application/json' })).json()).toEqual({
      change: null,
    });
    expect((await send('PUT', '/things/status')).json()).toEqual({ change: null });
    expect((await send('PUT', '/things/status', { on: true })).json()).toEqual({ change: { on: true } });
    expect((await send('PUT', '/things/map', { a: 1, b: 2 })).json()).toEqual({ a: 1, b: 2 });
    expect((await send('POST', '/rounds/3/answer', { round_id: 9, text: 'x' })).json()).toEqual({
      path_round_id: 3,
      round_id: 9,
      text: 'x',
    });
  });

  it('7: takes uploads, sends files and redirects, and refuses lazy routers at boot instead of hiding them', async () => {
    const form = multipart([
      { name: 'size', value: '9' },
      { name: 'file', value: 'hello', filename: '../../etc/pass.txt', type: 'text/plain' },
    ]);
    const uploaded = await send('POST', '/things/upload', form.payload, { ...form.headers, 'x-user': 'a' });
    expect(uploaded.json()).toEqual({ name: 'pass.txt', type: 'text/plain', text: 'hello', size: 9 });
    const file = await get('/things/file/data.csv');
    expect([file.statusCode, file.body, file.headers['content-type']]).toEqual([200, 'a;b', 'text/csv']);
    const redirect = await get('/things/go');
    expect([redirect.statusCode, redirect.headers.location]).toEqual([
      302,
      'https://example.com/%D0%BF%D1%83%D1%82%D1%8C?a=1%20b',
    ]);
    const { lazy } = await import('@trpc/server');
    const hidden = t.router({ late: lazy(async () => ({ thingRouter })) });
    await expect(restServer(hidden)).rejects.toThrow(/lazy routers/i);
  });

  it('8: has its own error bodies: detail for 404 and 405, located issues for 422', async () => {
    const missing = await get('/nothing/here');
    expect([missing.statusCode, missing.json()]).toEqual([404, { detail: 'Not Found' }]);
    const method = await send('PUT', '/things/12');
    expect([method.statusCode, method.json(), method.headers.allow]).toEqual([
      405,
      { detail: 'Method Not Allowed' },
      'DELETE, GET, HEAD, PATCH',
    ]);
    expect((await get('/things/abc')).json()).toEqual({
      detail: [
        {
          type: 'int_parsing',
          loc: ['path', 'thing_id'],
          msg: 'Input should be a valid integer, unable to parse string as an integer',
          input: 'abc',
        },
      ],
    });
  });
});

describe('bodies', () => {
  const asUser = { 'x-user': 'a', 'content-type': 'application/json' };

  it('applies defaults, ignores unknown fields and does not read strings as numbers', async () => {
    expect((await send('POST', '/things', { name: 'abc', extra: 1 }, asUser)).json()).toEqual({ id: 1, name: 'abc', remark: '' });
    expect((await send('POST', '/things', { name: 'abc', price_kopeks: '5' }, asUser)).json().detail).toEqual([
      { type: 'int_type', loc: ['body', 'price_kopeks'], msg: 'Input should be a valid integer', input: '5' },
    ]);
  });

  it('reports a required body that is absent or null as one missing body', async () => {
    for (const body of [undefined, 'null']) {
      const answer = await send('POST', '/things', body, asUser);
      expect([answer.statusCode, answer.json().detail]).toEqual([
        422,
        [{ type: 'missing', loc: ['body'], msg: 'Field required', input: null }],
      ]);
    }
    const allOptional = await send('PATCH', '/things/5');
    expect(allOptional.json().detail).toEqual([{ type: 'missing', loc: ['body'], msg: 'Field required', input: null }]);
  });

  it('reports malformed JSON with its position and a body that is no object', async () => {
    expect((await send('POST', '/things', '{"name": }', asUser)).json().detail).toEqual([
      { type: 'json_invalid', loc: ['body', '9'], msg: 'JSON decode error', input: {}, ctx: { error: 'Expecting value' } },
    ]);
    expect((await send('POST', '/things', '[1]', asUser)).json().detail).toMatchObject([
      { type: 'dict_type', loc: ['body'], input: [1] },
    ]);
    expect((await send('PUT', '/things/map', '[1]', asUser)).json().detail).toMatchObject([{ type: 'dict_type', loc: ['body'] }]);
    expect((await send('PUT', '/things/map', { a: 'x' }, asUser)).json().detail).toMatchObject([
      { type: 'int_type', loc: ['body', 'a'] },
    ]);
  });

  it('names every fault of a request in one answer, in the order path, query, body', async () => {
    const answer = await send('PATCH', '/things/abc', { name: 5, price_kopeks: 1.5 });
    expect(answer.json().detail.map((issue: { loc: string[]; type: string }) => [...issue.loc, issue.type].join(' '))).toEqual([
      'path thing_id int_parsing',
      'body name string_type',
      'body price_kopeks int_from_float',
    ]);
    const click = await send('POST', '/things/x/click?times=y');
    expect(click.json().detail.map((issue: { loc: string[]; type: string }) => [...issue.loc, issue.type].join(' '))).toEqual([
      'path thing_id int_parsing',
      'query times int_parsing',
      'query source missing',
    ]);
  });

  it('shows the object that misses a field, and null for a missing parameter', async () => {
    const body = await send('POST', '/things', { price_kopeks: 3 }, asUser);
    expect(body.json().detail).toEqual([
      { type: 'missing', loc: ['body', 'name'], msg: 'Field required', input: { price_kopeks: 3 } },
    ]);
    const query = await send('POST', '/things/5/click');
    expect(query.json().detail).toEqual([{ type: 'missing', loc: ['query', 'source'], msg: 'Field required', input: null }]);
    const nested = await send('POST', '/things/union', { target: { kind: 'user' } });
    expect(nested.json().detail).toMatchObject([{ type: 'missing', loc: ['body', 'target', 'id'], input: { kind: 'user' } }]);
  });

  it('refuses another media type only where JSON is needed', async () => {
    const answer = await send('POST', '/things', 'name=abc', {
      'x-user': 'a',
      'content-type': 'application/x-www-form-urlencoded',
    });
    expect([answer.statusCode, answer.json()]).toEqual([415, { detail: 'Unsupported Media Type' }]);
    expect(
      (await send('POST', '/things', '{"name":"abc"}', { 'x-user': 'a', 'content-type': 'application/vnd.x+json' })).statusCode,
    ).toBe(200);
    const untyped = await server.app.inject({
      method: 'POST',
      url: '/things',
      headers: { 'x-user': 'a' },
      payload: Buffer.from('{"name":"abc"}'),
    });
    expect(untyped.statusCode).toBe(200);
  });

  it('refuses more than 1 MiB', async () => {
    const answer = await send('POST', '/things', JSON.stringify({ name: 'x'.repeat(1024 * 1024) }), asUser);
    expect([answer.statusCode, answer.json()]).toEqual([413, { detail: 'Request body too large' }]);
  });

  it('cannot be made to fail by deep nesting', async () => {
    const deep = '['.repeat(200_000) + ']'.repeat(200_000);
    const answer = await send('POST', '/things', deep, asUser);
    expect([answer.statusCode, answer.json().detail[0].type]).toEqual([422, 'dict_type']);
  });
});

describe('queries, paths and headers', () => {
  it('reads repeated keys as a list, and the last one for a single value', async () => {
    expect((await get('/things?ids=3&ids=4&limit=5&limit=6')).json()).toMatchObject({ ids: [3, 4], limit: 6 });
    expect((await get('/things?ids=3')).json()).toMatchObject({ ids: [3] });
    expect((await get('/things?ids=3&ids=x')).json().detail).toMatchObject([
      { type: 'int_parsing', loc: ['query', 'ids', '1'], input: 'x' },
    ]);
  });

  it('shows the client its own text in a broken bound', async () => {
    expect((await get('/things?limit=0')).json().detail).toEqual([
      {
        type: 'greater_than_equal',
        loc: ['query', 'limit'],
        msg: 'Input should be greater than or equal to 1',
        input: '0',
        ctx: { ge: 1 },
      },
    ]);
    expect((await get('/things/99999999999999999999')).json().detail).toEqual([
      {
        type: 'less_than_equal',
        loc: ['path', 'thing_id'],
        msg: 'Input should be less than or equal to 9007199254740991',
        input: '99999999999999999999',
        ctx: { le: 9007199254740991 },
      },
    ]);
  });

  it('reads headers as declared', async () => {
    expect((await send('POST', '/things/keyed', { name: 'n' }, { 'x-count': '4' })).json()).toEqual({ count: 4, name: 'n' });
    expect((await send('POST', '/things/keyed', { name: 'n' }, { 'x-count': 'x' })).json().detail).toMatchObject([
      { type: 'int_parsing', loc: ['header', 'x-count'] },
    ]);
  });

  it('serves both forms of a trailing slash without a redirect', async () => {
    expect((await get('/things/12/')).json()).toMatchObject({ id: 12 });
    expect((await send('POST', '/things/run/')).json()).toEqual({ ran: true });
    expect((await get('/things/?limit=3')).json()).toMatchObject({ limit: 3 });
  });
});

function multipart(parts: { name: string; value: string; filename?: string; type?: string }[]) {
  const boundary = 'X-BOUNDARY';
  const text = parts
    .map(({ name, value, filename, type }) => {
      const file = filename ? `; filename="${filename}"\r\nContent-Type: ${type}` : '';
      return `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${file}\r\n\r\n${value}\r\n`;
    })
    .join('');
  return { payload: `${text}--${boundary}--\r\n`, headers: { 'content-type': `multipart/form-data; boundary=${boundary}` } };
}

describe('uploads', () => {
  const upload = (parts: Parameters<typeof multipart>[0], headers: Record<string, string> = { 'x-user': 'a' }) => {
    const form = multipart(parts);
    return send('POST', '/things/upload', form.payload, { ...form.headers, ...headers });
  };

  it('refuses a file beyond the limit of the endpoint', async () => {
    const answer = await upload([{ name: 'file', value: 'x'.repeat(2000), filename: 'a', type: 'text/plain' }]);
    expect([answer.statusCode, answer.json()]).toEqual([413, { detail: 'Request body too large' }]);
  });

  it('gives the beginning of a larger file to an endpoint that has a refusal of its own', async () => {
    const bytesOf = async (length: number) => {
      const form = multipart([{ name: 'file', value: 'x'.repeat(length), filename: 'a', type: 'text/plain' }]);
      return (await send('POST', '/things/upload-beginning', form.payload, { ...form.headers, 'x-user': 'a' })).json();
    };
    expect(await bytesOf(1000)).toEqual({ bytes: 1000, isTruncated: false });
    expect(await bytesOf(1001)).toEqual({ bytes: 1000, isTruncated: true });
    expect(await bytesOf(500_000)).toEqual({ bytes: 1000, isTruncated: true });
  });

  it('reads form fields as the schema types and locates faults in the body', async () => {
    const answer = await upload([{ name: 'size', value: 'big' }]);
    expect(answer.json().detail.map((issue: { loc: string[]; type: string }) => [...issue.loc, issue.type].join(' '))).toEqual([
      'body size int_parsing',
      'body file missing',
    ]);
  });

  it.each([
    ['no boundary', 'multipart/form-data', 'abc'],
    ['an empty boundary', 'multipart/form-data; boundary=', 'abc'],
    ['no part', 'multipart/form-data; boundary=b', 'garbage'],
    ['no end', 'multipart/form-data; boundary=b', '--b\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\nabc'],
  ])('refuses a form with %s', async (_name, type, payload) => {
    const answer = await send('POST', '/things/upload', payload, { 'content-type': type, 'x-user': 'a' });
    expect([answer.statusCode, answer.json()]).toEqual([400, { detail: 'There was an error parsing the body' }]);
  });

  it('counts a client that goes away during its upload as its own failure', async () => {
    const origin = await server.app.listen({ port: 0, host: '127.0.0.1' });
    server.logged.length = 0;
    server.refusals.length = 0;
    const headers = { 'content-type': 'multipart/form-data; boundary=b', 'content-length': '100000', 'x-user': 'a' };
    const upload = request(`${origin}/things/upload-beginning`, { method: 'POST', headers });
    const refused = eventually(() => expect(server.refusals).toContain('malformed_form'));
    upload.on('error', () => undefined);
    upload.write('--b\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\nabc', () => upload.destroy());
    await refused;
    expect(server.logged).toEqual([]);
  });

  it('checks the credential before it reads the body, and then the media type', async () => {
    expect((await upload([], {})).statusCode).toBe(401);
    expect((await send('POST', '/things/upload', { file: 'x' }, { 'x-user': 'a' })).statusCode).toBe(415);
  });
});

describe('answers with a tag', () => {
  const known = (url: string, tag: string) => get(url, { 'if-none-match': tag });

  it('are sent once for each value', async () => {
    const first = await get('/things/tagged?value=1');
    const tag = String(first.headers.etag);
    expect([first.statusCode, first.json()]).toEqual([200, { value: 1 }]);
    expect((await known('/things/tagged?value=1', tag)).statusCode).toBe(304);
    const other = await known('/things/tagged?value=2', tag);
    expect([other.statusCode, other.json()]).toEqual([200, { value: 2 }]);
    expect(other.headers.etag).not.toBe(tag);
    expect((await get('/things/summary')).headers.etag).toBeUndefined();
  });

  it('and files keep their cache rules in a 304, which has no type, no disposition and no body', async () => {
    const whole = await get('/things/tagged-file');
    expect([whole.statusCode, whole.body, whole.headers.etag]).toEqual([200, 'a;b', '"v1"']);
    const again = await known('/things/tagged-file', 'W/"v1"');
    expect([again.statusCode, again.body, again.headers['cache-control']]).toEqual([304, '', 'public, max-age=60']);
    expect([again.headers['content-type'], again.headers['content-disposition']]).toEqual([undefined, undefined]);
    expect((await known('/things/tagged-file', '"v2", "v3"')).statusCode).toBe(200);
  });
});
