import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { RunningService } from '../../../src/composition/start-service.ts';
import { eventually } from '../../support/eventually.ts';
import { attributeOf, pathTo, startTracedService, type TracedService } from '../../support/traced-service.ts';

let t: TracedService;
let service: RunningService;
let token: string;

beforeAll(async () => {
  t = await startTracedService({ WEB_API_REQUEST_LOGGING: 'true' });
  ({ service, token } = t);
}, 300_000);

afterAll(() => t?.close());

const post = async (path: string, body: object, more: Record<string, string> = {}) => {
  const reply = await fetch(`${service.url}${path}`, {
    method: 'POST',
    headers: { 'x-api-key': token, 'content-type': 'application/json', ...more },
    body: JSON.stringify(body),
  });
  return { status: reply.status, body: (await reply.json()) as { id: number } };
};

const person = { messenger_id: 987_654_321_987, username: 'trace_me_not', first_name: 'Zaphod' };
let userId: number;
beforeEach(() => {
  t.spans.length = 0;
});

describe('with a collector', { shuffle: false }, () => {
  test('one trace from the request through SQL and jobs to the call of the panel', async () => {
    userId = (await post('/users', person)).body.id;
    const path = '/subscriptions?search=hidden-in-the-query';
    expect((await post(path, { user_id: userId, is_trial: true })).status).toBe(200);
    const trace = await t.traceOf('POST /subscriptions', (found) => found.some((span) => span.name.endsWith(' vpnpanel')));
    const call = trace.find((span) => span.name.endsWith(' vpnpanel'))!;
    expect(pathTo(call, trace)).toEqual(['POST /subscriptions', 'transaction', 'job provisioning.push', call.name]);
    expect(attributeOf(call, 'peer.service')).toBe('vpnpanel');
    const root = trace.find((span) => span.name === 'POST /subscriptions')!;
    expect(attributeOf(root, 'http.route')).toBe('/subscriptions');
    expect(attributeOf(root, 'http.response.status_code')).toBe(200);
    const statement = trace.find((span) => /^(INSERT|SELECT|UPDATE|WITH)/.test(span.name))!;
    expect(attributeOf(statement, 'db.query.text')).toMatch(/\$1/);
  });

  test('a call over tRPC has the name of its procedure, unless a client made the name up', async () => {
    const headers = { 'x-api-key': token };
    await fetch(`${service.url}/trpc/web.auth.list?input=secret-input`, { headers });
    await fetch(`${service.url}/trpc/made-up-by-a-client`, { headers });
    const [span] = await t.traceOf('GET web.auth.list', (found) => found.length > 1);
    expect(span).toBeDefined();
    await t.traceOf('GET unknown', () => true);
  });

  test("a caller's traceparent is a link by default, not the trace itself", async () => {
    const caller = 'ab'.repeat(16);
    await post('/users', { messenger_id: 987_654_321_988 }, { traceparent: `00-${caller}-${'cd'.repeat(8)}-01` });
    const trace = await t.traceOf('POST /users', () => true);
    const root = trace.find((span) => span.name === 'POST /users')!;
    expect(root.traceId).not.toBe(caller);
    expect(root.links?.map((link) => link.traceId)).toEqual([caller]);
  });

  test('the metrics are those of GET /metrics', async () => {
    await eventually(() =>
      expect([...t.metricNames]).toEqual(expect.arrayContaining(['http_request_duration_seconds', 'db_pool_size'])),
    );
    expect(new Set(t.authorizations)).toEqual(new Set(['Bearer of-the-collector']));
  });

  test('spec 06 hazard 18: the query string of a socket is neither logged nor exported', async () => {
    const socket = new WebSocket(`${service.url.replace('http', 'ws')}/ws?token=${token}`);
    await new Promise((resolve) => socket.addEventListener('message', resolve, { once: true }));
    socket.close();
    const log = await eventually(async () => {
      const text = await readFile(join(t.folder, 'logs', 'bot.log'), 'utf8');
      expect(text).toContain('a socket was opened');
      return text;
    });
    expect(log).not.toContain(token);
    expect(log).not.toContain('token=');
    expect(t.received()).not.toContain(token);
  });

  test('neither secrets nor data of users, queries or parameters are exported', async () => {
    expect(t.received()).toContain('vpnpanel');
    for (const text of [
      token,
      String(person.messenger_id),
      person.username,
      person.first_name,
      'hidden-in-the-query',
      'secret-input',
      'made-up-by-a-client',
    ])
      expect(t.received()).not.toContain(text);
  });

  test('the stored payload of a job is what its schema says', async () => {
    const rows = await service.app.db.sql<{ data: object }>("SELECT data FROM jobs.job WHERE data ? '_traceparent'");
    expect(rows.length).toBeGreaterThan(0);
  });

  test('the system log is written', async () => {
    await eventually(async () =>
      expect(await readFile(join(t.folder, 'logs', 'bot.log'), 'utf8')).toContain('[INFO] [service] request '),
    );
  });
});

test('without a collector no module of the SDK is loaded', () => {
  const root = join(import.meta.dirname, '..', '..', '..');
  const script = `
    import { registerHooks } from 'node:module';
    const loaded = [];
    registerHooks({ load(url, context, next) { loaded.push(url); return next(url, context); } });
    const { startTelemetry } = await import('./src/core/telemetry/start-telemetry.ts');
    await import('./src/composition/start-service.ts');
    const tracing = await startTelemetry({ env: null });
    const sdk = loaded.filter((url) => /@opentelemetry[/](?!api[/])/.test(url));
    console.log(JSON.stringify({ isOn: tracing.isOn, sdk, modules: loaded.length > 100 }));
  `;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { cwd: root, encoding: 'utf8' });
  expect(stdout, stderr).not.toBe('');
  expect(JSON.parse(stdout.trim().split('\n').at(-1)!)).toEqual({ isOn: false, sdk: [], modules: true });
});
